/* Asks the scripts of the box in Node: argument 1 is the scripts, joined; the question is on stdin. */
"use strict";

const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");

// Time of the processor: others may use it, too.
const spent = () => process.cpuUsage().user / 1000;

runInThisContext(readFileSync(process.argv[2], "utf-8"));
const { tokens, number, isNumber, diagnosis } = globalThis.selfattn;

const ANSWERS = {
  /** A digest for each text: millions of tokens would take longer to write than to read. */
  tokens: ({ texts }) =>
    texts.map((text) => {
      const lines = tokens(text).map(({ kind, text, start, end }) => `${kind} ${start} ${end} ${text}`);
      return createHash("sha256").update(lines.join("\n")).digest("hex");
    }),
  numbers: ({ texts }) =>
    texts.map((text) =>
      tokens(text)
        .filter(isNumber)
        .map(({ text }) => [String(number(text).value), number(text).power])),
  diagnose: ({ known, mistakes, texts }) => {
    const diagnose = diagnosis(known, mistakes);
    return texts.map((text) => {
      const begun = spent();
      return { ...diagnose(text), milliseconds: spent() - begun };
    });
  },
};
const question = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(ANSWERS[question.ask](question)));
