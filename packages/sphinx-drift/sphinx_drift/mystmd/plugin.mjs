/* The plugin of mystmd: hands what cells printed to the checker, and fails the build on a drift.
 *
 * One process of Python judges all pages. Its output cannot come from mystmd's cache of executed
 * notebooks, which would hide a drift: the cache is emptied when the build begins.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
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

/** Report what failed as errors, with or without `--strict`. */
const report = (vfile, failed) => {
  for (const [line, text] of failed) {
    vfile.message(text, { line, column: 1 }).fatal = true;
    process.on("exit", () => (process.exitCode ||= 1));
  }
};

/** Whether a message of mystmd says that cells couldn't be run: a notebook then keeps stored outputs. */
const stopsCells = ({ fatal, reason }) => fatal && /jupyter|kernel|execut/i.test(reason);

const isSkipped = (block) => (block.data?.tags ?? []).includes("skip-execution");

export const load = (python, names) => {
  const ask = judge(python);
  const isAsked = process.argv.includes("--execute");
  if (isAsked) rmSync("_build/execute", { recursive: true, force: true });

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
    run: ({ body }) => [{ type: "printedNumber", value: body }],
  };
  const compare = {
    name: "drift-compare",
    stage: "document",
    plugin: (_, { selectAll }) => async (tree, vfile) => {
      const blocks = selectAll("block[kind=notebook-code]", tree);
      const cells = blocks.map((block) =>
        isSkipped(block) ? null : selectAll("output", block).map((each) => each.jupyter_data).filter(Boolean));
      const isRun = isAsked && !vfile.messages.some(stopsCells);
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
        const { text, failed } = await ask({ quote: node.value });
        report(vfile, (failed ?? []).map(([, why]) => [node.position?.start.line ?? 1, why]));
        Object.assign(node, { type: "text", value: text ?? "?" });
      }
    },
  };
  let summary = "nothing was checked";
  process.on("exit", () => console.log(summary));
  return { name: "sphinx-drift", directives: [expected], roles: [printed], transforms: [compare, quote] };
};
