"""The command: check pages and notebooks without building a book.

``python -m sphinx_drift PATH...`` takes MyST pages, notebooks as they stand, and folders of
them. It exits with 0 if all is verified, 1 if an output drifted, 2 if something could not be
checked, 130 if it was interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.configuration import find_project, pages_required
from sphinx_drift.device import choose_device
from sphinx_drift.report.formats import exit_status
from sphinx_drift.report.options import add_reports, guarded, write_reports
from sphinx_drift.report.text import render, summary, unused_filters, use_color
from sphinx_drift.run import host
from sphinx_drift.run.choice import RUNNER_VARIABLE, chosen
from sphinx_drift.run.run import DEVICE_VARIABLE
from sphinx_drift.run_and_judge import (
    POLICY_VARIABLE,
    Settings,
    begin,
    chosen_policy,
    report_origins,
    run_and_judge,
)
from sphinx_drift.source.read_source import Page, is_notebook, load
from sphinx_drift.source.update import Change, irreversible, update_notebook, update_page, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.configuration import Project

_SKIPPED = {"_build", "node_modules", "jupyter_execute", "__pycache__"}
_INTERRUPTED = 130
_NAMED = 5
_ENDINGS = (".md", ".ipynb")


@dataclass(frozen=True)
class _Checked:
    result: PageResult
    change: Change | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        policy = chosen_policy(requested=options.policy)
        _refuse(options)
        paths = list(dict.fromkeys(_paths(options.paths)))
        if options.update and not options.force:
            _refuse_irreversible(paths)
        project = find_project(paths[0].parent)
        device = choose_device(requested=options.device, module=project.devices)
    except ValueError as error:
        parser.error(str(error))
    if device:
        print(f"pages compute on {device}", file=sys.stderr)
    projects = list(_projects(paths))
    report_origins({name: at for each in projects for name, at in each.packages.items()})
    host.preload(project.libraries(paths))
    if len(paths) > 1:
        settings = Settings(
            timeout=options.timeout,
            twice=options.twice,
            complete=("*",),
            keep_going=options.keep_going,
            notebooks_go_on=True,
        )
        begin(paths, settings, stderr=options.stderr)
    try:
        checked = [
            _check_one(path, number, len(paths), options, policy)
            for number, path in enumerate(paths, start=1)
        ]
    except KeyboardInterrupt:
        print("interrupted; nothing is verified", file=sys.stderr)
        return _INTERRUPTED
    results = [each.result for each in checked]
    if not options.update:
        write_reports(results, options)
    if options.durations:
        _print_durations(results, options.durations)
    filters = dict.fromkeys(each for other in projects for each in other.filters)
    if unused := unused_filters(filters, results):
        print(unused, file=sys.stderr)
    return _update(checked) if options.update else exit_status(results)


def _print_durations(results: Sequence[PageResult], number: int) -> None:
    """Say which pages took longest; not on standard output, which may be JSON."""
    for result in sorted(results, key=lambda each: -each.seconds)[:number]:
        if result.seconds:
            print(f"{result.seconds:8.2f} s  {result.file}", file=sys.stderr)


def _projects(paths: Sequence[Path]) -> Iterator[Project]:
    """Yield what the projects of some files say."""
    for folder in {path.parent: None for path in paths}:
        with contextlib.suppress(ValueError):  # told when the file is checked
            yield find_project(folder)


def _refuse(options: argparse.Namespace) -> None:
    """Refuse contradictory options before anything runs."""
    if chosen() == "off":
        raise ValueError(
            f"{RUNNER_VARIABLE}=off runs nothing, so nothing could be verified; unset it"
        )
    if options.update:
        # What has no expectation gets one that is true of two runs, an error too.
        options.require, options.twice, options.keep_going = "all", True, True
        if options.json:
            raise ValueError("--update doesn't go with --json")
        if os.environ.get("CI"):
            raise ValueError("--update is refused under CI: a person decides what is documented")


def _refuse_irreversible(paths: Sequence[Path]) -> None:
    """Refuse to write what git couldn't bring back."""
    if reasons := irreversible(paths):
        more = f" and {len(reasons) - _NAMED} more" * (len(reasons) > _NAMED)
        names = f"{', '.join(reasons[:_NAMED])}{more}"
        raise ValueError(f"nothing was run: {names}; mend that, or add --force")


def _update(checked: Sequence[_Checked]) -> int:
    """Write the executed outputs; what that doesn't fix still fails."""
    status = write([each.change for each in checked if each.change])
    remaining = [_without_written(each) for each in checked]
    if not any(page.failed for page in remaining):
        return status
    print(render(remaining, color=use_color(sys.stdout)))
    return max(status, exit_status(remaining))


