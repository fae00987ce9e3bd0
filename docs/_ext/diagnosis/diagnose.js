/* Says what pasted numbers are: a documented output, or what a mistake makes.
 *
 * `selfattn.diagnosis(known)` takes what the build collected (number_box.py) and returns a function
 * from a pasted text to findings, one for each array of numbers in it. A finding is plain data;
 * box.js puts it into words. Nothing here knows of a page.
 */
"use strict";

(() => {
  const { cleaned, blocksOf, knownOutputs, placeOf, best, named } = globalThis.selfattn;
  const { series, telling, tellingDigits, hasDecimals, rowPlaces, differing, unique } = globalThis.selfattn;
  const { ENOUGH, ENOUGH_DIGITS, OTHER } = globalThis.selfattn;
  const MOST_NUMBERS = 2000;
  const MOST_BLOCKS = 24;
  const MOST_PLACES = 12;
  const LEAST_HALF = 6; // numbers of half a block that are looked at by themselves

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
    if (/device='(?!cpu)/.test(text)) hints.push("device");
    return hints;
  };

  const rowsIn = (numbers) => rowPlaces(numbers).map(([start, end]) => numbers.slice(start, end));

  const isOneHot = (row) => {
    const values = row.map(({ value }) => value);
    const sum = values.reduce((a, b) => a + b, 0);
    return values.length >= ENOUGH && Math.abs(sum - 1) < 0.01 && Math.max(...values) > 0.99;
  };

  /* --- A whole text --- */

  /** How many numbers may differ in what is still called the same output. */
  const allowedIn = (length) => Math.floor(length / 5);

  const isFloat = ({ text }) => !/^[+-]?\d+$/.test(text);

  const diagnosis = (known) => {
    const outputs = knownOutputs(known);
    const linked = outputs.filter(({ href }) => href); // all but the right steps that no page prints
    const turned = linked.flatMap((each) => (each.mistake ? [] : [{ ...each, ...each.turned }]));

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
      const found = best(series(numbers), linked, 0);
      const isNear = found.nears > 0;
      const isChance = isNear && telling(numbers) < 2; // many numbers are a digit from another
      const places = isChance ? [] : unique(found.places.map((p) => placeOf(p, numbers.length)));
      const [shown, more] = [places.slice(0, MOST_PLACES), places.length - MOST_PLACES];
      return { kind: "few", places: shown, more, isNear };
    };

    const almost = (numbers, block) => {
      const allowed = allowedIn(numbers.length);
      const found = allowed ? best(block, linked, allowed) : null;
      if (!found?.places.length || found.nears * 2 > numbers.length) return null;
      const wrong = differing(numbers, block, found.places[0], OTHER);
      const rest = numbers.filter((_, i) => wrong.every(({ index }) => index !== i + 1));
      if (tellingDigits(rest) <= ENOUGH_DIGITS) return null;
      return { ...named(numbers, block, found), kind: "almost", wrong };
    };

    /** A documented array column by column: transposed, or one column of it. */
    const byColumns = (numbers, block) => {
      const { nears, places } = best(block, turned, 0);
      const isSure = tellingDigits(numbers) >= ENOUGH_DIGITS && nears * 2 <= numbers.length;
      if (!places.length || !isSure) return null;
      return { kind: "turned", places: unique(places.map((place) => placeOf(place, 1))) };
    };

    /** Each half by itself, as of a batch: one finding where both are alike. */
    const halves = (numbers, text) => {
      const half = numbers.length / 2;
      if (half < LEAST_HALF || half % 1) return null;
      const both = [numbers.slice(0, half), numbers.slice(half)];
      const [first, second] = both.map((part) => part.map((each) => each.text).join());
      if (first === second) return { ...finding(both[0], text), isTwice: true };
      const parts = both.map((part) => ({ ...finding(part, text), numbers: part }));
      return parts.some(isSomething) ? { kind: "parts", parts, places: [] } : null;
    };

    /** Blocks that say little: together, if they are something; else those with decimals. */
    const short = (all, numbers, text) => {
      const some = all.filter((block) => block.some(hasDecimals));
      const isOne = some.length < 2 || few(numbers).places.length;
      return isOne || isSomething(finding(numbers, text)) ? [numbers] : some;
    };

    const finding = (numbers, text) => {
      if (telling(numbers) < ENOUGH) return { hints: hintsFor(text, numbers), ...few(numbers) };
      const { block, found } = whole(numbers);
      if (found) {
        const finding = named(numbers, block, found);
        const isSure = finding.kind === "documented" || tellingDigits(numbers) >= ENOUGH_DIGITS;
        return isSure ? finding : { kind: "coarse", places: [] };
      }
      return (
        almost(numbers, block) ??
        byColumns(numbers, block) ??
        halves(numbers, text) ??
        { kind: "unknown", places: [], hints: hintsFor(text, numbers) }
      );
    };

    const isSomething = ({ kind }) => !["coarse", "few", "unknown"].includes(kind);

    const diagnosed = (all, text) => {
      const total = all.flat().length;
      const numbers = all.flat().slice(0, MOST_NUMBERS);
      const isCut = total > MOST_NUMBERS || all.length > MOST_BLOCKS;
      if (!total) return { total, isCut, findings: [] };
      const together = telling(numbers) < ENOUGH ? null : whole(numbers);
      if (together?.found) {
        return { total, isCut, findings: [{ ...finding(numbers, text), numbers }] };
      }
      const saying = all.filter((block) => telling(block) >= ENOUGH);
      const blocks = (saying.length ? saying : short(all, numbers, text)).slice(0, MOST_BLOCKS);
      const findings = blocks.map((block) => {
        const some = block.slice(0, MOST_NUMBERS);
        return { ...finding(some, text), numbers: some };
      });
      return { total, isCut, findings };
    };

    /** Without numbers of rows and columns, if that makes something of what is nothing. */
    return (pasted) => {
      const text = cleaned(pasted);
      const all = blocksOf(text);
      const found = diagnosed(all, text);
      if (!found.total || found.findings.some(isSomething)) return found;
      const floats = all.map((block) => block.filter(isFloat));
      const isLess = floats.flat().length < found.total;
      const other = isLess ? diagnosed(floats.filter(({ length }) => length), text) : null;
      return other?.findings.some(isSomething) ? other : found;
    };
  };

  globalThis.selfattn = { ...globalThis.selfattn, diagnosis };
})();
