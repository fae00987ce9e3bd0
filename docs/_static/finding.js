/* The search page: places that explain come first, then headings, names, and all other text.
 *
 * Sphinx makes the index and parses what was typed; `docs/_ext/website/search_index.py` adds where each
 * term is explained. Nothing is fetched, so the search works without a network.
 */
"use strict";

(() => {
  const known = JSON.parse(document.getElementById("finding").textContent);
  const stemmer = new Stemmer();

  /** The words of a text: no punctuation, code names taken apart, each with its stem. */
  const wordsOf = (text) => {
    const words = text.toLowerCase().match(/[\p{L}\p{N}]+(\.[\p{L}\p{N}]+)*/gu) || [];
    const telling = words.filter((word) => !stopwords.has(word));
    return (telling.length ? telling : words).map((raw) => ({
      raw,
      stem: stemmer.stemWord(raw),
    }));
  };
  const same = (a, b) => a.raw === b.raw || a.stem === b.stem;
  const begins = (typed, word) =>
    same(typed, word) || (typed.raw.length > 2 && word.raw.startsWith(typed.raw));

  /** How well a text answers what was typed, from 0 (not at all) to 1.1. */
  const closeness = (typed, text, query) => {
    if (text.toLowerCase() === query) return 1.1;
    const words = wordsOf(text);
    const share = (0.1 * typed.length) / Math.max(words.length, typed.length);
    const at = (match) =>
      words.findIndex((_, i) => typed.every((t, j) => words[i + j] && match(t, words[i + j])));
    const whole = at(same);
    if (whole === 0) return words.length === typed.length ? 1 : 0.8 + share;
    if (whole > 0) return 0.65 + share;
    if (at(begins) >= 0) return 0.55 + share;
    return typed.every((t) => words.some((word) => begins(t, word))) ? 0.4 + share : 0;
  };

  /** Open a page without an anchor at the words themselves, where the browser can. */
  const fragment = (texts) =>
    "#:~:text=" + texts.map((t) => encodeURIComponent(t).replaceAll("-", "%2D")).join("&text=");

  const search = (query) => {
    const index = Search._index;
    const [, terms, excluded, , objects] = Search._parseQuery(query);
    const typed = wordsOf(query);
    const lower = query.toLowerCase().trim();
    const asTyped = (query.match(/[\p{L}\p{N}_]([\p{L}\p{N}_.-]*[\p{L}\p{N}_])?/gu) || []).filter(
      (word) => !stopwords.has(word.toLowerCase()),
    );
    const found = new Map();
    const order = new Map(known.pages.map(([page], place) => [page, place]));
    const titles = new Map(index.docnames.map((page, number) => [page, index.titles[number]]));
    const about = new Map(known.pages);

    const add = (page, anchor, heading, said, score, kind) => {
      const early = 1 - (order.get(page) ?? known.pages.length) / known.pages.length;
      const key = page + anchor;
      const result = { page, anchor, heading, said, kind, score: score + 9 * early };
      if (!found.has(key) || found.get(key).score < result.score) found.set(key, result);
    };

    for (const [number, term, anchor, heading, said] of known.places) {
      const close = closeness(typed, term, lower);
      if (close) add(known.pages[number][0], "#" + anchor, heading, said, 100 * close, "place");
    }
    for (const [title, places] of Object.entries(index.alltitles)) {
      const heading = title.trim().replace(/^\((.*)\)$/, "$1");
      const close = closeness(typed, heading, lower);
      for (const [number, id] of close ? places : []) {
        const page = index.docnames[number];
        const whole = title === index.titles[number];
        const anchor = id !== null ? "#" + id : whole ? "" : fragment([heading]);
        const said = whole ? about.get(page) : "";
        add(page, anchor, heading, said, (whole ? 110 : 80) * close, "title");
      }
    }
    for (const term of objects) {
      for (const [page, name, anchor, said] of Search.performObjectSearch(term, objects)) {
        const close = closeness(typed, name.split(".").pop(), lower);
        if (close) add(page, anchor, name, said, 70 * close, "object");
      }
    }
    let pages = Search.performTermsSearch(terms, excluded);
    if (!pages.length && !found.size)
      pages = [...terms].flatMap((t) => Search.performTermsSearch(new Set([t]), excluded));
    const listed = new Set([...found.values()].map((result) => result.page));
    for (const [page, title, , , score] of pages) {
      if (listed.has(page)) continue;
      add(page, fragment(asTyped), title, about.get(page), 2 * score, "text");
    }
    return [...found.values()]
      .sort((a, b) => b.score - a.score)
      .map((result) => ({ ...result, title: titles.get(result.page) }));
  };

  /** Put a text into an element, with the words that were searched for marked. */
  const marked = (element, text, typed) => {
    for (const part of text.split(/([\p{L}\p{N}_]+)/u)) {
      const words = /[\p{L}\p{N}]/u.test(part) ? wordsOf(part) : [];
      const asked = (word) => typed.some((t) => begins(t, word));
      const has = (t) => words.some((word) => begins(t, word));
      const hit = words.length && (words.every(asked) || typed.every(has));
      if (!hit) element.append(part);
      else element.appendChild(document.createElement("mark")).textContent = part;
    }
    return element;
  };

  const shown = (result, typed) => {
    const item = document.createElement("li");
    item.className = `kind-${result.kind}`;
    const link = item.appendChild(document.createElement("a"));
    link.href = result.page + DOCUMENTATION_OPTIONS.LINK_SUFFIX + result.anchor;
    link.textContent = result.heading;
    if (result.heading !== result.title) {
      const where = item.appendChild(document.createElement("span"));
      where.className = "search-where";
      where.textContent = ` – ${result.title}`;
    }
    if (result.said) {
      const said = item.appendChild(document.createElement("p"));
      said.className = "context";
      marked(said, result.said, typed);
    }
    return item;
  };

  Search.query = (query) => {
    Search.stopPulse();
    const results = search(query);
    const typed = wordsOf(query);
    Search.title.textContent = `Search results for “${query}”`;
    Search.status.setAttribute("role", "status");
    const explains = results.length && results[0].kind === "place";
    Search.status.textContent = results.length
      ? `${results.length} found${explains ? "; what explains it comes first" : ""}.`
      : "Nothing found. Try fewer words, or look at the glossary and the notation page.";
    Search.output.replaceChildren(...results.map((result) => shown(result, typed)));
    document.title = `${query} – ${document.title}`;
  };
})();
