/* Asks the scripts of the box in Node: argument 1 is the scripts, joined; the question is on stdin. */
"use strict";

const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");

runInThisContext(readFileSync(process.argv[2], "utf-8"));
const { known, texts } = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(texts.map(globalThis.selfattn.diagnosis(known))));
