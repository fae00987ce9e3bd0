/* Says what pasted numbers are: a documented output, or what a mistake makes.
 *
 * `selfattn.diagnosis(known, mistakes)` takes what the build collected (number_box.py) and what the
 * mistakes print, and returns a function from a pasted text to findings, one for each array of
 * numbers in it. A finding is plain data; box.js puts it into words. Nothing here knows of a page.
 */
"use strict";

(() => {
  const { tokens, number, isNumber, generator, gpuRand } = globalThis.selfattn;
  const ENOUGH = 3; // numbers that say something: with fewer, nothing is named
  const MOST_NUMBERS = 2000;
  const MOST_BLOCKS = 24;
  const MOST_SEARCHED = 6; // blocks for which seeds are tried
  const MOST_PLACES = 12;
  const SEEDS = 2000;
  const DRAWS = 100;
  const range = (n) => Array.from({ length: n }, (_, i) => i);

  /* --- Numbers that are equal as far as their digits go --- */

  /** What a number's last digit counts; nothing for whole numbers, which are exact. */
  const unitOf = ({ power }) => (power === null || power >= 0 ? 0 : 10 ** power);
  const [SAME, NEAR, OTHER] = [0, 1, 2];
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
  const ANOTHER_SEED = "another-seed"; // the mistake that a search names more closely
  const ENOUGH_DIGITS = 6; // to name a mistake, as three numbers with three decimals have

  const hasDecimals = ({ power }) => power !== null && power < 0;

  /* --- What is known --- */

  /** A number as packing.py writes it. */
  const unpackedNumber = (text) => {
    if (text[0] === "=") return number(text.slice(1));
    if (/\d$/.test(text)) return { value: Number(text) / 1e4, power: -4 };
    const power = 97 - text.charCodeAt(text.length - 1); // a for 0, b for -1, and so on
    return number(`${text.slice(0, -5)}.${text.slice(-5, -1)}e${power}`);
  };

  const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

  const outputOf = (place, arrays) => {
    const starts = arrays.map((_, i) => arrays.slice(0, i).flat().length);
    return { ...place, starts, ...series(arrays.flat()) };
  };

  /** The outputs of other pages, which come packed: see packing.py. */
  const unpacked = ({ pages }) =>
    pages.flatMap(({ href, title: page, sections }) =>
      sections.flatMap(([title, id, outputs]) =>
        outputs.map(([anchor, names, packed]) => {
          const name = typeof anchor === "number" ? `${id || slug(title)}-output-${anchor}` : anchor;
          const place = { href: `${href}#${name}`, page, section: title, names: names.split("\n") };
          const arrays = packed.split(";").map((array) => array.split(/[ ,]/).map(unpackedNumber));
          return outputOf(place, arrays);
        })));

  /** The outputs of the mistakes: the section's id and title, the output's id, and its text. */
  const ofMistakes = (mistakes) =>
    mistakes.map(({ id, title, anchor, text }) =>
      outputOf({ href: `#${anchor}`, mistake: id, section: title, names: [] }, blocksOf(tokens(text))));

  /** Where some numbers of an output are, as a link needs it. */
  const placeOf = ({ output, start }, length) => {
    const { href, page, section, mistake, names, starts } = output;
    const first = starts.findLastIndex((at) => at <= start);
    const isWithin = start + length <= (starts[first + 1] ?? Infinity);
    const name = names.length === 1 ? names[0] : isWithin ? names[first] : "";
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

  /** The known output of which the number that is furthest off is nearest. */
  const nearest = (numbers, block, outputs) => {
    let found = null;
    for (const output of outputs) {
      for (let start = 0; start + numbers.length <= output.values.length; start++) {
        const limit = found ? found.distance : Infinity;
        const off = furthest(block, output, start, limit);
        if (off.distance < limit) found = { ...off, output, start };
      }
    }
    if (!found) return { kind: "unknown", places: [] };
    const { distance, at, output, start } = found;
    const expected = printedAs(output.values[start + at], output.units[start + at]);
    const places = [placeOf(found, numbers.length)];
    return { kind: "unknown", places, distance, index: at + 1, pasted: numbers[at].text, expected };
  };

  const furthest = (block, output, start, limit) => {
    let [distance, at] = [0, 0];
    for (let i = 0; i < block.values.length && distance < limit; i++) {
      const [a, b] = [block.values[i], output.values[start + i]];
      const apart = Object.is(a, b) ? 0 : Math.abs(a - b);
      if (!(apart <= distance)) [distance, at] = [apart === apart ? apart : Infinity, i];
    }
    return { distance, at };
  };

  /* --- Seeds, draws and digits: numbers that are computed anew --- */

  const STEPS = [
    ["matrices", 0],
    ["queries", 18],
    ["keys", 30],
    ["values", 42],
    ["attention scores", 54],
    ["scaled scores", 90],
    ["attention weights", 126],
    ["context vectors", 162],
  ];
  const ALL = 174;
  const LONGEST = 36; // numbers of a step

  /** Write all that the steps print from a place on, in float64: to four digits that is enough. */
  const writeSteps = (all, from, inputs, W) => {
    const [queries, keys, values, scores, scaled, weights, contexts] = STEPS.slice(1).map(
      ([, at]) => from + at,
    );
    all.fill(0, from, from + ALL);
    all.set(W, from);
    for (let at = 0; at < 36; at++) {
      const [m, i, j] = [Math.floor(at / 12), Math.floor((at % 12) / 2), at % 2];
      for (let k = 0; k < 3; k++) all[queries + at] += inputs[i][k] * W[6 * m + 2 * k + j];
    }
    for (let i = 0; i < 6; i++) {
      let sum = 0;
      for (let j = 0; j < 6; j++) {
        const [q, k, at] = [queries + 2 * i, keys + 2 * j, 6 * i + j];
        all[scores + at] = all[q] * all[k] + all[q + 1] * all[k + 1];
        all[scaled + at] = all[scores + at] / Math.SQRT2;
        sum += all[weights + at] = Math.exp(all[scaled + at]);
      }
      for (let j = 0; j < 6; j++) {
        const weight = (all[weights + 6 * i + j] /= sum);
        all[contexts + 2 * i] += weight * all[values + 2 * j];
        all[contexts + 2 * i + 1] += weight * all[values + 2 * j + 1];
      }
    }
  };

  const PLACES = range(18);
  const BY_LAYER = PLACES.map((n) => 6 * (Math.floor(n / 2) % 3) + 2 * Math.floor(n / 6) + (n % 2));
  const TURNED = PLACES.map((n) => n - (n % 6) + [0, 2, 4, 1, 3, 5][n % 6]);

  /** The three matrices, drawn at once: in the order of the generator that is the same. */
  const drawn = (seed, isLinear, before = 0) => {
    const source = generator(seed);
    if (before) source.rand(1, before);
    if (!isLinear) return source.rand(3, 6).data;
    const { data } = source.linear(3, 6);
    return BY_LAYER.map((at) => data[at]);
  };

  /** The same on a GPU, which draws each matrix as it is kept. */
  const drawnByGpu = (seed, isLinear) => {
    const uniform = PLACES.map((n) => gpuRand(seed, Math.floor(n / 6), n % 6));
    if (!isLinear) return uniform;
    const W = [];
    for (const n of PLACES) W[TURNED[n]] = (2 * uniform[n] - 1) / Math.sqrt(3);
    return W;
  };

  const slips = (inputs) =>
    inputs.flatMap((row, i) =>
      row.map((number, j) => {
        const right = number.toFixed(2);
        const typed = `0.${right[3]}${right[2]}`;
        const changed = inputs.map((line, a) => line.map((x, b) => (a === i && b === j ? +typed : x)));
        return { right, typed, row: i + 1, column: j + 1, changed };
      })).filter(({ right, typed }) => right !== typed);

  /** What is tried of a CPU: a finding, the inputs, and the matrices. */
  function* onCpu(inputs) {
    for (const isLinear of [false, true]) {
      const usual = isLinear ? 789 : 123;
      yield [{ kind: "right", usual, isLinear }, inputs, drawn(usual, isLinear)]; // the first found
      for (let seed = 0; seed <= SEEDS; seed++) {
        if (seed !== usual) yield [{ kind: "seed", seed, usual, isLinear }, inputs, drawn(seed, isLinear)];
      }
      for (let draws = 1; draws <= DRAWS; draws++) {
        yield [{ kind: "draw", draws, isLinear }, inputs, drawn(usual, isLinear, draws)];
      }
      for (const { changed, ...slip } of slips(inputs)) {
        yield [{ kind: "digits", ...slip, isLinear }, changed, drawn(usual, isLinear)];
      }
    }
  }

  function* onGpu(inputs) {
    for (const isLinear of [false, true]) {
      const usual = isLinear ? 789 : 123;
      for (let seed = 0; seed <= SEEDS; seed++) {
        yield [{ kind: "gpu", seed, usual, isLinear }, inputs, drawnByGpu(seed, isLinear)];
      }
    }
  }

  const computedFor = (variants) => {
    const all = new Float64Array(ALL * variants.length);
    const tried = variants.map(([variant, inputs, W], n) => {
      writeSteps(all, ALL * n, inputs, W);
      if (variant.isLinear) all.set(TURNED.map((at) => W[at]), ALL * n); // as the layers keep them
      return variant;
    });
    return { tried, all };
  };

  /* How many neighbours a fitting place may have: those that are within ten times the rounding.
   *
   * Some 4,200 variants with 174 numbers each are tried for a CPU, and as many for a GPU, so a few
   * short numbers are met by chance. How often depends on the numbers: many weights are near 1/6,
   * and the rows of context vectors are alike. The neighbours count that. If the block had nothing
   * to do with the variants, one in ten of the neighbours would be within the rounding for each
   * number that varies freely. We trust three numbers at most to do so, and 4 neighbours then
   * make 4 / 1000 hits by chance.
   */
  const WIDER = 10;
  const MOST_NEIGHBOURS = 4;
  const LEAST_SEARCHED = 4e-6; // float32 has lost more by then, however many digits are printed

  /** The first variant in whose steps a block stands, digit for digit, unless that may be chance. */
  const searched = ({ values, units }, { tried, all }) => {
    const block = { values, units: units.map((unit) => Math.max(unit, LEAST_SEARCHED)) };
    const wide = { values: block.values, units: block.units.map((unit) => WIDER * unit) };
    const [first, unit, length] = [block.values[0], 0.51 * wide.units[0], block.values.length];
    let [found, neighbours] = [null, -1];
    for (const [n, variant] of tried.entries()) {
      for (const [s, [step, from]] of STEPS.entries()) {
        const end = ALL * n + (STEPS[s + 1]?.[1] ?? ALL);
        for (let start = ALL * n + from; start + length <= end; start++) {
          if (!(Math.abs(first - all[start]) <= unit) || !isWithin(wide, all, start)) continue;
          neighbours++;
          if (!found && isAt(block, all, start)) found = { ...variant, step, places: [] };
        }
      }
    }
    if (!found) return null;
    const isChance = neighbours > MOST_NEIGHBOURS && found.kind !== "right"; // one of two, no chance
    return isChance ? { isChance } : found;
  };

  const isWithin = ({ values, units }, results, start) =>
    values.every((value, i) => Math.abs(value - results[start + i]) <= 0.51 * units[i]);

  const isAt = (block, results, start) => {
    let nears = 0;
    const allowed = Math.floor(block.values.length / 6);
    return block.values.every((value, i) => {
      const same = compare(value, block.units[i], results[start + i], 0);
      return same === SAME || (same === NEAR && ++nears <= allowed);
    });
  };

  /* --- What stands out even in unknown numbers --- */

  const hintsFor = (text, numbers) => {
    const rows = rowsIn(numbers);
    const hints = [];
    if (numbers.some(({ value }) => value !== value)) hints.push("nan");
    if (rows.length >= ENOUGH && rows[0].length > 1 && telling(rows[0])) {
      const texts = rows.map((row) => row.map((each) => each.text).join());
      if (new Set(texts).size === 1) hints.push("equal");
    }
    if (rows.some(isOneHot)) hints.push("one-hot");
    if (/dtype=torch\.b?float16/.test(text)) hints.push("half");
    if (isFromGpu(text)) hints.push("device");
    return hints;
  };

  const isFromGpu = (text) => /device='(?!cpu)/.test(text);

  const rowsIn = (numbers) => {
    const lines = new Map(numbers.map(({ line }) => [line, []]));
    for (const each of numbers) lines.get(each.line).push(each);
    return [...lines.values()];
  };

  const isOneHot = (row) => {
    const values = row.map(({ value }) => value);
    const sum = values.reduce((a, b) => a + b, 0);
    return values.length >= ENOUGH && Math.abs(sum - 1) < 0.01 && Math.max(...values) > 0.99;
  };

  /* --- A whole text --- */

  /** Numbers with decimal commas, if a text has no decimal points; "[10,20,30]" is a list. */
  const withPoints = (text) =>
    /\d\.\d/.test(text) ? text : text.replace(/(?<!\d,?)(\d+),(?=\d\d+(?!\d|,\d))/g, "$1.");

  /** Without what makes no difference: marks that don't show, signs like a minus, and prompts. */
  const cleaned = (text) =>
    withPoints(text)
      .replace(/[−﹣－]/g, "-")
      .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
      .replace(/\b(?:In|Out) ?\[\d*\]:/g, " ");

  /** The numbers of a text, in blocks: each outermost bracket, and what is between. */
  const blocksOf = (read) => {
    const blocks = [];
    let [depth, isOpen, row, line] = [0, false, 0, 0];
    for (const token of read) {
      const wasOutside = depth === 0;
      if (token.text === "[") depth++;
      else if (token.text === "]" && depth) depth--;
      if (wasOutside !== (depth === 0)) isOpen = false;
      if (/[[\]]/.test(token.text) || (!depth && token.line !== line)) row++; // long rows are wrapped
      line = token.line;
      if (!isNumber(token)) continue;
      if (!isOpen) blocks.push([]);
      isOpen = true;
      blocks.at(-1).push({ ...token, ...number(token.text), row });
    }
    return blocks;
  };

  /** How many numbers may differ in what is still called the same output. */
  const allowedIn = (length) => Math.floor(length / 5);

  const diagnosis = (known, mistakes) => {
    const outputs = [...unpacked(known), ...ofMistakes(mistakes)];
    const computed = new Map();

    const whole = (numbers) => {
      const block = series(numbers);
      const found = best(block, outputs, 0);
      // Numbers that the book rounds to 0 and 1 aren't recognized by that.
      const places = found.places.filter(
        ({ output, start }) =>
          new Set(output.values.subarray(start, start + numbers.length)).size >= ENOUGH,
      );
      const isSure = places.length && found.nears * 2 <= numbers.length;
      return { block, found: isSure ? { ...found, places } : null };
    };

    const few = (numbers) => {
      const decimals = numbers.filter(hasDecimals);
      if (!telling(numbers) && new Set(decimals.map(({ text }) => text)).size >= ENOUGH) {
        return { kind: "coarse", places: [] };
      }
      const found = fewAt(numbers);
      const isLess = decimals.length && decimals.length < numbers.length; // without sizes, say
      return found.places.length || !isLess ? found : fewAt(decimals);
    };

    const fewAt = (numbers) => {
      const found = best(series(numbers), outputs, 0);
      const isNear = found.nears > 0;
      const isChance = isNear && telling(numbers) < 2; // many numbers are a digit from another
      const places = isChance ? [] : unique(found.places.map((p) => placeOf(p, numbers.length)));
      const [shown, more] = [places.slice(0, MOST_PLACES), places.length - MOST_PLACES];
      return { kind: "few", places: shown, more, isNear };
    };

    /** What fits, of a CPU or a GPU: what may be chance only where nothing else does. */
    const search = (block, text) => {
      const devices = isFromGpu(text) ? [onGpu, onCpu] : [onCpu, onGpu];
      let fitting = null;
      for (const device of devices) {
        if (!computed.has(device)) computed.set(device, computedFor([...device(known.inputs)]));
        fitting = searched(block, computed.get(device)) ?? fitting;
        if (fitting && !fitting.isChance) break;
      }
      return fitting;
    };

    const almost = (numbers, block) => {
      const allowed = allowedIn(numbers.length);
      const found = allowed ? best(block, outputs, allowed) : null;
      if (!found?.places.length || found.nears * 2 > numbers.length) return null;
      const wrong = differing(numbers, block, found.places[0], OTHER);
      const rest = numbers.filter((_, i) => wrong.every(({ index }) => index !== i + 1));
      if (tellingDigits(rest) <= ENOUGH_DIGITS) return null;
      return { ...named(numbers, block, found), kind: "almost", wrong };
    };

    /** Blocks that say little: together, if they are something; else those with decimals. */
    const short = (all, numbers, text) => {
      const some = all.filter((block) => block.some(hasDecimals));
      const isOne = some.length < 2 || few(numbers).places.length;
      return isOne || isSomething(finding(numbers, text, true)) ? [numbers] : some;
    };

    const finding = (numbers, text, isSearched) => {
      if (telling(numbers) < ENOUGH) return few(numbers);
      const { block, found } = whole(numbers);
      if (found) {
        const finding = named(numbers, block, found);
        const isSure = finding.kind !== "mistake" || tellingDigits(numbers) >= ENOUGH_DIGITS;
        if (!isSure) return { kind: "coarse", places: [] };
        if (!finding.places.some(({ mistake }) => mistake === ANOTHER_SEED)) return finding;
        const closer = numbers.length <= LONGEST ? search(block) : null; // which seed it is
        return closer?.kind === "seed" ? { ...finding, ...closer, places: finding.places } : finding;
      }
      const thin = thinned(numbers, block, outputs);
      if (thin) return thin;
      const computed = isSearched && numbers.length <= LONGEST ? search(block, text) : null;
      if (computed && !computed.isChance) return computed;
      const hints = [...hintsFor(text, numbers), ...(computed ? ["chance"] : [])];
      return almost(numbers, block) ?? { ...nearest(numbers, block, outputs), hints };
    };

    const isSomething = ({ kind }) => !["coarse", "few", "unknown"].includes(kind);

    const diagnosed = (all, text) => {
      const total = all.flat().length;
      const numbers = all.flat().slice(0, MOST_NUMBERS);
      const isCut = total > MOST_NUMBERS || all.length > MOST_BLOCKS;
      if (!total) return { total, isCut, findings: [] };
      const together = telling(numbers) < ENOUGH ? null : whole(numbers);
      if (together?.found) {
        return { total, isCut, findings: [{ ...finding(numbers, text, false), numbers }] };
      }
      const saying = all.filter((block) => telling(block) >= ENOUGH);
      const blocks = (saying.length ? saying : short(all, numbers, text)).slice(0, MOST_BLOCKS);
      let searches = 0;
      const findings = blocks.map((block) => {
        const some = block.slice(0, MOST_NUMBERS);
        return { ...finding(some, text, searches++ < MOST_SEARCHED), numbers: some };
      });
      return { total, isCut, findings };
    };

    /** Without numbers of rows and columns, if that makes something of what is nothing. */
    return (pasted) => {
      const text = cleaned(pasted);
      const all = blocksOf(tokens(text));
      const found = diagnosed(all, text);
      if (!found.total || found.findings.some(isSomething)) return found;
      const floats = all.map((block) => block.filter(({ kind }) => kind === "float"));
      const isLess = floats.flat().length < found.total;
      const other = isLess ? diagnosed(floats.filter(({ length }) => length), text) : null;
      return other?.findings.some(isSomething) ? other : found;
    };
  };

  globalThis.selfattn = { ...globalThis.selfattn, diagnosis };
})();
