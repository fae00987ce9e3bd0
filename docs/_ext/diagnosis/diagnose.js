/* Says what pasted numbers are: a documented output, or what a mistake makes.
 *
 * `selfattn.diagnosis(known)` takes what the build collected (number_box.py) and returns a function
 * from a pasted text to findings, one for each array of numbers in it. A finding is plain data;
 * box.js puts it into words. Nothing here knows of a page.
 */
"use strict";

(() => {
  const { cleaned, blocksOf, knownOutputs, pagesOf, best, named } = globalThis.selfattn;
  const { series, telling, tellingDigits, hasDecimals } = globalThis.selfattn;
  const { ENOUGH, ENOUGH_DIGITS } = globalThis.selfattn;
  const MOST_NUMBERS = 2000;
  const MOST_BLOCKS = 24;
  const MOST_PLACES = 12;
  const LEAST_HALF = 6; // numbers that are printed twice
  const LEAST = 2; // different numbers that name a mistake, if its rows are equal

  /* --- A whole text --- */

  const isFloat = ({ text }) => !/^[+-]?\d+$/.test(text);

  const diagnosis = (known) => {
    const outputs = knownOutputs(known);
    const printed = outputs.filter(({ page }) => page);

    const whole = (numbers) => {
      const block = series(numbers);
      const found = best(block, outputs);
      // Numbers that the book rounds to 0 and 1 aren't recognized by that.
      const places = found.places.filter(
        ({ output, start }) =>
          new Set(output.values.subarray(start, start + numbers.length)).size >= LEAST,
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
      const found = best(series(numbers), printed);
      const isNear = found.places.length > 0 && found.nears > 0;
      const isChance = isNear && telling(numbers) < 2; // many numbers are a digit from another
      const places = isChance ? [] : pagesOf(found.places);
      const [shown, more] = [places.slice(0, MOST_PLACES), places.length - MOST_PLACES];
      return { kind: "few", places: shown, more, isNear };
    };

    /** What is printed twice, as of a batch of two: a finding of its first half. */
    const twice = (numbers) => {
      const half = numbers.length / 2;
      const [first, second] = [numbers.slice(0, half), numbers.slice(half)];
      const isAlike = first.map(({ text }) => text).join() === second.map(({ text }) => text).join();
      return half >= LEAST_HALF && isAlike ? { ...finding(first), isTwice: true } : null;
    };

    /** Blocks that say little: together, if they are something; else those with decimals. */
    const short = (all, numbers) => {
      const some = all.filter((block) => block.some(hasDecimals));
      const isOne = some.length < 2 || few(numbers).places.length;
      return isOne || isSomething(finding(numbers)) ? [numbers] : some;
    };

    const finding = (numbers) => {
      const isFew = telling(numbers) < ENOUGH;
      if (isFew && (telling(numbers) < LEAST || numbers.length < LEAST_HALF)) return few(numbers);
      const { block, found } = whole(numbers);
      if (isFew && !found) return few(numbers);
      if (found) {
        const finding = named(numbers, block, found);
        const isSure = finding.kind === "documented" || tellingDigits(numbers) >= ENOUGH_DIGITS;
        return isSure ? finding : { kind: "coarse", places: [] };
      }
      return twice(numbers) ?? { kind: "unknown", places: [] };
    };

    const isSomething = ({ kind }) => !["coarse", "few", "unknown"].includes(kind);

    const diagnosed = (all) => {
      const total = all.flat().length;
      const numbers = all.flat().slice(0, MOST_NUMBERS);
      const isCut = total > MOST_NUMBERS || all.length > MOST_BLOCKS;
      if (!total) return { total, isCut, findings: [] };
      const together = telling(numbers) < ENOUGH ? null : whole(numbers);
      if (together?.found) {
        return { total, isCut, findings: [{ ...finding(numbers), numbers }] };
      }
      const saying = all.filter((block) => telling(block) >= ENOUGH);
      const blocks = (saying.length ? saying : short(all, numbers)).slice(0, MOST_BLOCKS);
      const findings = blocks.map((block) => {
        const some = block.slice(0, MOST_NUMBERS);
        return { ...finding(some), numbers: some };
      });
      return { total, isCut, findings };
    };

    /** Without numbers of rows and columns, if that makes something of what is nothing. */
    return (pasted) => {
      const all = blocksOf(cleaned(pasted));
      const found = diagnosed(all);
      if (!found.total || found.findings.some(isSomething)) return found;
      const floats = all.map((block) => block.filter(isFloat));
      const isLess = floats.flat().length < found.total;
      const other = isLess ? diagnosed(floats.filter(({ length }) => length)) : null;
      return other?.findings.some(isSomething) ? other : found;
    };
  };

  globalThis.selfattn = { ...globalThis.selfattn, diagnosis };
})();
