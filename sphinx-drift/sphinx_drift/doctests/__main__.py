"""The command: check the examples of packages, modules and text files."""

from __future__ import annotations

import argparse
import doctest
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.configuration import find_project
from sphinx_drift.device import choose_device
from sphinx_drift.doctests.files import check_all, find_files
from sphinx_drift.report.formats import exit_status
from sphinx_drift.report.options import add_reports, guarded, write_reports
from sphinx_drift.run.run import DEVICE_VARIABLE
from sphinx_drift.run_and_judge import Settings, chosen_policy

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the examples of packages and files; its exit status is that of ``sphinx_drift``."""
    parser = _parser()
    options = parser.parse_args(arguments)
    flags = sum({doctest.OPTIONFLAGS_BY_NAME[name] for name in options.option})
    try:
        project = find_project(Path.cwd())
        settings = Settings(chosen_policy(), project.reference)
        device = choose_device(requested=options.device, module=project.devices)
        files = {name: find_files(name) for name in options.names}
    except ValueError as error:
        parser.error(str(error))
    if device:
        print(f"examples compute on {device}", file=sys.stderr)
    results = []
    for name, each in files.items():
        checked = list(check_all(each, settings, flags, isolated=options.isolated))
        if not any(result.cells or result.outcomes for result in checked):
            checked = [PageResult(name, (Outcome(Kind.NOTHING_CHECKED, 1),), examples=True)]
        results += checked
    write_reports(results, options, noun="example")
    return exit_status(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sphinx_drift.doctests", description="Check the examples of docstrings."
    )
    add = parser.add_argument
    add("names", nargs="+", metavar="NAME", help="a package or module to import, or a text file")
    add("--device", metavar="NAME", help=f"cpu, cuda, cuda:1, mps or auto, as {DEVICE_VARIABLE}")
    add("--isolated", action="store_true", help="check each module in a process of its own")
    add(
        *("-o", "--option"),
        action="append",
        choices=sorted(doctest.OPTIONFLAGS_BY_NAME),
        default=[],
        metavar="FLAG",
        help="an option flag for all examples, such as ELLIPSIS",
    )
    add_reports(parser)
    return parser


if __name__ == "__main__":
    sys.exit(guarded(main))
