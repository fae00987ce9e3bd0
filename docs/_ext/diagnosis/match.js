/* Finds where pasted numbers stand among those that are known: outputs of the book, and mistakes. */
"use strict";

(() => {
  const { blocksOf } = globalThis.selfattn;
  const range = (n) => Array.from({ length: n }, (_, i) => i);

  /* --- Numbers that are equal as far as their digits go --- */

  /** What a number's last digit counts; nothing for whole numbers, which are exact. */
  const unitOf = ({ power }) => (power === null || power >= 0 ? 0 : 10 ** power);
  const [SAME, NEAR, OTHER] = [0, 1, 2];
  const ENOUGH = 3; // numbers that say something: with fewer, nothing is named
  const LEAST_UNIT = 0.001;
  const LARGE = 1e300; // what the file of mistakes has no room for: any number of 3.2766 or more

  /** Whether a number is a known one once the longer is rounded, or a last digit apart. */
  const compare = (a, unitA, b, unitB) => {
    if (a === b || (a !== a && b !== b)) return SAME;
    if (Math.abs(b) === LARGE) return Math.sign(b) * a >= 3.2765 ? SAME : OTHER;
    if (unitB > LEAST_UNIT && unitB > unitA) return OTHER; // two decimals can't vouch for four
    const unit = Math.max(unitA, unitB);
    const apart = Math.abs(a - b);
    if (apart <= 0.5000001 * unit) return SAME;
    return apart <= 1.0000001 * unit && unit <= LEAST_UNIT ? NEAR : OTHER;
  };

  /** Numbers as two arrays, which are quick to compare. */
  const series = (numbers) => ({
    values: Float64Array.from(numbers, ({ value }) => value),
    units: Float64Array.from(numbers, unitOf),
  });

  /** How many numbers of a block are near those at a place of a longer series; null if one differs. */
  const nearsAt = (block, whole, start) => {
    let nears = 0;
    for (let i = 0; i < block.values.length; i++) {
      const at = start + i;
      const same = compare(block.values[i], block.units[i], whole.values[at], whole.units[at]);
      if (same === OTHER) return null;
      if (same === NEAR) nears++;
    }
    return nears;
  };

  /** The numbers of a block that say something: no two alike, no 0, with two decimals or more. */
  const telling = (numbers) => {
    const some = numbers.filter(({ value, power }) => value && power !== null && power <= -2);
    return new Set(some.map(({ text }) => text)).size;
  };

  /** Digits that tell a block from others, as many as its numbers are apart.
   *
   * Not counted: the first decimal, since weights are all alike; 0 and 1; what is left to 1.
   */
  const tellingDigits = (numbers) => {
    const unit = ({ power }) => 10 ** Math.max(power, -DECIMALS);
    const isRest = (one, other) => Math.abs(one.value + other.value - 1) < 1.5 * unit(other);
    const different = [];
    for (const each of numbers.filter(hasDecimals)) {
      const isNew = different.every((known) => known.text !== each.text && !isRest(known, each));
      if (each.value && each.value !== 1 && isNew) different.push(each);
    }
    const values = different.map(({ value }) => value);
    const spread = Math.max(...values) - Math.min(...values);
    const digits = (each) => Math.min(-1 - each.power, 3, Math.log10(spread / unit(each)));
    return different.reduce((sum, each) => sum + Math.max(0, digits(each)), 0);
  };
  const ENOUGH_DIGITS = 6; // to name a mistake, as three numbers with three decimals have

  const hasDecimals = ({ power }) => power !== null && power < 0;

  /* --- What is known --- */

  const outputOf = (place, text) => {
    const numbers = blocksOf(text).flat();
    return { ...place, ...series(numbers), rows: numbers.map(({ row }) => row) };
  };

  /** How many numbers each row has, if there are several and all have as many. */
  const lengthOfRows = (rows) => {
    const lengths = new Map();
    for (const row of rows) lengths.set(row, (lengths.get(row) ?? 0) + 1);
    const different = new Set(lengths.values());
    return lengths.size > 1 && !rows.includes(null) && different.size === 1 ? [...different][0] : null;
  };

  /** The rows' lengths, pasted and printed, if no place has such rows. */
  const otherRows = (numbers, places) => {
    const pasted = lengthOfRows(numbers.map(({ row }) => row));
    const printed = places.filter(({ output }) => output.page).map(({ output: { rows }, start }) =>
      lengthOfRows(rows.slice(start, start + numbers.length)));
    const isOther = pasted && printed.length && printed.every((one) => one && one !== pasted);
    return isOther ? { pasted, printed: printed[0] } : null;
  };

  /** The numbers of a file that docs/_data/numbers_file.py has packed, each tensor with its causes. */
  const unpacked = ({ words, causes, lengths, numbers }) => {
    const bytes = Uint8Array.from(atob(numbers), (char) => char.charCodeAt(0));
    const whole = new Int16Array(bytes.buffer);
    let end = 0;
    const all = causes.split(",");
    return lengths.split(" ").map((length, i) => {
      const part = whole.subarray(end, (end += Number(length)));
      const said = all[i].split(" ").map((n) => words[n]);
      return {
        causes: range(said.length / 3).map((n) => said.slice(3 * n, 3 * n + 3)),
        values: Float64Array.from(part, (n) => SPECIAL[n] ?? n / 10 ** DECIMALS),
        units: Float64Array.from(part, (n) => (n in SPECIAL ? 0 : 10 ** -DECIMALS)),
      };
    });
  };
  const DECIMALS = 4;
  const SPECIAL = { "-32768": NaN, "32767": Infinity, "-32767": -Infinity, "32766": LARGE, "-32766": -LARGE };

  /** The outputs of other pages, and what is right or a mistake (see docs/_data/mistakes.py). */
  const knownOutputs = ({ pages, made }) => [
    ...pages.flatMap(({ href, title: page, sections }) =>
      sections.flatMap(([section, outputs]) =>
        outputs.map(([anchor, text]) =>
          outputOf({ href: `${href}#${anchor}`, page, section }, text)))),
    ...unpacked(made),
  ];

  /** Where outputs of the book are, as links need it. */
  const pagesOf = (places) => unique(places.flatMap(({ output: { href, page, section } }) =>
    (page ? [{ href, page, section }] : [])));

  /** The mistakes that make what stands at some places, each once, with the code it is made in. */
  const mistakesOf = (places) => {
    const codes = new Map();
    for (const [title, code] of causesOf(places).filter(([title]) => title)) {
      codes.set(title, new Set(codes.get(title)).add(code));
    }
    return [...codes].map(([title, some]) => ({ title, codes: [...some] }));
  };

  const causesOf = (places) => places.flatMap(({ output }) => output.causes ?? []);

  /* --- A block of numbers and the known outputs --- */

  /** The places that fit best, with how many numbers are only near there. */
  const best = (block, outputs) => {
    let found = { nears: Infinity, places: [] };
    for (const output of outputs) {
      for (let start = 0; start + block.values.length <= output.values.length; start++) {
        const nears = nearsAt(block, output, start);
        if (nears === null || nears > found.nears) continue;
        if (nears < found.nears) found = { nears, places: [] };
        found.places.push({ output, start });
      }
    }
    return found;
  };

  /** The numbers of a block whose last digit isn't that of a place. */
  const nearly = (numbers, block, { output, start }) =>
    range(numbers.length).flatMap((i) => {
      const [value, unit] = [output.values[start + i], output.units[start + i]];
      if (compare(block.values[i], block.units[i], value, unit) !== NEAR) return [];
      return [{ pasted: numbers[i].text, expected: printedAs(value, unit) }];
    });

  const printedAs = (value, unit) => {
    const decimals = unit ? Math.round(-Math.log10(unit)) : 0;
    return decimals > 12 ? String(value) : value.toFixed(decimals);
  };

  const unique = (places) => [...new Map(places.map((place) => [place.href, place])).values()];

  const named = (numbers, block, { places }) => {
    const [documented, mistakes] = [pagesOf(places), mistakesOf(places)];
    const nears = nearly(numbers, block, places[0]);
    const rows = otherRows(numbers, places);
    if (documented.length) return { kind: "documented", places: documented, mistakes, nears, rows };
    const right = causesOf(places).find(([title]) => !title);
    if (right) return { kind: "right", code: right[1], step: right[2], mistakes, nears };
    return { kind: "mistake", mistakes, nears };
  };

  globalThis.selfattn = {
    ...globalThis.selfattn,
    ...{ ENOUGH, ENOUGH_DIGITS, series, telling, tellingDigits, hasDecimals, knownOutputs, pagesOf, best },
    named,
  };
})();
