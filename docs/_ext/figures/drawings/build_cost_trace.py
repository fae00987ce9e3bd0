"""What the recorded benchmark of builds says: medians, ratios, and the bars beside them."""

from __future__ import annotations

import functools
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE = Path(__file__).resolve().parents[3] / "_data" / "cost.json"
BOOKS = ("1", "10", "30", "100", "300", "1000", "this")
SIZES = BOOKS[:-1]
NOTHING = "—"
WAYS = {
    "off": "nothing executed",
    "ours": "executed and checked",
    "off-themed": "nothing executed, this book's theme",
    "ours-themed": "executed and checked, this book's theme",
    "off-again": "nothing executed, nothing changed",
    "ours-again": "executed and checked, nothing changed",
    "off-page": "nothing executed, one page changed",
    "ours-page": "executed and checked, one page changed",
    "twice": "executed twice",
    "plain": "one plain Python process, no pages",
    "nbval": "nbval, two workers, no pages",
    "nbmake": "nbmake, two workers, no pages",
    "stock-j2": "MyST-NB, `-j 2`",
    "stock-j1": "MyST-NB, `-j 1`",
    "jupyter-book": "Jupyter Book 1",
    "jupyter": "checked, by Jupyter kernels",
}
UNITS = {"seconds": (1.0, "s"), "peak_bytes": (1e-6, "MB"), "save_seconds": (1.0, "s")}

Named = tuple[str, str, str]
"""What was measured, of which way, on which book."""


class Bar(NamedTuple):
    """A ratio of two medians, and what it may be at most."""

    label: str
    above: Named
    below: Named
    most: float
    enough: float = 0.0
    """What is reached whatever the ratio, if the first median is no larger."""


def _bar(label: str, measured: str, book: str, ways: tuple[str, str], most: float) -> Bar:
    above, below = ((measured, way, book) for way in ways)
    return Bar(label, above, below, most)


CHECKED = "checked ÷ nothing executed"
PLAIN, THEMED, AGAIN = (("ours" + end, "off" + end) for end in ("", "-themed", "-again"))
SMALL_AND_THIS = (("10 pages", "10"), ("this book", "this"))
BARS = (
    *(
        _bar(f"{book} pages, {CHECKED}", "seconds", book, ways, most)
        for book, ways, most in (
            *(("10", PLAIN, 1.4), ("30", PLAIN, 1.3), ("100", PLAIN, 1.3)),
            *(("300", THEMED, 1.3), ("1000", THEMED, 1.3)),
        )
    ),
    Bar(
        "1000 pages ÷ 100 pages, checked",
        ("seconds", "ours-themed", "1000"),
        ("seconds", "ours-themed", "100"),
        12,
    ),
    _bar(f"this book, {CHECKED}", "seconds", "this", PLAIN, 1.5),
    *(
        _bar(f"{book} pages, nothing changed, {CHECKED}", "seconds", book, AGAIN, 1.25)
        for book in ("10", "30", "100", "300", "1000")
    ),
    _bar(f"this book, nothing changed, {CHECKED}", "seconds", "this", AGAIN, 1.25)._replace(
        enough=3.0
    ),
    *(
        _bar(f"{book} pages, checked ÷ MyST-NB `-j 2`", "seconds", book, ("ours", "stock-j2"), most)
        for book, most in (("10", 0.2), ("30", 0.08))
    ),
    *(
        _bar(f"{name}, `--twice` ÷ once", "seconds", book, ("twice", "ours"), 1.1)
        for name, book in SMALL_AND_THIS
    ),
    *(
        _bar(
            f"{name}, save to page ÷ sphinx-autobuild",
            *("save_seconds", book, ("live", "autobuild"), 0.15),
        )
        for name, book in SMALL_AND_THIS
    ),
    _bar(
        "10 pages, memory at the peak ÷ MyST-NB `-j 2`",
        *("peak_bytes", "10", ("ours", "stock-j2"), 0.65),
    ),
)
DIFFERING = "outputs of this book that differ between the runners"


@dataclass(frozen=True)
class BuildCost:
    """`runs` holds the numbers of all runs that did their work, by what they measured."""

    environment: dict[str, Any]
    runs: dict[Named, list[float]]
    failed: dict[Named, int]
    commits: tuple[str, ...]
    days: tuple[str, ...]
    differences: dict[str, Any]

    def median(self, name: Named) -> float | None:
        """Return the median of the runs, if there are any."""
        return median(self.runs[name]) if self.runs.get(name) else None

    def number(self, path: str) -> float:
        """Return a median in seconds or megabytes at a path such as `seconds.ours.10`.

        Raises:
            KeyError: If it was not measured.

        """
        measured, way, book = path.split(".")
        found = self.median((measured, way, book))
        if found is None:
            raise KeyError(path)
        return found * UNITS[measured][0]

    def ratio(self, bar: Bar) -> float | None:
        """Return a bar's measured ratio, if both sides were measured."""
        above, below = self.median(bar.above), self.median(bar.below)
        return None if above is None or below is None else above / below

    def suffices(self, bar: Bar) -> bool:
        """Tell whether what a bar is about is small enough by itself."""
        above = self.median(bar.above)
        return above is not None and above <= bar.enough


