/* The search page looks terms, titles and numbered blocks up before Sphinx searches the words.
 *
 * `docs/_ext/website/search.py` writes what is known into the page, so nothing is fetched. All the
 * words of a title, or of a term, lead to its page. A word that is nowhere is taken for the nearest
 * one, and a printed number leads to the box that knows them all.
 */
"use strict";

(() => {
  const MOST = 4; // places that are listed
  const known = JSON.parse(document.getElementById("direct-answers").textContent);
  const query = (new URLSearchParams(location.search).get("q") || "").trim().slice(0, 200);

  /** Words without their endings; "F." and "nn." say nothing, and √dₖ is sqrt(d_k). */
  const SILENT = /^(a|an|are|do|does|f|for|how|in|is|nn|of|on|the|to|torch|what|you)$/;
  const fullWordsOf = (text) =>
    (text.normalize("NFKC").toLowerCase().replace(/sqrt\(?/g, "√").replaceAll("_", "").match(/√?[\p{L}\p{M}]+|\d+(?:\.\d+)*/gu) || [])
      .filter((word) => !SILENT.test(word));
  const stem = (word) => word.replace(/ies$/, "y").replace(/(?<=\p{L}{3})(ent|ing|ed|s)$/u, "");
  const wordsOf = (text) => fullWordsOf(text).map(stem);

  /** How many letters must be changed, added, left out or swapped to make one word of another. */
  const distance = (one, other) => {
    const rows = [[...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i++) {
      rows.push([i]);
      for (let j = 1; j <= other.length; j++) {
        const same = one[i - 1] === other[j - 1];
        const least = [rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + !same];
        if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) least.push(rows[i - 2]?.[j - 2] + 1);
        rows[i].push(Math.min(...least));
      }
    }
    return rows[one.length][other.length];
  };
  const vocabulary = new Set(known.flatMap(([phrase]) => fullWordsOf(phrase)));
  /** The nearest of the index's words: one slip in four letters or more, two in eight. */
  const meant = (word) => {
    if (vocabulary.has(word) || word.length < 4 || /\d/.test(word)) return word;
    const near = [...vocabulary].map((each) => [distance(word, each), each]).sort(([a], [b]) => a - b);
    return near[0][0] <= (word.length < 8 ? 1 : 2) ? near[0][1] : word;
  };

  /** Places whose words include all that were asked: the fewest others first, then as written. */
  const places = (words) => {
    const asked = new Set(words);
    if (!asked.size) return [];
    const found = known.flatMap(([phrase, href, title]) => {
      const words = new Set(wordsOf(phrase));
      if (![...asked].every((word) => words.has(word))) return [];
      return [{ href, title, phrase, others: words.size - asked.size, isSame: query.includes(phrase) }];
    });
    found.sort((a, b) => b.isSame - a.isSame || a.others - b.others);
    return [...new Map(found.map((each) => [each.href, each]).reverse()).values()].reverse();
  };

  const output = document.getElementById("direct-results");
  const put = (parent, tag, text, href) =>
    parent.appendChild(Object.assign(document.createElement(tag), { textContent: text }, href && { href }));
  const list = (title, items) => {
    if (!items.length) return;
    put(output, "h2", title);
    const all = put(output, "ul", "");
    all.className = "search";
    for (const { title, href, phrase } of items.slice(0, MOST)) {
      const item = put(all, "li", "");
      put(item, "a", title, href);
      if (phrase !== title) put(item, "p", phrase);
    }
  };
  const exact = places(wordsOf(query));
  const found = exact.length ? exact : places(fullWordsOf(query).map(meant).map(stem));
  list(exact.length ? "Pages" : "Pages, if you mean", found);
  if (/\d?[.,]\d{3}/.test(query)) list("Printed numbers", places(wordsOf("wrong output")));
})();
