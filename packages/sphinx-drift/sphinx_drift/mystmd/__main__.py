"""The command: write the plugin that ``myst.yml`` names, or judge pages for it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sphinx_drift.source.expectations import OPTIONS

PLUGIN = Path(__file__).with_name("plugin.mjs")
LOADER = """\
// Loads sphinx-drift's plugin from the Python that runs `myst`; DRIFT_PYTHON names another.
import { execFileSync } from "node:child_process";

const python = process.env.DRIFT_PYTHON ?? "python";
const words = ["-m", "sphinx_drift.mystmd", "--describe"];
const { plugin, options } = JSON.parse(execFileSync(python, words, { encoding: "utf-8" }));
const { load } = await import(plugin);
export default load(python, options);
"""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m sphinx_drift.mystmd", description=__doc__)
    parser.add_argument(
        "file", nargs="?", default="drift.mjs", help="the file to write (drift.mjs)"
    )
    parser.add_argument("--describe", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.describe:
        print(json.dumps({"plugin": PLUGIN.as_uri(), "options": OPTIONS}))
    elif options.judge:
        from sphinx_drift.mystmd.judge_pages import serve  # noqa: PLC0415 - slow

        serve(sys.stdin, sys.stdout)
    else:
        try:
            Path(options.file).write_text(LOADER, "utf-8")
        except OSError as error:  # a folder, say
            parser.error(f"expected a file that can be written, such as drift.mjs: {error}")
        print(f"wrote {options.file}; name it in myst.yml, below `project`:\n")
        print(f"  plugins:\n    - {options.file}")


if __name__ == "__main__":
    main()
