"""The command: check pages and notebooks without building a book.

``python -m selfattn.drift PATH...`` takes MyST pages, notebooks as they stand, and folders of
them. It exits with 0 if all is verified, 1 if an output drifted, 2 if something could not be
checked.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfattn.drift.check import Outcome, PageResult
from selfattn.drift.compare import Policy
from selfattn.drift.configuration import find_reference
from selfattn.drift.formats import to_github, to_json, to_junit
from selfattn.drift.kinds import Kind
from selfattn.drift.report import count, render, use_color
from selfattn.drift.sources import load
from selfattn.drift.update import Change, update_notebook, update_page, write
from selfattn.drift.verify import POLICY_VARIABLE, Settings, chosen_policy, verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main"]

_SKIPPED_FOLDERS = {"_build", "node_modules", "jupyter_execute", "__pycache__"}
_INTERRUPTED = 130


@dataclass(frozen=True)
class _Checked:
    result: PageResult
    change: Change | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.structure and os.environ.get("CI"):
        parser.error("--structure verifies nothing, and is refused under CI")
    try:
        policy = Policy.STRUCTURE if options.structure else chosen_policy(options.policy)
        paths = list(_paths(options.paths))
    except ValueError as error:
        parser.error(str(error))
    try:
        checked = [
            _check(path, number, len(paths), options, policy)
            for number, path in enumerate(paths, start=1)
        ]
    except KeyboardInterrupt:
        print("interrupted; nothing is verified", file=sys.stderr)
        return _INTERRUPTED
    results = [each.result for each in checked]
    _tell(results, options)
    if options.update:
        changes = [each.change for each in checked if each.change]
        return write(changes, force=options.force) if changes else _status(results)
    return _status(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m selfattn.drift",
        description="Run pages and notebooks, and hold what they print against what they document.",
        epilog="Exit status: 0 all verified, 1 an output drifted, 2 could not be checked.",
    )
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="a MyST page, a notebook or a folder")
    add(
        "--policy",
        default="auto",
        metavar="NAME",
        help=f"auto, exact or portable; {POLICY_VARIABLE} comes before it",
    )
    add("--timeout", type=int, default=300, metavar="S", help="seconds a cell may take (300)")
    add("--twice", action="store_true", help="run each page twice and name what doesn't repeat")
    add("--structure", action="store_true", help="compare all but floats; verifies nothing")
    add("--stderr", action="store_true", help="compare what notebooks stored of stderr too")
    add("--update", action="store_true", help="write what was printed into the files")
    add("--force", action="store_true", help="with --update: also in a tree with other changes")
    add("--json", action="store_true", help="print the report as JSON")
    add("--junit", type=Path, metavar="FILE", help="write the report as JUnit XML")
    add("--color", choices=("auto", "always", "never"), default="auto")
    add("-q", "--quiet", action="store_true", help="print the summary alone")
    add("-v", "--verbose", action="store_true", help="list what was verified too")
    return parser


def _paths(given: Sequence[Path]) -> Iterator[Path]:
    """Yield the files to check: those given, and the pages and notebooks below folders."""
    for path in given:
        if path.is_dir():
            for found in sorted(path.rglob("*")):
                inside = found.relative_to(path).parts
                hidden = any(p.startswith(".") or p in _SKIPPED_FOLDERS for p in inside)
                if found.suffix in (".md", ".ipynb") and found.is_file() and not hidden:
                    yield found
        elif path.is_file():
            yield path
        else:
            msg = f"there is no file or folder {path}"
            raise ValueError(msg)


def _check(
    path: Path, number: int, total: int, options: argparse.Namespace, policy: Policy | None
) -> _Checked:
    """Check one file; what goes wrong with it is an outcome of its own."""
    if total > 1 and (options.verbose or sys.stderr.isatty()):
        print(f"[{number}/{total}] {path}", file=sys.stderr, flush=True)
    try:
        loaded = load(path, stderr=options.stderr)
    except Exception as error:  # noqa: BLE001 - one bad file must not hide the others
        told = f"{type(error).__name__}: {error}"
        return _Checked(PageResult(str(path), (Outcome(Kind.UNREADABLE, 1, message=told),)))
    if loaded is None:
        return _Checked(PageResult(str(path)))
    page, notebook = loaded
    settings = Settings(policy, find_reference(path.parent), options.timeout, twice=options.twice)
    result, _ = verify(page, notebook, folder=path.parent, file=str(path), settings=settings)
    if page.stored:
        return _Checked(result, update_notebook(path, page, notebook, result))
    return _Checked(result, update_page(path, page, result))


def _tell(results: Sequence[PageResult], options: argparse.Namespace) -> None:
    """Print and write the reports."""
    if options.junit:
        options.junit.write_text(to_junit(results), "utf-8")
    if os.environ.get("GITHUB_ACTIONS"):
        for line in to_github(results):
            print(line, file=sys.stderr if options.json else sys.stdout)
    if options.json:
        print(to_json(results), end="")
        return
    color = use_color(sys.stdout) if options.color == "auto" else options.color == "always"
    told = render(results, color=color, verbose=options.verbose)
    print(told.rpartition("\n")[2] if options.quiet else told)


def _status(results: Sequence[PageResult]) -> int:
    failures = [o.kind for page in results for o in page.outcomes if o.kind.fails]
    if any(not kind.unknown for kind in failures):
        return 1
    return 2 if failures or not count(results).checked else 0


if __name__ == "__main__":
    sys.exit(main())