def build_cost() -> BuildCost:
    """Read the record as it stands now."""
    return read(FILE.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=1)
def read(text: str) -> BuildCost:
    """Read a record."""
    said = json.loads(text)
    runs: dict[Named, list[float]] = defaultdict(list)
    failed: dict[Named, int] = defaultdict(int)
    for run in said["runs"]:
        if "failed" in run:
            failed[run["of"], run["what"], run["book"]] += 1
            continue
        for measured in UNITS:
            if measured in run:
                runs[measured, run["what"], run["book"]].append(run[measured])
    return BuildCost(
        said["environment"],
        dict(runs),
        dict(failed),
        _distinct(run["commit"] for run in said["runs"] if "commit" in run),
        _distinct(run["at"][:10] for run in said["runs"]),
        said["differences"],
    )


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))


def bar_rows(cost: BuildCost) -> list[list[str]]:
    """Return the rows of bars: what, at most, measured and whether that is within, runs."""
    rows = []
    for bar in BARS:
        runs = "/".join(str(len(cost.runs.get(name, ()))) for name in (bar.above, bar.below))
        rows.append(
            [
                bar.label,
                _limit(bar),
                _judged(cost.ratio(bar), bar.most, suffices=cost.suffices(bar)),
                runs,
            ]
        )
    found = cost.differences
    label = f"{DIFFERING}, of {found['outputs']}" if found else DIFFERING
    return [*rows, [label, "0", _judged(found.get("differ"), 0), "1/1" if found else "0/0"]]


def _limit(bar: Bar) -> str:
    return f"{bar.most:g}" + (f", or {bar.enough:g} s" if bar.enough else "")


def _judged(measured: float | None, most: float, *, suffices: bool = False) -> str:
    """Return a measured number, and whether it is within its bar; no rounding makes it so."""
    if measured is None:
        return NOTHING
    text = str(measured) if isinstance(measured, int) else short(measured)
    return f"{text} ✓" if measured <= most or suffices else f"{text} over"


def short(ratio: float) -> str:
    """Write a ratio with as many digits as its bar has and one more."""
    return f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}"  # noqa: PLR2004 - 0.08 is a bar


def time_rows(cost: BuildCost) -> list[list[str]]:
    """Return the rows of times: the way, then for each book its median and number of runs."""
    return [
        [label, *(_timed(cost, ("seconds", way, book)) for book in BOOKS)]
        for way, label in WAYS.items()
        if any(("seconds", way, book) in cost.runs for book in BOOKS)
    ]


OTHERS = (
    ("save to page by `nox -s live`, s", "save_seconds", "live"),
    ("save to page by sphinx-autobuild, s", "save_seconds", "autobuild"),
    ("memory, executed and checked, MB", "peak_bytes", "ours"),
    ("memory, MyST-NB `-j 2`, MB", "peak_bytes", "stock-j2"),
)
OTHER_BOOKS = ("10", "30", "this")


def other_rows(cost: BuildCost) -> list[list[str]]:
    """Return the rows of what is no time of a build: saves, and memory at its peak."""
    return [
        [label, *(_timed(cost, (measured, way, book)) for book in OTHER_BOOKS)]
        for label, measured, way in OTHERS
    ]


def _timed(cost: BuildCost, name: Named) -> str:
    found = cost.median(name)
    if found is None:
        return NOTHING
    lost = f", {cost.failed[name]} failed" if name in cost.failed else ""
    number = found * UNITS[name[0]][0]
    shown = f"{number:.0f}" if name[0] == "peak_bytes" else seconds(number)
    return f"{shown}\n({len(cost.runs[name])}{lost})"


def seconds(number: float) -> str:
    """Write seconds with three digits where they mean something."""
    return f"{number:.2f}" if number < 10 else f"{number:.1f}"  # noqa: PLR2004 - two digits


def origin(cost: BuildCost) -> str:
    """Say on what, when and with which versions the runs were made."""
    if not cost.runs:
        return "nothing yet."
    said = cost.environment
    versions = [f"{name} {number}" for name, number in said["versions"].items()]
    processors = said["logical_processors"]
    return (
        f"on {' and '.join(cost.days)} at commit {' and '.join(cost.commits)}: "
        f"{said['processor']}, {processors} logical processors, {said['memory_gib']} GiB, "
        f"{said['system']}, `-j {said['jobs']}` where no other is named, "
        f"Python {said['python']}, {', '.join(versions)}."
    )


BAR_COLUMNS = ("what", "at most", "measured", "runs")
TIME_COLUMNS = ("seconds", *(f"{book} p." for book in SIZES), "this book")
OTHER_COLUMNS = ("", "10 p.", "30 p.", "this book")


def markdown(cost: BuildCost) -> str:
    """Return both tables as text for a terminal or a note."""
    tables = (
        _table(BAR_COLUMNS, bar_rows(cost)),
        _table(TIME_COLUMNS, time_rows(cost)),
        _table(OTHER_COLUMNS, other_rows(cost)),
    )
    return "\n\n".join((*tables, f"Measured {origin(cost)}"))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("\n", " ") for line in lines)


if __name__ == "__main__":
    sys.stdout.write(markdown(read(Path(sys.argv[1]).read_text(encoding="utf-8"))) + "\n")
