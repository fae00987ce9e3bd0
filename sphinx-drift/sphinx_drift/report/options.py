"""The options for reports that all commands share, and the handling of a crash."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.report.formats import to_github, to_json, to_junit
from sphinx_drift.report.text import closing_line, render, use_color

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sphinx_drift.compare.outcomes import PageResult

_CRASHED = 2


def add_reports(parser: argparse.ArgumentParser) -> None:
    """Add the options for reports."""
    add = parser.add_argument
    add("--json", action="store_true", help="print the report as JSON")
    add("--junit", type=_file, metavar="FILE", help="write the report as JUnit XML")
    add("-q", "--quiet", action="store_true", help="print the summary alone")
    add("-v", "--verbose", action="store_true", help="list what was verified too")


def _file(name: str) -> Path:
    path = Path(name)
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder for {name}")
    return path


def write_reports(
    results: Sequence[PageResult], options: argparse.Namespace, *, noun: str = "output"
) -> None:
    """Print and write the reports that were asked for."""
    if options.junit:
        options.junit.write_text(to_junit(results), "utf-8")
    if os.environ.get("GITHUB_ACTIONS"):
        for line in to_github(results):
            print(line, file=sys.stderr if options.json else sys.stdout)
    if options.json:
        print(to_json(results, noun=noun), end="")
        return
    color = use_color(sys.stdout)
    if options.quiet:
        print(closing_line(results, color=color, noun=noun))
    else:
        print(render(results, color=color, verbose=options.verbose, noun=noun))


def guarded(main: Callable[[], int]) -> int:
    """Run a command; report a crash of the checker as what it is, not as a drift."""
    try:
        return main()
    except Exception:  # noqa: BLE001 - whatever it is, nothing is verified
        traceback.print_exc()
        print("the check itself failed, so nothing is known: please report this", file=sys.stderr)
        return _CRASHED
