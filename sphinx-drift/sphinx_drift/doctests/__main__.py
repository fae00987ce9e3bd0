"""The command: check the examples of packages, modules and text files."""

from __future__ import annotations

import argparse
import doctest
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.configuration import find_project
from sphinx_drift.device import choose_device
from sphinx_drift.doctests.isolated import check_all
from sphinx_drift.report.formats import exit_status
from sphinx_drift.report.options import add_reports, guarded, tell
from sphinx_drift.run.run import DEVICE_VARIABLE
from sphinx_drift.run_and_judge import Settings, chosen_policy
from sphinx_drift.source.update import update_docstrings, write

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the examples of packages and files; its exit status is that of ``sphinx_drift``."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        flags = _read_flags(options.option)
        project = find_project(Path.cwd())
        settings = Settings(chosen_policy(), project.reference)
        device = choose_device(requested=options.device, module=project.devices)
        results = list(check_all(options.names, settings, flags))
    except ValueError as error:
        parser.error(str(error))
    if device:
        print(f"examples compute on {device}", file=sys.stderr)
    tell(results, options, noun="example")
    if options.update:
        changes = (update_docstrings(Path(page.file), page) for page in results)
        return write([change for change in changes if change], force=options.force)
    return exit_status(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sphinx_drift.doctests", description="Check the examples of docstrings."
    )
    add = parser.add_argument
    add("names", nargs="+", metavar="NAME", help="a package or module to import, or a text file")
    add("--device", metavar="NAME", help=f"cpu, cuda, cuda:1, mps or auto, as {DEVICE_VARIABLE}")
    add(
        *("-o", "--option"),
        action="append",
        default=[],
        metavar="FLAG",
        help="an option flag for all examples, such as ELLIPSIS",
    )
    add_reports(parser)
    return parser


def _read_flags(names: Sequence[str]) -> int:
    """Return the option flags of some names."""
    known = doctest.OPTIONFLAGS_BY_NAME
    flags = 0
    for name in names:
        if name not in known:
            raise ValueError(f"--option must be one of {', '.join(sorted(known))}; got {name!r}")
        flags |= known[name]
    return flags


if __name__ == "__main__":
    sys.exit(guarded(main))
