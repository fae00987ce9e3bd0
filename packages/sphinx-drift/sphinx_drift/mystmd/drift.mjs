// Loads sphinx-drift's plugin from the Python that runs `myst`; DRIFT_PYTHON names another.
import { execFileSync } from "node:child_process";

const python = process.env.DRIFT_PYTHON ?? "python";
const words = ["-m", "sphinx_drift.mystmd", "--describe"];
const { plugin, options } = JSON.parse(execFileSync(python, words, { encoding: "utf-8" }));
const { load } = await import(plugin);
export default load(python, options);
