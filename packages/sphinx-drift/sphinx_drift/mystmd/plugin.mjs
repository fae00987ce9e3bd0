/* The plugin of mystmd: hands what cells printed to the checker, and fails the build on a drift.
 *
 * One process of Python judges all pages. Its output cannot come from mystmd's cache of executed
 * notebooks, which would hide a drift: the cache is emptied when the build begins.
 */
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";

/** A process that answers one line with one line, in turn; it ends with this one. */
const judge = (python) => {
  const child = spawn(python, ["-m", "sphinx_drift.mystmd", "--judge"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = [];
  const fail = (why) => waiting.splice(0).forEach((answer) => answer({ failed: [[1, why]] }));
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()(JSON.parse(line)));
  child.on("error", (error) => fail(`could not check: ${error.message}`));
  child.on("exit", (status) => fail(`could not check: the checker ended with ${status}`));
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) pipe.unref();
  return (request) =>
    new Promise((answer) => {
      if (child.exitCode !== null) return answer({ failed: [[1, "could not check: it has ended"]] });
      child.ref();
      waiting.push((said) => {
        if (!waiting.length) child.unref();
        answer(said);
      });
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
};

let hasFailed = false;

/** Report what failed as errors, with or without `--strict`. */
const report = (vfile, failed) => {
  for (const [line, text] of failed) vfile.message(text, { line, column: 1 }).fatal = true;
  hasFailed ||= failed.length > 0;
};

/** Empty the cache of executed notebooks, here or above: where mystmd finds its project. */
const emptyCache = () => {
  for (let folder = resolve("."); ; folder = dirname(folder)) {
    const isProject = ["myst.yml", "myst.yaml"].some((name) => existsSync(join(folder, name)));
    if (isProject) rmSync(join(folder, "_build", "execute"), { recursive: true, force: true });
    if (folder === dirname(folder)) return;
  }
};

/** How mystmd's messages begin that cells couldn't be run: a notebook then keeps stored outputs. */
const STOPS = /^(An exception occurred during|Notebook does not declare|Could not load Jupyter)/;

/** The outputs that a node has: one, or a list in Jupyter Book 2.0. */
const outputsOf = ({ jupyter_data, data }) => jupyter_data ?? data ?? [];

/** Whether a notebook has stored an output, and no run has made it: mystmd goes on without a kernel. */
const isStored = (node) => node.jupyter_data !== undefined && !("identifier" in node);

const isSkipped = (block) => (block.data?.tags ?? []).includes("skip-execution");

export const load = (python, names, variables = {}) => {
  Object.assign(process.env, variables); // of the kernels that mystmd is going to start
  const ask = judge(python);
  const isAsked = process.argv.includes("--execute");
  if (isAsked) emptyCache();

  const expected = {
    name: "expected-output",
    doc: "What the code cell before it must print; the checker compares it.",
    body: { type: String },
    options: Object.fromEntries(names.map((name) => [name, { type: String }])),
    run: () => [],
  };
  const printed = {
    name: "printed",
    doc: "A number that a code cell of the project printed.",
    body: { type: String, required: true },
    run: ({ body, node }) => [{ type: "printedNumber", value: body, position: node.position }],
  };
  const compare = {
    name: "drift-compare",
    stage: "document",
    plugin: (_, { selectAll }) => async (tree, vfile) => {
      const blocks = selectAll("block[kind=notebook-code]", tree);
      const nodes = blocks.map((block) => (isSkipped(block) ? null : selectAll("output", block)));
      const cells = nodes.map((each) => each && each.flatMap(outputsOf));
      const hasStored = nodes.some((each) => each && each.some(isStored));
      const isRun = isAsked && !vfile.messages.some(({ reason }) => STOPS.test(reason)) && !hasStored;
      const answer = await ask({ path: vfile.path, cells, isRun });
      summary = answer.sum ?? summary;
      report(vfile, answer.failed);
    },
  };
  const quote = {
    name: "drift-quote",
    stage: "project",
    plugin: (_, { selectAll }) => async (tree, vfile) => {
      for (const node of selectAll("printedNumber", tree)) {
        const line = node.position?.start.line ?? 1;
        const { text, failed, sum } = await ask({ quote: node.value, path: vfile.path, line });
        summary = sum ?? summary;
        report(vfile, failed ?? []);
        Object.assign(node, { type: "text", value: text ?? "?" });
      }
    },
  };
  let summary = "nothing was checked";
  process.on("exit", () => {
    console.log(summary);
    if (hasFailed) process.exitCode ||= 1;
  });
  return { name: "sphinx-drift", directives: [expected], roles: [printed], transforms: [compare, quote] };
};