def _without_written(checked: _Checked) -> PageResult:
    """Return the result of a page without the outcomes that an update fixes."""
    result = (checked.change and checked.change.result) or checked.result
    # What is all unchecked has nothing that could be written.
    outcomes = tuple(o for o in result.outcomes if o.kind is not Kind.NOTHING_CHECKED)
    return replace(result, outcomes=outcomes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sphinx_drift",
        description="Run pages and notebooks, and compare what they print with what they document.",
        epilog="Exit status: 0 all verified, 1 an output drifted, 2 could not be checked, "
        "130 interrupted.",
    )
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="a MyST page, a notebook or a folder")
    add(
        "--policy",
        choices=("auto", Policy.EXACT.value, Policy.PORTABLE.value),
        metavar="NAME",
        help=f"auto, exact or portable; without it {POLICY_VARIABLE} is asked, then auto",
    )
    add(
        "--device",
        metavar="NAME",
        help=f"cpu, cuda, cuda:1, mps or auto; without it {DEVICE_VARIABLE} is asked, then cpu",
    )
    add(
        "--require",
        choices=("expected", "all"),
        metavar="NAME",
        help="all: each output must be documented; expected: none must; "
        "without it the project's file is asked, then expected",
    )
    add(
        "--keep-going",
        action="store_true",
        help="go on after an error, as in notebooks; the error fails all the same",
    )
    add("--timeout", type=_number, default=300, metavar="S", help="seconds a cell may take (300)")
    add("--durations", type=_number, metavar="N", help="list the N pages that took longest")
    add("--twice", action="store_true", help="run each page twice and name what doesn't repeat")
    add("--update", action="store_true", help="write what was printed into the files")
    add("--force", action="store_true", help="with --update: also what git can't undo")
    add("--stderr", action="store_true", help="compare what notebooks stored of stderr too")
    add_reports(parser)
    return parser


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)


def _paths(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files to check: those given, and the pages and notebooks below folders."""
    for path in paths:
        if path.is_dir():
            below = list(_below(path))
            if not below:
                raise ValueError(f"there is no page or notebook below {path}")
            yield from below
        elif path.is_file():
            yield path
        else:
            raise ValueError(f"there is no file or folder {path}")


def _below(folder: Path) -> Iterator[Path]:
    seen = set()  # links are followed, as Sphinx does, but not in circles
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
        for name in sorted(files):
            if name.lower().endswith(_ENDINGS) and not name.startswith("."):
                yield Path(place, name)


def _check_one(
    path: Path, number: int, total: int, options: argparse.Namespace, policy: Policy | None
) -> _Checked:
    """Check one file of many, and say what came of it."""
    has_progress = total > 1 and not options.quiet and sys.stderr is not None
    if has_progress:
        print(f"[{number}/{total}] {path}: ", end="", file=sys.stderr, flush=True)
    checked = _check(path, options, policy)
    if has_progress:
        cells = checked.result.cells
        print(summary([checked.result]) if cells else "no cells", file=sys.stderr, flush=True)
    return checked


def _check(path: Path, options: argparse.Namespace, policy: Policy | None) -> _Checked:
    """Check one file; what goes wrong with it is an outcome of its own."""
    if not path.name.lower().endswith(_ENDINGS):
        msg = (
            f"its name must end with {_ENDINGS[0]}, as a page's, or {_ENDINGS[1]}, as a notebook's"
        )
        return _failed(path, Kind.UNREADABLE, msg)
    try:
        loaded = load(path, stderr=options.stderr)
        project = find_project(path.parent)
    except Exception as error:  # noqa: BLE001 - one bad file must not hide the others
        return _failed(path, Kind.UNREADABLE, f"{type(error).__name__}: {error}")
    page, notebook = loaded or (Page(), None)
    if notebook is None or not (page.cells or page.problems):
        # A folder may hold prose; who names a file wants it checked.
        is_named = path in options.paths
        return (
            _failed(path, Kind.NOTHING_CHECKED, "it has no cell")
            if is_named
            else _Checked(PageResult(str(path)))
        )
    try:
        complete = pages_required(options.require, "--require") if options.require else None
        settings = Settings(
            policy,
            project.reference,
            options.timeout,
            twice=options.twice,
            packages=project.packages,
            complete=project.require if complete is None else complete,
            filters=project.filters,
            keep_going=options.keep_going,
            notebooks_go_on=True,
        )
        return _run(path, page, notebook, settings, options)
    except Exception:  # noqa: BLE001 - nor must an error of ours
        return _failed(path, Kind.COULD_NOT_CHECK, traceback.format_exc(limit=-3))


def _failed(path: Path, kind: Kind, message: str) -> _Checked:
    outcome = Outcome(kind, 1, message=message)
    return _Checked(PageResult(str(path), (outcome,), stored=is_notebook(path)))


def _run(
    path: Path,
    page: Page,
    notebook: NotebookNode,
    settings: Settings,
    options: argparse.Namespace,
) -> _Checked:
    """Run and compare what was read."""
    page = settings.applied_to(page, str(path))
    result, _, judge = run_and_judge(
        page, notebook, folder=path.parent, file=str(path), settings=settings
    )
    if path in options.paths:
        if not any(o.kind is Kind.VERIFIED or o.kind.fails for o in result.outcomes):
            nothing = Outcome(Kind.NOTHING_CHECKED, 1, message="none of its outputs is documented")
            result = replace(result, outcomes=(*result.outcomes, nothing))
    elif page.stored:
        # A folder may hold notebooks that only draw; that nothing at all was checked still fails.
        checked = tuple(o for o in result.outcomes if o.kind is not Kind.NOTHING_CHECKED)
        result = replace(result, outcomes=checked)
    if not options.update:
        return _Checked(result)
    update = update_notebook if page.stored else update_page
    return _Checked(result, update(path, page, notebook, result, judge))


if __name__ == "__main__":
    # Whoever starts it may have closed its standard output.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - to the end
    # What a cell printed may be more than the terminal's encoding holds.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Both ways to end it leave no kernel behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(guarded(main))
