"""Measure what it costs to execute and check a book, against other ways of running its cells.

    nox -s bench                                   # all of the plan that the record lacks
    nox -s bench -- --only ours,off --books 1,10   # some of it
    nox -s bench -- --fresh                        # from the beginning
    nox -s bench -- --report                       # what was measured, beside the bars

Books of 1 to 1,000 generated pages, and this one, are built from nothing: new folders, no doctrees.
Those with this book's theme are built again too, with nothing changed and with one page changed:
the first build, and the change, are not measured.
The ways take turns, round by round, each round in the opposite order of the one before, and what
counts is the wall time by a monotonic clock from a command's start to its end.
Each run is seen to have done its work: the pages are there, with their outputs, or without them.
A slow way has fewer rounds; how many there were is recorded and shown.
Memory is measured in runs of its own, because asking for it takes time: about every 20 ms, the
shares of memory (PSS, from `/proc`) of all processes that the command has started are added up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import books
import measure
import saving
from competitors import COMPETITORS, ROOT, THIS, Competitor, Setup, clear, source
from notebooks import differences
from recording import FILE, Key, Record, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BOOKS = ("1", "10", "30", "100", "300", "1000", THIS)
_GROWING = {"10": 5, "30": 5, "100": 5, "300": 5, "1000": 5}
SECONDS: dict[str, dict[str, int]] = {
    "ours": {"1": 7, "10": 7, "30": 7, "100": 5, "300": 3, "1000": 1, THIS: 5},
    "off": {"1": 7, "10": 7, "30": 7, "100": 5, "300": 3, "1000": 1, THIS: 5},
    "ours-themed": _GROWING,
    "off-themed": _GROWING,
    "ours-again": _GROWING | {THIS: 5},
    "off-again": _GROWING | {THIS: 5},
    "ours-page": _GROWING,
    "off-page": _GROWING,
    "twice": {"10": 7, THIS: 5},
    "jupyter": {THIS: 1},
    "plain": {"1": 5, "10": 5, "30": 5, "100": 5},
    "stock-j2": {"1": 5, "10": 5, "30": 5, "100": 1},
    "stock-j1": {"1": 5, "10": 3, "30": 1, "100": 1},
    "nbval": {"1": 5, "10": 5, "30": 1, "100": 1},
    "nbmake": {"1": 5, "10": 5, "30": 1, "100": 1},
    "jupyter-book": {"1": 5, "10": 3, "30": 1, "100": 1},
}
PEAKS = {"ours": {"10": 5, "30": 1}, "stock-j2": {"10": 5, "30": 1}}
SAVES = {"live": {"10": 7, THIS: 7}, "autobuild": {"10": 5, THIS: 5}}
SAVED = {"10": "page-005", THIS: "self-attention/step-by-step"}
PLAN: dict[Key, int] = {
    (measured, what, book): rounds
    for measured, table in (("seconds", SECONDS), ("peak_bytes", PEAKS), ("save_seconds", SAVES))
    for what, row in table.items()
    for book, rounds in row.items()
}
FEW = 5  # with fewer rounds than this, a run waits for the last rounds
ATTEMPTS = 3
OURS_ALONE = ("SELFATTN_", "CI", "GITHUB_ACTIONS", "COVERAGE", "PYTEST")
WEIGHTS = {
    "stock-j1": 2,
    "jupyter-book": 2,
    "ours": 0.1,
    "off": 0.1,
    "twice": 0.1,
    **dict.fromkeys(("ours-themed", "off-themed"), 0.06),
    **dict.fromkeys(("ours-again", "off-again", "ours-page", "off-page"), 0.03),
    "plain": 0.05,
}


class Failed(Exception):  # noqa: N818 - it is told and counted, and is no error here
    """A run that did not do its work."""


def main() -> int:
    """Measure what is asked for and not yet recorded."""
    options = _parser().parse_args()
    if options.report:
        return _report(options.out)
    plan = planned(options.only, options.books)
    record = Record(options.out, environment(options.jupyter_book, options.jobs))
    record.forget(plan, fresh=options.fresh)
    measure.adopt()
    with tempfile.TemporaryDirectory(prefix="selfattn-bench-") as folder:
        bench = Bench(_setup(Path(folder), options, plan), record)
        left = remaining(plan, record.keys())
        jobs = list(schedule({key: n for key, n in left.items() if key[0] != "save_seconds"}))
        bench.warm(jobs)
        for (measured, what, book), rounds in left.items():
            if measured == "save_seconds":
                bench.save(what, book, rounds)
        for number, job in enumerate(jobs, start=1):
            print(f"[{number}/{len(jobs)}] ", end="", flush=True)
            bench.do(job)
    return _report(options.out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", default="", help=f"ways, of {', '.join(SECONDS)}, live, autobuild"
    )
    parser.add_argument("--books", default="", help=f"books, of {', '.join(BOOKS)}")
    parser.add_argument("--fresh", action="store_true", help="drop the earlier runs of these")
    parser.add_argument("--out", type=Path, default=FILE, help="the file of what is measured")
    parser.add_argument("--jobs", default="auto", help="Sphinx's -j of ours and of off (auto)")
    parser.add_argument("--jupyter-book", type=Path, help="the command in its own environment")
    parser.add_argument("--report", action="store_true", help="only tell what is recorded")
    return parser


def planned(only: str, chosen: str) -> dict[Key, int]:
    """Return the part of the plan that is asked for.

    Raises:
        ValueError: If a name is none.

    """
    known = {what for _, what, _ in PLAN}
    ways, sizes = only.split(",") if only else known, chosen.split(",") if chosen else BOOKS
    if strays := {*ways} - known | {*sizes} - {*BOOKS}:
        raise ValueError(f"there is no {', '.join(sorted(strays))}")
    return {key: n for key, n in PLAN.items() if key[1] in ways and key[2] in sizes}


def remaining(plan: Mapping[Key, int], done: Sequence[Key]) -> dict[Key, int]:
    """Return how many rounds of the plan are left."""
    had = Counter(done)
    return {key: rounds - had[key] for key, rounds in plan.items() if rounds > had[key]}


def schedule(rounds: Mapping[Key, int]) -> Iterator[Key]:
    """Yield the runs in turns; what has few rounds comes in the last ones.

    So the medians that most depends on are there first if the benchmark is interrupted.
    """
    most = max(rounds.values(), default=0)
    for place in range(most):
        keys = [
            key
            for key, number in rounds.items()
            if (place < number if number >= FEW else place >= most - number)
        ]
        keys.sort(key=weight, reverse=bool(place % 2))
        # The longest are at the end of everything, whatever the order of the round.
        keys.sort(key=lambda key: rounds[key] < FEW)
        yield from keys


def weight(key: Key) -> float:
    """Return about how long a run takes, to order a round by."""
    _, what, book = key
    return (30 if book == THIS else int(book)) * WEIGHTS.get(what, 1)


def _setup(workspace: Path, options: argparse.Namespace, plan: Mapping[Key, int]) -> Setup:
    sizes = {int(book) for _, _, book in plan if book != THIS}
    print("obtaining what the generated pages print", flush=True)
    pages = books.documented(books.pages(max(sizes))) if sizes else []
    by_size = {str(size): pages[:size] for size in sizes}
    return Setup(workspace, options.jupyter_book, by_size, options.jobs)


class Bench:
    """Does one run after the other."""

    def __init__(self, setup: Setup, record: Record) -> None:
        self._setup = setup
        self._record = record
        self._variables = {
            name: value for name, value in os.environ.items() if not name.startswith(OURS_ALONE)
        }
        self._kept: dict[str, Path] = {}

    def warm(self, jobs: Sequence[Key]) -> None:
        """Run each way once on its smallest book, so that no measured run is the first to load."""
        first: dict[str, Key] = {}
        for key in sorted(jobs, key=weight):
            if key[1] in COMPETITORS and key[1] != "jupyter":  # one build of this book is enough
                first.setdefault(key[1], ("seconds", *key[1:]))
        for key in first.values():
            print(f"warming up {key[1]}", flush=True)
            try:
                self._run(key)
            except Failed as failure:
                print(f"  failed: {failure}")

    def do(self, key: Key) -> None:
        """Measure once, and record it; a run that fails is recorded too, and tried again."""
        measured, what, book = key
        for _ in range(ATTEMPTS):
            try:
                measurements = self._run(key)
            except Failed as failure:
                self._record.add(what, book, of=measured, failed=str(failure))
                print(f"{what}, book {book}: failed: {failure}", flush=True)
            else:
                self._record.add(what, book, **measurements)
                text = ", ".join(f"{name} {number:.3f}" for name, number in measurements.items())
                print(f"{what}, book {book}: {text}", flush=True)
                return

    def _run(self, key: Key) -> dict[str, float]:
        """Run a way once, and return its seconds or bytes, by their names."""
        measured, what, book = key
        way, out = COMPETITORS[what], self._setup.workspace / "out"
        if way.rebuilds:
            out = self._setup.workspace / f"out-{what}-{book}"
            if not out.exists():
                clear(out)
                self._build(way, book, out)
            if way.change:
                way.change(self._setup, book)
        else:
            clear(out)
        run = self._build(way, book, out, memory=measured == "peak_bytes")
        if book == THIS and not way.rebuilds:
            self._compare(what, out / "jupyter_execute")
        if run.peak_bytes is not None:
            return {"peak_bytes": run.peak_bytes}
        return {"seconds": run.seconds, "processor_seconds": run.processor_seconds}

    def _build(self, way: Competitor, book: str, out: Path, *, memory: bool = False) -> measure.Run:
        """Run the command of a way, and see that it has done its work."""
        command = way.command(self._setup, book, out)
        log = self._setup.workspace / "log"
        run = measure.run(
            command,
            folder=ROOT if book == THIS else self._setup.workspace,
            variables=self._variables | dict(way.variables),
            log=log,
            memory=memory,
        )
        printed = log.read_text("utf-8", "replace")
        problem = f"exit status {run.status}" if run.status else ""
        problem = problem or way.problem(self._setup, book, out, printed)
        if problem or run.left:
            print(printed[-2000:], file=sys.stderr)
            if way.rebuilds:
                shutil.rmtree(out)  # nothing is built again from what went wrong
            raise Failed(problem or f"{run.left} processes were left behind")
        return run

    def _compare(self, what: str, folder: Path) -> None:
        """Keep this book's notebooks, and compare the runners' once there are both."""
        if what not in {"ours", "jupyter"}:
            return
        notebooks = self._setup.workspace / f"notebooks-{what}"
        shutil.rmtree(notebooks, ignore_errors=True)
        shutil.copytree(folder, notebooks)
        self._kept[what] = notebooks
        if len(self._kept) > 1:
            result = differences(self._kept["ours"], self._kept["jupyter"])
            self._record.differences = result | {"commit": self._record.commit}
            print(f"{result['differ']} of {result['outputs']} outputs differ between the runners")

    def save(self, what: str, book: str, rounds: int) -> None:
        """Save a page of a book that is served, and record how long its new text took to appear."""
        folder = self._setup.workspace / f"served-{what}-{book}"
        kind, command = ("checked", saving.OURS) if what == "live" else ("stock", saving.AUTOBUILD)
        served = saving.Served(
            command,
            copy_of_docs(folder) if book == THIS else source(self._setup, kind, book),
            folder / "out",
            SAVED[book],
            self._variables | {"DRIFT_RUNNER": "fork" if what == "live" else "jupyter"},
            self._setup.workspace / "log",
        )
        clear(served.out)
        try:
            for seconds in saving.saves(served, rounds):
                self._record.add(what, book, save_seconds=seconds)
                print(f"{what}, book {book}: save to page {seconds:.3f} s", flush=True)
        except saving.NeverServed as failure:
            print(served.log.read_text("utf-8", "replace")[-2000:], file=sys.stderr)
            self._record.add(what, book, of="save_seconds", failed=str(failure))
            print(f"{what}, book {book}: failed: {failure}", flush=True)


def copy_of_docs(folder: Path) -> Path:
    """Copy this book, so that its pages can be edited, and return where its sources are."""
    left_out = shutil.ignore_patterns(".*", "_build", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=left_out)
    return folder / "docs"


def _report(path: Path) -> int:
    """Print what was measured beside the bars, and return the exit status."""
    # The book draws its figure of the same medians, and Python finds it from its folder.
    command = [sys.executable, "-m", "figures.drawings.build_cost_trace", str(path.resolve())]
    return subprocess.run(command, cwd=ROOT / "docs" / "_ext", check=False).returncode  # noqa: S603 - ours


if __name__ == "__main__":
    sys.exit(main())
