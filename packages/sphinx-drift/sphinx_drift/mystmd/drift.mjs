// Loads sphinx-drift's plugin from the Python that runs `myst`; DRIFT_PYTHON names another.
// mystmd goes on without a plugin that it can't load: the build must fail for it.
import { execFileSync } from "node:child_process";

const python = process.env.DRIFT_PYTHON ?? "python";
let why = `sphinx-drift: nothing was checked, for \`${python} -m sphinx_drift.mystmd\` doesn't run; `;
why += "install sphinx-drift there, or name another Python in DRIFT_PYTHON";
process.on("exit", () => {
  if (!why) return;
  console.error(why);
  process.exitCode ||= 1;
});
const words = ["-m", "sphinx_drift.mystmd", "--describe"];
const { plugin, options, variables } = JSON.parse(execFileSync(python, words, { encoding: "utf-8" }));
const { load } = await import(plugin);
why = "";
export default load(python, options, variables);
