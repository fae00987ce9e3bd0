/* Reads the numbers of a printed text, in blocks; nothing is evaluated.
 *
 * What a reader pastes and what the book prints are read by the same code.
 */
"use strict";

(() => {
  const NUMBER =
    "(?<![\\p{L}\\p{N}_.])(?:(?<![)\\]}])[+-])?" +
    "(?:(?:\\d+(?:\\.(?!\\.)\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?|(?:nan|inf)(?![\\p{L}\\p{N}_]))";
  const PIECES = new RegExp(`(?<number>${NUMBER})|[[\\]]`, "gu");
  const PARTS = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
  const SPECIAL = { nan: NaN, inf: Infinity, "+inf": Infinity, "-inf": -Infinity };

  /** What a printed number says: its value, and the power of ten of its last digit, if it has one. */
  const number = (text) => {
    const parts = PARTS.exec(text);
    if (!parts) return { text, value: SPECIAL[text.replace(/^[+-]nan/, "nan")], power: null };
    return { text, value: Number(text), power: Number(parts[3] ?? 0) - (parts[2] ?? "").length };
  };

  /** Numbers with decimal commas, if a text has no decimal points; "[10,20,30]" is a list. */
  const withPoints = (text) =>
    /\d\.\d/.test(text) ? text : text.replace(/(?<!\d,?)(\d+),(?=\d\d+(?!\d|,\d))/g, "$1.");

  /** Without what makes no difference: colours, marks that don't show, signs like a minus, prompts. */
  const cleaned = (text) =>
    withPoints(text)
      .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "")
      .replace(/[−﹣－]/g, "-")
      .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
      .replace(/\b(?:In|Out) ?\[\d*\]:/g, " ");

  /** The numbers of a text, in blocks: each outermost bracket, and what is between; each with its row. */
  const blocksOf = (text) => {
    const blocks = [];
    const shown = text.replace(/device='[^']*'/g, ""); // its number is none of the tensor's
    let [depth, isOpen, row] = [0, false, 0];
    for (const { 0: piece, groups } of shown.matchAll(PIECES)) {
      if (groups.number) {
        if (!isOpen) blocks.push([]);
        isOpen = true;
        blocks.at(-1).push({ ...number(piece), row: depth ? row : null });
      } else {
        const wasOutside = depth === 0;
        row++;
        depth = Math.max(0, depth + (piece === "[" ? 1 : -1));
        if (wasOutside !== (depth === 0)) isOpen = false;
      }
    }
    return blocks;
  };

  globalThis.selfattn = { ...globalThis.selfattn, number, cleaned, blocksOf };
})();
