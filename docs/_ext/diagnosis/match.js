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
  /** How many ratios of shares must be right, and how many aren't by chance, in so many rows. */
  const LEAST_RATIOS = { mask: 2, dropout: 3 };
  const ENOUGH_RATIOS = 5;

  /** Whether a number is a known one once the longer is rounded, or a last digit apart. */
  const compare = (a, unitA, b, unitB) => {
    if (a === b || (a !== a && b !== b)) return SAME;
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

  /** How many numbers of a block differ from those at a place of a longer series, and how. */
  const countAt = (block, whole, start, allowed) => {
    let [others, nears] = [0, 0];
    for (let i = 0; i < block.values.length; i++) {
      const at = start + i;
      const same = compare(block.values[i], block.units[i], whole.values[at], whole.units[at]);
      if (same === OTHER && ++others > allowed) return null;
      if (same === NEAR) nears++;
    }
    return { others, nears };
  };

  /** The numbers of a block that say something: no two alike, no 0, with two decimals or more. */
  const telling = (numbers) => {
    const some = numbers.filter(({ value, power }) => value && power !== null && power <= -2);
    return new Set(some.map(({ text }) => text)).size;
  };

  /** Digits that tell a block from others: the first decimal doesn't, as weights are all alike. */
  const tellingDigits = (numbers) => {
    const different = new Map(numbers.filter(hasDecimals).map((each) => [each.text, -1 - each.power]));
    return [...different.values()].reduce((sum, digits) => sum + digits, 0);
  };
  const ENOUGH_DIGITS = 6; // to name a mistake, as three numbers with three decimals have

  const hasDecimals = ({ power }) => power !== null && power < 0;

  /* --- What is known --- */

  const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

  const outputOf = (place, text) => {
    const arrays = blocksOf(text);
    const starts = arrays.map((_, i) => arrays.slice(0, i).flat().length);
    return { ...place, starts, ...series(arrays.flat()), turned: series(arrays.flatMap(turn)) };
  };

  /** The numbers of an array column by column, if it is one of rows alike. */
  const turn = (numbers) => {
    const rows = rowPlaces(numbers);
    const [, width] = rows[0] ?? [0, 0];
    if (rows.length < 2 || rows.length * width !== numbers.length) return numbers.map(() => NOTHING);
    return range(width).flatMap((j) => rows.map(([start]) => numbers[start + j]));
  };
  const NOTHING = { value: Infinity, power: null };

  /** The outputs of other pages, and those of the mistakes: see number_box.py. */
  const knownOutputs = ({ pages, mistakes }) => [
    ...pages.flatMap(({ href, title: page, sections }) =>
      sections.flatMap(([section, id, outputs]) =>
        outputs.map(([anchor, names, text]) => {
          const name = typeof anchor === "number" ? `${id || slug(section)}-output-${anchor}` : anchor;
          return outputOf({ href: `${href}#${name}`, page, section, names }, text);
        }))),
    ...mistakes.map(([id, section, text]) =>
      outputOf({ href: `#${id}`, mistake: id, section, names: [] }, text)),
  ];

  /** Where some numbers of an output are, as a link needs it. */
  const placeOf = ({ output, start }, length) => {
    const { href, page, section, mistake, names, starts } = output;
    const first = starts.findLastIndex((at) => at <= start);
    const isWithin = start + length <= (starts[first + 1] ?? Infinity);
    const isNamed = names.length === starts.length && isWithin;
    const name = names.length === 1 ? names[0] : isNamed ? names[first] : "";
    return { href, page, section, mistake, name };
  };

  /* --- A block of numbers and the known outputs --- */

  /** The places that fit best, with how many numbers differ there. */
  const best = (block, outputs, allowed) => {
    let found = { others: allowed + 1, nears: 0, places: [] };
    for (const output of outputs) {
      for (let start = 0; start + block.values.length <= output.values.length; start++) {
        const count = countAt(block, output, start, Math.min(allowed, found.others));
        if (!count) continue;
        const rank = count.others - found.others || count.nears - found.nears;
        if (rank < 0) found = { ...count, places: [] };
        if (rank <= 0) found.places.push({ output, start });
      }
    }
    return found;
  };

  /** The numbers of a block that aren't those of a place; `kind` says which to list. */
  const differing = (numbers, block, { output, start }, kind) =>
    range(numbers.length).flatMap((i) => {
      const [value, unit] = [output.values[start + i], output.units[start + i]];
      if (compare(block.values[i], block.units[i], value, unit) !== kind) return [];
      const [pasted, expected] = [numbers[i].text, printedAs(value, unit)];
      return [{ index: i + 1, pasted, expected, isSwapped: isSwapped(pasted, expected) }];
    });

  const printedAs = (value, unit) => {
    const decimals = unit ? Math.round(-Math.log10(unit)) : 0;
    return decimals > 12 ? String(value) : value.toFixed(decimals);
  };

  /** Whether two digits of one number have changed places in the other. */
  const isSwapped = (a, b) => {
    if (a.length !== b.length) return false;
    const at = range(a.length).filter((i) => a[i] !== b[i]);
    return at.length === 2 && a[at[0]] === b[at[1]] && a[at[1]] === b[at[0]];
  };

  const unique = (places) => [...new Map(places.map((place) => [place.href, place])).values()];

  const named = (numbers, block, found) => {
    const length = numbers.length;
    const places = unique(found.places.map((place) => placeOf(place, length)));
    const mistakes = places.filter(({ mistake }) => mistake);
    const documented = places.filter(({ mistake }) => !mistake);
    return {
      kind: documented.length ? "documented" : "mistake",
      places: documented.length ? documented : mistakes,
      also: documented.length ? mistakes : [],
      nears: differing(numbers, block, found.places[0], NEAR),
    };
  };

  /** Where documented weights are in a block, larger by a factor, or 0: masked, or dropped. */
  const thinned = (numbers, block, outputs) => {
    if (!block.values.includes(0) || block.units.some((unit) => unit > LEAST_UNIT)) return null;
    const rows = rowPlaces(numbers);
    const kind = rows.every((row) => isWhole(block, row)) ? "mask" : "dropout";
    const ratios = ratiosIn(block, kind === "mask" ? rows : [[0, block.values.length]]);
    if (ratios < LEAST_RATIOS[kind]) return null;
    const factorOf = kind === "mask" ? maskFactor : dropFactor;
    const length = numbers.length;
    for (const output of outputs.filter(({ mistake }) => !mistake)) {
      for (let start = 0; start + length <= output.values.length; start++) {
        const factor = factorOf(block, output, start, rows);
        const places = [placeOf({ output, start }, length)];
        if (factor) return { kind, factor, places, isScarce: ratios < ENOUGH_RATIOS };
      }
    }
    return null;
  };

  /** How many ratios of different shares some rows have that one factor each would leave alone. */
  const ratiosIn = ({ values }, rows) =>
    rows.reduce((sum, row) => {
      const kept = new Set(values.subarray(...row).filter(Boolean));
      return sum + Math.max(0, kept.size - 1);
    }, 0);

  /** Where each row of a block begins and ends. */
  const rowPlaces = (numbers) => {
    const starts = range(numbers.length).filter((i) => numbers[i].row !== numbers[i - 1]?.row);
    return starts.map((start, i) => [start, starts[i + 1] ?? numbers.length]);
  };

  /** Whether a row's shares are a whole: their sum is 1, as far as their digits go. */
  const isWhole = ({ values, units }, [start, end]) => {
    let [sum, slack] = [0, 1e-6];
    for (let i = start; i < end; i++) [sum, slack] = [sum + values[i], slack + units[i] / 2];
    return Math.abs(sum - 1) <= slack;
  };

  /** Masked rows are documented rows of weights, each divided by the sum of what isn't hidden. */
  const maskFactor = (block, output, start, rows) => {
    const isRowOfWeights = ([from, to]) => isWhole(output, [start + from, start + to]);
    if (!rows.every(isRowOfWeights)) return 0;
    const factors = rows.map((row) => factorAt(block, output, start, row));
    return factors.every(Boolean) ? Math.max(...factors) : 0;
  };

  const dropFactor = (block, output, start) => {
    const factor = factorAt(block, output, start, [0, block.values.length]);
    return factor > 1.02 ? factor : 0;
  };

  /** The one factor by which some of a block's numbers are larger; the others must be 0. */
  const factorAt = (block, output, start, [from, to]) => {
    let [mine, theirs] = [0, 0];
    for (let i = from; i < to; i++) {
      const [a, b] = [block.values[i], output.values[start + i]];
      if (a * b < 0 || (a && !b) || a !== a) return 0;
      if (a) [mine, theirs] = [mine + a, theirs + b];
    }
    if (!theirs) return 0;
    const factor = mine / theirs;
    const off = 0.6 * (factor + 1);
    for (let i = from; i < to; i++) {
      const [a, b] = [block.values[i], output.values[start + i]];
      if (a && Math.abs(a - factor * b) > off * output.units[start + i]) return 0;
    }
    return factor;
  };

  globalThis.selfattn = {
    ...globalThis.selfattn,
    ...{ ENOUGH, ENOUGH_DIGITS, SAME, NEAR, OTHER },
    ...{ series, compare, telling, tellingDigits, hasDecimals, rowPlaces, knownOutputs, placeOf, best },
    ...{ differing, unique, named, thinned },
  };
})();
