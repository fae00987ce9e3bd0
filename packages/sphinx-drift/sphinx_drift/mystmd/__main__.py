"""The command: write the plugin that ``myst.yml`` names, or judge pages for it."""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

import sphinx_drift.no_grammar  # noqa: F401 - before nbformat
from sphinx_drift.run.choice import PAGE_VARIABLES
from sphinx_drift.source.expectations import OPTIONS

PLUGIN = Path(__file__).with_name("plugin.mjs")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m sphinx_drift.mystmd", description=__doc__)
    parser.add_argument("--describe", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.describe:
        unset = {n: value for n, value in PAGE_VARIABLES.items() if n not in os.environ}
        described = {"plugin": PLUGIN.as_uri(), "options": OPTIONS, "variables": unset}
        print(json.dumps(described))
    elif options.judge:
        from sphinx_drift.mystmd.judge_pages import serve  # noqa: PLC0415 - slow

        serve(sys.stdin, sys.stdout)
    else:
        shutil.copyfile(PLUGIN.with_name("drift.mjs"), "drift.mjs")
        print("wrote drift.mjs; name it in myst.yml, below `project`:\n")
        print("  plugins:\n    - drift.mjs")


if __name__ == "__main__":
    main()
