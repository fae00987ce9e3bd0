/* The search page looks numbers, symbols and terms up before Sphinx searches the words.
 *
 * `docs/_ext/website/search.py` writes what is known into the page, so nothing is fetched. A number
 * leads to the outputs that print it, in reading order; a symbol to the notation; and all the words
 * of a title, or of a term, to its page. A word that is nowhere is taken for the nearest one.
 */
"use strict";

(() => {
  const [MOST, MOST_PLACES] = [12, 4]; // outputs and places that are listed
  const known = JSON.parse(document.getElementById("direct-answers").textContent);
  const query = (new URLSearchParams(location.search).get("q") || "").trim().slice(0, 200);

  /** Numbers as they are printed: 0.3061 of .3061 and 0,3061; 2360064 of 2,360,064. */
  const numbersOf = (text) => {
    const written = text
      .replace(/(?<=[1-9]\d{0,2}(?:,\d{3})*),(?=\d{3}(?!\d))/g, "")
      .replace(/(?<=\d),(?=\d)/g, ".")
      .replace(/(?<![\d\w.])\.(?=\d)/g, "0.")
      .replaceAll("−", "-");
    return written.match(/(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w]|\.\d)/gi) || [];
  };
  const isTelling = (number) => number.length > 3;
  const printed = known.outputs.map(([address, page, heading, text]) => {
    return { address, page, heading, lines: text.split("\n"), numbers: new Set(numbersOf(text)) };
  });
  const outputsWith = (numbers) =>
    numbers.length ? printed.filter((output) => numbers.every((n) => output.numbers.has(n))) : [];

  /** Return the outputs with all numbers that were typed, if need be rounded as they are printed. */
  const answers = () => {
    const asked = numbersOf(query);
    if (!asked.some(isTelling)) return [];
    const found = outputsWith(asked);
    const rounded = asked.map((n) => (/\.\d{5,}$/.test(n) ? Number(n).toFixed(4) : n));
    return (found.length ? found : outputsWith(rounded)).map((output) => {
      const has = (line) => numbersOf(line).some((n) => asked.includes(n) || rounded.includes(n));
      return { ...output, line: output.lines.find(has)?.trim().slice(0, 120) };
    });
  };

  /** A symbol without how it is typed: α of α₂₁, α_21 and \alpha_{21}; but Q is not q. */
  const bare = (text) => text.normalize("NFKC").replace(/[\\_{}^\s]/g, "");
  const symbols = () => {
    const asked = [bare(query), bare(query).replace(/\d+$/, "")];
    const is = (form) => known.symbols.filter(([name]) => bare(name) === form);
    return asked.map(is).find((found) => found.length) || [];
  };

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
  const words = new Set(known.places.flatMap(([phrase]) => fullWordsOf(phrase)));
  /** The nearest of the index's words: one slip in four letters or more, two in eight. */
  const meant = (word) => {
    if (words.has(word) || word.length < 4 || /\d/.test(word)) return word;
    const near = [...words].map((each) => [distance(word, each), each]).sort(([a], [b]) => a - b);
    return near[0][0] <= (word.length < 8 ? 1 : 2) ? near[0][1] : word;
  };

  /** Places whose words include all that were asked: the fewest others first, then as written. */
  const places = (words) => {
    const asked = new Set(words);
    if (!asked.size) return [];
    const found = known.places.flatMap(([phrase, href, title]) => {
      const words = new Set(wordsOf(phrase));
      if (![...asked].every((word) => words.has(word))) return [];
      return [{ href, title, phrase, others: words.size - asked.size, isSame: query.includes(phrase) }];
    });
    found.sort((a, b) => b.isSame - a.isSame || a.others - b.others);
    return [...new Map(found.map((each) => [each.href, each]).reverse()).values()].reverse();
  };

  const output = document.getElementById("direct-results");
  const put = (parent, tag, text = "", href = "") => {
    const element = parent.appendChild(document.createElement(tag));
    if (text) element.textContent = text;
    if (href) element.href = href;
    return element;
  };
  const list = (title, items) => {
    if (!items.length) return;
    put(output, "h2", title);
    const all = put(output, "ul");
    all.className = "search";
    for (const [text, href, about, isCode] of items) {
      const item = put(all, "li");
      put(item, "a", text, href);
      if (about) put(put(item, "p"), isCode ? "code" : "span", about);
    }
  };
  list("Symbols", symbols().map(([name, href, meaning]) => [name, href, meaning]));
  const exact = places(wordsOf(query));
  const found = exact.length ? exact : places(fullWordsOf(query).map(meant).map(stem));
  list(
    exact.length ? "Pages" : "Pages, if you mean",
    found.slice(0, MOST_PLACES).map(({ title, href, phrase }) => [title, href, phrase === title ? "" : phrase]),
  );
  list(
    `Printed outputs with ${query}`,
    answers().slice(0, MOST).map(({ address, page, heading, line }) => {
      return [page === heading ? page : `${heading} – ${page}`, address, line, true];
    }),
  );
})();
