"""The command: check pages and notebooks without building a book.

``python -m sphinx_drift PATH...`` takes MyST pages, notebooks as they stand, and folders of
them. It exits with 0 if all is verified, 1 if an output drifted, 2 if something could not be
checked, 130 if it was interrupted.
"""

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sphinx_drift.no_grammar  # noqa: F401 - before nbformat
from sphinx_drift.device import choose_device
from sphinx_drift.files import Checked, Opened, check, open_file, prepare
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.patterns import Pattern
from sphinx_drift.report.excerpts import safe_line
from sphinx_drift.report.formats import exit_status, to_github
from sphinx_drift.report.summary import is_nothing, summary, unused_filters
from sphinx_drift.report.text import closing_line, render, use_color
from sphinx_drift.run.choice import chosen_runner, is_ci
from sphinx_drift.run_and_judge import run_ahead
from sphinx_drift.search import find_pages
from sphinx_drift.settings import Settings, changed_by_environment, entries
from sphinx_drift.shapes import TRUTH, Place, Setting
from sphinx_drift.source.update import UNDECIDED
from sphinx_drift.writing import irreversible, write

_CRASHED, _INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        books, files = _open(options)
    except ValueError as error:
        parser.error(str(error))
    checked = list(_check(files, options))
    results = [file.result for file in checked]
    if not options.update:
        _report(results, options)
    if options.prose:
        notes = [note for file in checked for note in file.notes]
        print("\n".join(notes) or "no sentence nearly says a number that is printed beside it")
    if not any(map(Path.is_dir, options.paths)):
        books = []  # one page needs little of what its book sets
    for pattern in _unmatched(books, [Path(page.file) for page in results]):
        print(f"require: no page here matches {pattern.text!r}", file=sys.stderr)
    unused = unused_filters([f for book in books for f in book.filters], results)
    if unused and not options.update:  # what is written may have been filtered by them
        print(unused, file=sys.stderr)
    return _update(checked) if options.update else exit_status(results)


def _open(options: argparse.Namespace) -> tuple[list[Settings], list[Opened | Checked]]:
    """Read all files, and begin to run them; return them with what their books say."""
    changed_by_environment(Settings())  # rejects unknown values, as the next does
    chosen_runner()
    requested = _requested(options)
    device = requested.pop("device", None)
    named = set(map(_normalized, options.paths))
    # A file counts once, however often and by whatever names it is given.
    paths = list({_normalized(path): path for path in find_pages(options.paths)}.values())
    for pattern in requested.get("require", ()):
        if not any(map(pattern.matches, paths)):
            raise ValueError(f"--require: no page here matches {pattern.text!r}")
    books = prepare(paths)
    given = {path.resolve() for path in options.paths}
    for pattern in _unmatched(books, paths):
        folder = pattern.folder or Path()
        is_whole = not given.isdisjoint((folder.resolve(), *folder.resolve().parents))
        # A build may find a page there that isn't ours.
        if is_whole and not any(map(pattern.matches, folder.rglob("*"))):
            raise ValueError(f"require: no page matches {pattern.text!r}")
    opened = [open_file(p, named=_normalized(p) in named, **requested) for p in paths]
    names = [file.result.file if isinstance(file, Checked) else file.task.path for file in opened]
    files = [*dict(zip(names, opened, strict=True)).values()]  # settings that fail do so once
    tasks = [file.task for file in files if isinstance(file, Opened)]
    if options.update and not options.force:
        _refuse_update([task.path for task in tasks])
    if found := choose_device(requested=device, modules={book.devices for book in books}):
        print(f"pages compute on {found}", file=sys.stderr)
    if len(paths) > 1:
        run_ahead(tasks)
    return books, files


def _normalized(path: str | Path) -> str:
    """Return a path without its ``..``; a link stays, since it may be another book's."""
    normalized = os.path.abspath(path)  # noqa: PTH100
    # After a link to a folder, `..` is where the link leads.
    is_same = os.path.realpath(normalized) == os.path.realpath(path)
    return normalized if is_same else str(path)


def _check(files: Sequence[Opened | Checked], options: argparse.Namespace) -> Iterator[Checked]:
    """Check the files; of many, print the result of each in a line, unless it is to be quiet."""
    for number, file in enumerate(files, start=1):
        checked = check(file, update=options.update, prose=options.prose)
        if len(files) > 1 and not options.quiet:
            line = f"[{number}/{len(files)}] {checked.result.file}: {summary([checked.result])}"
            print(line, file=sys.stderr, flush=True)
        yield checked


def _unmatched(books: Iterable[Settings], paths: Sequence[Path]) -> Iterator[Pattern]:
    """Yield the patterns of books' complete pages that match no path."""
    for pattern in dict.fromkeys(p for book in books for p in book.require):
        if not any(map(pattern.matches, paths)):
            yield pattern


