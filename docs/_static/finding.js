/* The search page: places that explain come first, then headings and names, then all other text.
 *
 * `docs/_ext/website/search_index.py` writes what is known into the page, so nothing is fetched and
 * the search works without a network. Words are compared without their endings, and a word that no
 * page has is taken for its nearest neighbour.
 */
"use strict";

(() => {
  const output = document.getElementById("search-results");
  const query = (new URLSearchParams(location.search).get("q") || "").trim().slice(0, 200);
  for (const field of document.querySelectorAll("input[name=q]")) field.value = query;
  if (!query) return;

  const known = JSON.parse(document.getElementById("finding").textContent);
  const stopwords = new Set(known.stopwords);

  // Words ---------------------------------------------------------------------------------

  const SIGNS = { "√": " sqrt ", "∞": " inf " }; // as in search_text.py
  const plain = (text) =>
    text
      .replace(/[₀-₉ₐ-ₜ]+/g, "_$&")
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[√∞]/g, (sign) => SIGNS[sign]);
  const split = (text) => plain(text).match(/[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*/gu) || [];

  /** A word without its ending: "scaled" is "scaling", but "positional" isn't "positive". */
  const stemOf = (word) => {
    if (word.length < 4 || /[^a-z]/.test(word)) return word;
    const one = word
      .replace(/ies$/, "y")
      .replace(/(s|x|z|ch|sh)es$/, "$1")
      .replace(/([^suia])s$/, "$1");
    const bare = one.replace(/(?<=[aeiouy].*)(ing|ed|e)$/, "");
    return (bare.length > 2 ? bare : one).replace(/(.)\1$/, "$1");
  };
  const wordOf = (raw) => ({ raw, stem: stemOf(raw) });

  /** The words of a heading or a term, one after the other; names in code are taken apart. */
  const wordsOf = (text) => {
    const words = split(text).flatMap((word) => word.split("_").filter(Boolean));
    const telling = words.filter((word) => !stopwords.has(word));
    return (telling.length ? telling : words).map(wordOf);
  };
  const same = (a, b) => a.raw === b.raw || a.stem === b.stem;
  const begins = (typed, word) => {
    const long = /\d/.test(typed.raw) ? /\.\d\d/.test(typed.raw) : typed.raw.length > 2;
    const telling = long || /[^!-~]/.test(typed.raw);
    return same(typed, word) || (telling && word.raw.startsWith(typed.raw));
  };

  /** Whether two words differ by one letter: another, one more, one less, or two exchanged. */
  const near = (a, b) => {
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    const [restA, restB] = [a.slice(i), b.slice(i)];
    return (
      restA.slice(1) === restB.slice(1) ||
      restA === restB.slice(1) ||
      restA.slice(1) === restB ||
      (restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2))
    );
  };

  // Where each word is --------------------------------------------------------------------

  const places = known.places.map(([page, anchor, kind, heading, text]) => {
    return { page, anchor, kind, heading, text };
  });
  const vocabulary = new Map();
  const enter = (word, at) => {
    const entry = vocabulary.get(word);
    if (entry) entry.at.push(...at);
    else vocabulary.set(word, { ...wordOf(word), at: [...at] });
  };
  known.words.split(" ").forEach((word, i) => {
    let number = 0;
    enter(word, known.at[i].split(" ").map((step) => (number += Number(step))));
  });
  places.forEach((place, number) => {
    for (const word of new Set(place.text ? split(place.text) : [])) {
      if (!stopwords.has(word)) enter(word.replaceAll("_", ""), [number]);
    }
  });

  const closeTo = (typed, word) =>
    typed.raw === word.raw ? 1 : same(typed, word) ? 0.9 : begins(typed, word) ? 0.7 : 0;

  /** How well each place has a word: the same 1, another ending 0.9, a longer word 0.7. */
  const placesOf = (typed) => {
    const found = new Map();
    for (const word of vocabulary.values()) {
      const close = closeTo(typed, word);
      for (const at of close ? word.at : []) found.set(at, Math.max(close, found.get(at) || 0));
    }
    return found;
  };

  /** Return a word that the pages have instead of one that they don't, or the word itself. */
  const corrected = (typed) => {
    if (typed.raw.length < 4 || /\d/.test(typed.raw) || placesOf(typed).size) return typed;
    const likely = [...vocabulary.values()].filter((word) => near(typed.raw, word.raw));
    const rank = (word) => 1000 * (word.raw[0] === typed.raw[0]) + word.at.length;
    return likely.sort((a, b) => rank(b) - rank(a))[0] || typed;
  };

  // The answer ----------------------------------------------------------------------------

  /** How well a heading or a term answers what was typed, from 0 (not at all) to 1.2. */
  const closeness = (typed, text) => {
    if (text === query && text.length < 3) return 1.2; // q is a vector, and Q a matrix
    if (text.toLowerCase() === query.toLowerCase()) return 1.1;
    if (!typed.length) return 0; // brackets alone ask for nothing
    const words = wordsOf(text);
    const share = (0.1 * typed.length) / Math.max(words.length, typed.length);
    const at = (match) =>
      words.findIndex((_, i) => typed.every((t, j) => words[i + j] && match(t, words[i + j])));
    const whole = at(same);
    const rest = (0.1 * typed.length) / split(text).length;
    if (whole === 0) return words.length === typed.length ? Math.min(0.9 + rest, 1) : 0.8 + share;
    if (whole > 0) return 0.65 + share;
    if (at(begins) >= 0) return 0.55 + share;
    return typed.every((t) => words.some((word) => begins(t, word))) ? 0.4 + share : 0;
  };

  const isNumber = (word) => /^\d+(\.\d+)?$/.test(word.raw);

  /** Return how well the places answer that have any of the words; `all` if their page has all. */
  const inText = (typed) => {
    const shares = new Map();
    const onPage = new Map();
    typed.map(placesOf).forEach((hits, i) => {
      for (const [at, close] of hits) {
        const place = places[at];
        shares.set(place, [...(shares.get(place) || []), close]);
        onPage.set(place.page, (onPage.get(place.page) || new Set()).add(i));
      }
    });
    return [...shares].map(([place, parts]) => {
      const share = parts.reduce((sum, part) => sum + part) / typed.length;
      const whole = parts.length === typed.length;
      const all = onPage.get(place.page).size === typed.length;
      const several = whole && place.text && typed.every(isNumber); // outputs with this number
      const printed = several ? 40 : place.text ? -3 : 0;
      return { place, several, all, score: (whole ? 40 : all ? 20 : 0) + 9 * share + printed };
    });
  };

  /** Return the places that answer, the best first: `typed` in headings, `whole` words in texts. */
  const search = (typed, whole) => {
    const found = new Map();
    const add = (result) => {
      const early = 9 * (1 - result.page / known.pages.length);
      const key = `${result.page}#${result.anchor}`;
      const score = result.score + early;
      if (!(found.get(key)?.score >= score)) found.set(key, { ...result, score });
    };
    for (const [page, term, anchor, heading, about] of known.explained) {
      const score = 100 * closeness(typed, term);
      if (score) add({ page, anchor, heading, about, score, kind: "place" });
    }
    const factors = { section: 80, object: 70, term: 90 };
    places.forEach((place, number) => {
      if (!(place.kind in factors)) return;
      const isTitle = place.page !== places[number - 1]?.page;
      const names = [place.heading, place.heading.replace(/^[\d.]+ |^.*\./, "")];
      const close = Math.max(...names.map((name) => closeness(typed, name)));
      const about = isTitle ? known.pages[place.page][2] : "";
      const score = (isTitle ? 105 : factors[place.kind]) * close;
      if (score) add({ ...place, text: "", about, score, kind: "title" });
    });
    const listed = new Set([...found.values()].map((result) => result.page));
    const texts = inText(whole).sort((a, b) => b.score - a.score);
    const full = new Set(texts.filter((text) => text.all).map((text) => text.place.page));
    const enough = new Set([...listed, ...full]).size > 4;
    for (const { place, several, all, score } of texts) {
      if ((enough && !all) || (listed.has(place.page) && !several)) continue;
      listed.add(place.page);
      add({ ...place, about: place.text ? "" : known.pages[place.page][2], score });
    }
    return [...found.values()].sort((a, b) => b.score - a.score);
  };

  // What is shown -------------------------------------------------------------------------

  const put = (parent, tag, text = "", name = "") => {
    const element = parent.appendChild(document.createElement(tag));
    if (text) element.textContent = text;
    if (name) element.className = name;
    return element;
  };

  /** Put a text into an element, with the words that were searched for marked. */
  const marked = (element, text, typed) => {
    for (const part of text.split(/([\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*)/u)) {
      const words = /[\p{L}\p{N}]/u.test(part) ? wordsOf(part) : [];
      const asked = (word) => typed.some((t) => begins(t, word));
      const has = (t) => words.some((word) => begins(t, word));
      const hit = words.length && typed.length && (words.every(asked) || typed.every(has));
      if (hit) put(element, "mark", part);
      else element.append(part);
    }
  };

  const show = (result, typed) => {
    const item = document.createElement("li");
    const [address, title] = known.pages[result.page];
    item.className = `kind-${result.kind}`;
    put(item, "a", result.heading).href = `${address}#${encodeURIComponent(result.anchor)}`;
    const where = result.heading === title ? [] : [` – ${title}`];
    if (result.text) where.push(", a printed output");
    if (where.length) put(item, "span", where.join(""), "search-where");
    if (result.text) {
      const has = (line) => wordsOf(line).some((word) => typed.some((t) => begins(t, word)));
      const lines = result.text.split("\n");
      const line = (lines.find(has) || lines[0]).trim().slice(0, 120);
      marked(put(put(item, "p", "", "context"), "code"), line, typed);
    } else if (result.about) marked(put(item, "p", "", "context"), result.about, typed);
    return item;
  };

  /** Return what the glossary and the notation page explain, what looks most like a text first. */
  const offers = () => {
    const pairs = (text) => new Set([...plain(text)].map((c, i, all) => c + (all[i + 1] ?? "")));
    const typed = pairs(query);
    const common = (term) => [...pairs(term)].filter((pair) => typed.has(pair)).length;
    const terms = known.explained.filter(([page]) => known.offered.includes(page));
    const ranked = terms.map((term) => [common(term[1]) / (term[1].length + 4), term]);
    ranked.sort((a, b) => b[0] - a[0]);
    const list = document.createElement("ul");
    list.className = "search";
    for (const [, [page, , anchor, heading, about]] of ranked.slice(0, 6)) {
      list.append(show({ page, anchor, heading, about, kind: "place" }, []));
    }
    for (const page of known.offered) {
      const [address, title] = known.pages[page];
      put(put(list, "li"), "a", `${title}: all of it`).href = address;
    }
    return list;
  };

  // Run -----------------------------------------------------------------------------------

  /** Search for a text: what was asked, and what was found for it. */
  const answered = (text) => {
    const asked = wordsOf(text).slice(0, 12);
    const signs = split(text).filter((word) => !stopwords.has(word));
    const askedWhole = signs.slice(0, 12).map((word) => wordOf(word.replaceAll("_", "")));
    const typed = asked.map(corrected);
    const typedWhole = askedWhole.filter((word) => word.raw).map(corrected);
    return { typed, typedWhole, results: search(typed, typedWhole).slice(0, 40) };
  };
  const asTyped = query
    .replace(/(?<![\p{L}\p{N}_.])\.(?=\d)/gu, "0.") // .3061 is 0.3061
    .replace(/_\{(\w+)\}/g, "_$1") // α_{21} is α_21
    .replace(/(?<=\p{L})[ᵀ⊤]/gu, "^T")
    .replace(/(?<![\d,.])(\d+),(?=(?:\d\d|\d{4,})(?![\d,]))/g, "$1."); // 0,3061 is 0.3061
  // What is found nowhere is looked for without indices, modules, and digits that aren't printed.
  const shorter = asTyped
    .replace(/(\p{Script=Greek}|\\[a-z]+)_?[\d₀-₉]+/gu, "$1")
    .replace(/\d+\.\d{5,}/g, (number) => Number(number).toFixed(4))
    .replace(/(?<![\w.])(?:[a-z]\w*\.)+(?=[a-z_])/gi, "");
  const first = answered(asTyped);
  const isFound = first.results.length || shorter === asTyped;
  const { typed, typedWhole, results } = isFound ? first : answered(shorter);
  const whole = split(asTyped).map((word) => wordOf(word.replaceAll("_", "")));
  const own = new Set([...wordsOf(asTyped), ...whole].map(({ raw }) => raw));
  const other = [...typed, ...typedWhole].find(({ raw }) => !own.has(raw));

  put(output, "h2", `Search results for “${query}”`);
  const status = put(output, "p", "", "search-summary");
  status.setAttribute("role", "status");
  const order = results[0]?.kind === "place" ? "; what explains it comes first" : "";
  if (!results.length) {
    status.textContent = "Nothing found. These entries of the glossary and the notation may help:";
    output.append(offers());
  } else {
    const instead = other ? `Nothing has the word as you typed it; for “${other.raw}”, ` : "";
    status.textContent = `${instead}${results.length} found${order}.`;
    put(output, "ul", "", "search").append(...results.map((result) => show(result, typed)));
  }
  document.title = `${query} – ${document.title}`;
})();
