/* Reads printed text into tokens and numbers, as sphinx_drift.compare reads it in Python.
 *
 * Any text is read and nothing is evaluated. Where lines are wrapped and numbers are padded is left
 * out: the box asks which numbers stand in which brackets, and in which line. A test compares the
 * tokens with those of Python, over all altered outputs that the comparer itself is tested with.
 */
"use strict";

(() => {
  // What Python means by \s, \w and \d.
  const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const WORD = "[\\p{L}\\p{N}_]";
  const DIGIT = "\\p{Nd}";
  const DIGITS = `${DIGIT}+(?:\\.(?!\\.)${DIGIT}*)?`;
  const POWER = `(?:[eE][+-]?${DIGIT}+)?`;
  const PATTERN = new RegExp(
    [
      `(?<number>(?<![\\p{L}\\p{N}_.])(?:(?<![)\\]}])[+-])?` +
        `(?:(?:${DIGITS}|\\.${DIGIT}+)${POWER}|(?:nan|inf)(?!${WORD}))(?:j(?!${WORD}))?` +
        `|(?<=[${DIGIT}.])[+-](?:${DIGITS}${POWER}|nan|inf)j(?!${WORD}))`,
      `(?<device>,[${SPACE}]*device='(?:cuda|mps|xpu|hpu|npu)(?::${DIGIT}+)?')`,
      "(?<line>\\n)",
      "(?<open>[\\[({])",
      "(?<close>[\\])}])",
      `(?<grad>grad_fn=<${WORD}*?Backward${DIGIT}*>)`,
      `(?<word>${WORD}+|\\.\\.\\.+)`,
      `(?<elision>⋮(?=[${SPACE}]*(?:\\n|(?![^]))))`,
      `(?<mark>[^${SPACE}])`,
    ].join("|"),
    "gu",
  );
  const KINDS = {
    device: "mark",
    open: "opening bracket",
    close: "closing bracket",
    grad: "word",
    word: "word",
    elision: "elision",
    mark: "mark",
  };
  const PARTNERS = { ")": "(", "]": "[", "}": "{" };
  const isSpace = RegExp.prototype.test.bind(new RegExp(`[${SPACE}]`, "u"));

  /** The text as it looks: without a terminal's colours, tabs and space at its end. */
  const plain = (text) => {
    let column = 0;
    const expanded = text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replace(
      /[\t\n\r]|[^\t\n\r]+/g,
      (piece) => {
        if (piece === "\t") piece = " ".repeat(8 - (column % 8));
        column = piece === "\n" || piece === "\r" ? 0 : column + [...piece].length;
        return piece;
      },
    );
    let end = expanded.length;
    while (end && isSpace(expanded[end - 1])) end--;
    return expanded.slice(0, end);
  };

  /** The places of the brackets that have a partner. */
  const paired = (read) => {
    const [open, pairs] = [[], new Set()];
    read.forEach(({ kind, text }, place) => {
      if (kind === "opening bracket") open.push(place);
      else if (kind === "closing bracket" && open.length) {
        if (read[open.at(-1)].text === PARTNERS[text]) pairs.add(open.pop()).add(place);
      }
    });
    return pairs;
  };

  const kindOf = (name, piece, before) => {
    if (name === "number") return /^[+-]*\p{Nd}+$/u.test(piece) ? "integer" : "float";
    if (name === "elision" && before.trim()) return "mark"; // it isn't alone on its line
    return KINDS[name];
  };

  /** All tokens, each with its kind, its text, its place and its line; a device is none. */
  const tokens = (text) => {
    const [shown, read] = [plain(text), []];
    let [line, lineStart] = [0, 0];
    for (const match of shown.matchAll(PATTERN)) {
      const [name, piece] = Object.entries(match.groups).find(([, found]) => found !== undefined);
      const end = match.index + piece.length;
      if (name === "line") {
        [line, lineStart] = [line + 1, end];
        continue;
      }
      const kind = kindOf(name, piece, shown.slice(lineStart, match.index));
      const same = name === "grad" ? piece.replace(/Backward0?>$/, "Backward>") : piece;
      read.push({ kind, text: same, start: match.index, end, line });
    }
    return withoutDevices(read);
  };

  const withoutDevices = (read) => {
    const [pairs, inTensor] = [paired(read), []];
    return read.filter(({ kind, text }, place) => {
      if (text.length > 1 && text[0] === ",") return !inTensor.at(-1);
      if (!pairs.has(place)) return true;
      if (kind === "opening bracket") inTensor.push(text === "(" && read[place - 1]?.text === "tensor");
      else inTensor.pop();
      return true;
    });
  };

  const valueOf = (text) => {
    const special = /^([+-]?)(nan|inf)/.exec(text);
    if (!special) return Number(text);
    return special[2] === "nan" ? NaN : special[1] === "-" ? -Infinity : Infinity;
  };

  /** The power of ten of a number's last digit; none for what has no digits. */
  const lastPower = (text) => {
    const parts = /^[+-]?\d*(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
    return parts ? Number(parts[2] ?? 0) - (parts[1] ?? "").length : null;
  };

  /** What a printed number says: its value, and the power of ten of its last digit. */
  const number = (text) => {
    const real = text.replace(/j$/, "");
    return { value: valueOf(real), power: lastPower(real) };
  };

  const isNumber = ({ kind }) => kind === "integer" || kind === "float";

  globalThis.selfattn = { ...globalThis.selfattn, tokens, number, isNumber };
})();
