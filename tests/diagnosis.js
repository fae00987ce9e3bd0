/* Asks the scripts of the box in Node: argument 1 is the scripts, joined; the question is on stdin. */
"use strict";

const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");

runInThisContext(readFileSync(process.argv[2], "utf-8"));
const { blocksOf, diagnosis } = globalThis.selfattn;

const ANSWERS = {
  numbers: ({ texts }) =>
    texts.map((text) =>
      blocksOf(text).flat().map(({ text, value, power }) => [text, String(value), power])),
  diagnose: ({ known, texts }) => texts.map(diagnosis(known)),
};
const question = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(ANSWERS[question.ask](question)));