def _requested(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that options give, which come before those of the files' books."""
    given = vars(options)
    requested = {e.name: given[e.name] for e in entries(Place.COMMAND) if e.name in given}
    if options.update:
        # What is written is true of two runs, and of all cells.
        requested |= {"twice": True, "keep_going": True}
    return requested


def _report(results: Sequence[PageResult], options: argparse.Namespace) -> None:
    """Print what came of all files, and on GitHub annotate their lines."""
    if os.environ.get("GITHUB_ACTIONS"):
        for line in to_github(results):
            print(line)
    lacking = {o.kind for result in results for o in result.outcomes} & {Kind.NO_EXPECTATION}
    if lacking and is_nothing(results):
        told = "nothing here is documented, by an expectation or as a notebook's stored output"
        print(f"{told}: `--update` records what is printed", file=sys.stderr)
    color = use_color(sys.stdout)
    if options.quiet:
        print(closing_line(results, color=color))
    else:
        print(render(results, color=color, verbose=options.verbose))


def _refuse_update(paths: Sequence[Path]) -> None:
    """Refuse to write where a person decides, and what git couldn't bring back."""
    if is_ci():
        raise ValueError(
            "--update is refused under CI: a person decides what is documented; with --force it "
            "writes, for a patch that somebody reads"
        )
    if reasons := irreversible(paths):
        more = f" and {len(reasons) - 1} more" if reasons[1:] else ""
        raise ValueError(f"nothing was run: {reasons[0]}{more}; commit that, or add --force")


def _update(checked: Sequence[Checked]) -> int:
    """Write the executed outputs; what that doesn't fix still fails."""
    status = write([file.change for file in checked if file.change])
    settled = [file for file in checked if not (file.change and file.change.refused)]
    remaining = list(map(_remaining, settled))
    if lines := [line for file in settled for line in _to_decide(file)]:
        print("to decide, by mending or seeding it, printing less or giving a reason of your own:")
        print("\n".join(lines))
    if any(map(_undecided, remaining)):
        status = status or 1
    if not any(result.failed for result in remaining):
        return status
    print(render(remaining, color=use_color(sys.stdout)))
    return max(status, exit_status(remaining))


def _remaining(file: Checked) -> PageResult:
    """Return the result of a file as it is written; what is all unchecked is left so."""
    result = (file.change and file.change.result) or file.result
    outcomes = tuple(o for o in result.outcomes if o.kind is not Kind.NOTHING_CHECKED)
    return replace(result, outcomes=outcomes)


def _undecided(result: PageResult) -> list[Outcome]:
    """Return the outputs that nothing checks for a reason that `--update` has written."""
    return [o for o in result.outcomes if o.kind is Kind.UNCHECKED and o.message in UNDECIDED]


def _errors(result: PageResult) -> set[tuple[int, str]]:
    """Return the errors that nothing documents, each with its cell."""
    return {
        (outcome.cell, outcome.message.partition("\n")[0])
        for outcome in result.outcomes
        if outcome.kind in (Kind.RAISED, Kind.NO_EXPECTATION) and not outcome.parts
    }


def _to_decide(file: Checked) -> Iterator[str]:
    """Yield what `--update` has written and only a person can judge: errors, and reasons."""
    result = _remaining(file)
    for cell, error in sorted(_errors(file.result) - _errors(result)):
        yield safe_line(f"  {result.file}: cell {cell}: recorded {error}")
    for cell, reason in dict.fromkeys((o.cell, o.message) for o in _undecided(result)):
        yield f"  {result.file}: cell {cell}: {reason}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sphinx_drift",
        description="Run pages and notebooks, and compare what they print with what they document.",
        epilog="Exit status: 0 all verified, 1 an output drifted, 2 could not be checked, "
        "130 interrupted.",
    )
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="a MyST page, a notebook or a folder")
    for entry in entries(Place.COMMAND):
        add(entry.option, dest=entry.name, default=argparse.SUPPRESS, **_taking(entry))
    either = parser.add_mutually_exclusive_group().add_argument
    either("--update", action="store_true", help="write what was printed into the files")
    either("--prose", action="store_true", help="list sentences that nearly say a printed number")
    add(
        "--force", action="store_true", help="with --update: also under CI, and what git can't undo"
    )
    add("-q", "--quiet", action="store_true", help="print the last line alone")
    add("-v", "--verbose", action="store_true", help="list what was verified too")
    return parser


def _taking(entry: Setting) -> dict[str, Any]:
    """Return how an option takes the value of a setting."""
    asked = f" ({entry.variable} says the same)" if entry.variable else ""
    shown = f"{entry.text}{asked}".replace("%", "%%")
    if entry.shape is TRUTH:
        return {"action": "store_true", "help": shown}

    def read(text: str) -> Any:
        try:
            return entry.read(entry.from_text(text), "it", Path.cwd())
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return {"type": read, "metavar": "VALUE", "help": shown}


def guarded() -> int:
    """Run the command; report an interrupt, or a crash of the checker, as what it is."""
    try:
        status = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted; nothing is verified", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        print("the report could not be written", file=sys.stderr)
        sys.stdout = None  # at its end Python would try again
        return _CRASHED
    except Exception:  # noqa: BLE001 - whatever it is, nothing is verified
        traceback.print_exc()
        print("the check itself failed, so nothing is known: please report this", file=sys.stderr)
        return _CRASHED
    return status


if __name__ == "__main__":
    # The terminal's encoding may lack characters that a cell printed.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Both ways to end it leave no kernel behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(guarded())
