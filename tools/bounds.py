"""Find how far rounding moves a number: run many cells in all lanes, and try bounds.

For each bound it says which share of the outputs that differ between lanes *portable* accepts,
and which share of the numbers that are altered by one in their last digit it catches. Then it
chooses the bound by half of the kinds of cells, and counts what that bound refuses of the other
half, again and again. The tables go to docs/_data/bounds.json and held-out.json, which a page
shows.

    python tools/bounds.py [--record] [--show UNITS]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cells import cells
from lanes import LANES
from mutants import mutants
from record import write_table

from sphinx_drift.compare import floats
from sphinx_drift.compare.compare import Policy, Verdict, compare
from sphinx_drift.run.injected import report_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BOUNDS = (4, 8, 16, 32, 64, 128, 256)
LEFT_OUT = ("as it is", "40 columns", "200 columns", "another locale", "another hash seed")
MOST_MUTANTS = 12
HALVES = 1000
ALTERED = ("last digit +1", "last digit -1")


class Pair(NamedTuple):
    """A documented output, and an executed one with its full precision."""

    kind: str
    lane: str
    documented: str
    executed: str
    precise: str

    def verdict(self) -> Verdict:
        """Return what *portable* makes of it."""
        return compare(self.documented, self.executed, policy=Policy.PORTABLE, precise=self.precise)


def main() -> None:
    """Try each bound."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write docs/_data/bounds.json")
    parser.add_argument("--show", type=int, metavar="UNITS", help="list what this bound refuses")
    options = parser.parse_args()
    names = ["as it is", *(name for name in LANES if name not in LEFT_OUT)]
    results = {name: _run(LANES[name]) for name in names}
    moved = list(_moved(results))
    altered = list(_altered(results["as it is"]))
    in_use = floats.UNITS
    needed: dict[str, list[int]] = {pair.kind.rpartition(" ")[0]: [] for pair in moved}
    rows = []
    for bound in (options.show,) if options.show else BOUNDS:
        floats.UNITS = bound
        accepted = [pair.verdict().same for pair in moved]
        refused = [pair for pair, same in zip(moved, accepted, strict=True) if not same]
        for pair, same in zip(moved, accepted, strict=True):
            needed[pair.kind.rpartition(" ")[0]] += [bound] * same
        caught = sum(not pair.verdict().same for pair in altered)
        shares = (1 - len(refused) / len(moved), caught / len(altered))
        rows.append([bound, *(f"{share:.1%}" for share in shares)])
        print(f"{bound:>4} units: {rows[-1][1]} of {len(moved)} outputs accepted,", end=" ")
        print(f"{rows[-1][2]} of {len(altered)} altered digits caught")
        for pair in refused if options.show else ():
            print(f"  {pair.kind} ({pair.lane})")
            for d in pair.verdict().differences:
                print(f"    {d.documented} -> {d.executed}: {d.note}")
    floats.UNITS = in_use
    print(f"{len(cells())} cells; {in_use} units are in use")
    if options.show:
        return
    held_out = list(_held_out({kind: _least(bounds) for kind, bounds in needed.items()}))
    for bound, times, share in held_out:
        print(f"{bound:>4} units chosen by one half: {times}; refused of the other: {share}")
    if options.record:
        columns = ["units", "outputs accepted", "altered digits caught"]
        write_table("bounds", "nox -s bounds", columns, rows, report_environment())
        columns = ["units by one half", "how often", "refused of the other"]
        write_table("held-out", "nox -s bounds", columns, held_out, report_environment())


def _least(accepting: Sequence[int]) -> list[int]:
    """Return for each output of a kind the smallest bound that accepts it.

    Args:
        accepting: The bounds, from the smallest on, each as often as it accepts an output.

    """
    counts = [accepting.count(bound) for bound in BOUNDS]
    return [
        b for b, n, less in zip(BOUNDS, counts, [0, *counts], strict=False) for _ in range(n - less)
    ]


def _held_out(needed: dict[str, list[int]]) -> Iterator[list[Any]]:
    """Yield each bound that a half of the kinds needs, how often, and what it refuses elsewhere."""
    draw = random.Random(123)  # noqa: S311 - a sample
    shares: dict[int, list[float]] = {bound: [] for bound in BOUNDS}
    for _ in range(HALVES):
        kinds = draw.sample(sorted(needed), len(needed))
        half = len(kinds) // 2
        bound = max(each for kind in kinds[:half] for each in needed[kind])
        others = [each for kind in kinds[half:] for each in needed[kind]]
        shares[bound].append(sum(each > bound for each in others) / len(others))
    for bound, refused in shares.items():
        if refused:
            often, mean = len(refused) / HALVES, sum(refused) / len(refused)
            yield [bound, f"{often:.1%}", f"{mean:.1%}"]


def _run(settings: dict[str, str]) -> list[tuple[str, str]]:
    """Return what each cell prints under some settings, and at full precision."""
    completed = subprocess.run(  # noqa: S603 - it is ours
        [sys.executable, str(Path(__file__).with_name("run_cells.py"))],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        check=True,
    )
    return [(text, precise) for text, precise in json.loads(completed.stdout)]


def _moved(results: dict[str, list[tuple[str, str]]]) -> Iterator[Pair]:
    """Yield the outputs that a lane prints otherwise, both ways."""
    base = results.pop("as it is")
    for lane, printed in results.items():
        for cell, here, there in zip(cells(), base, printed, strict=True):
            if not compare(here[0], there[0]).same:
                yield Pair(f"{cell.kind} {cell.size}", lane, here[0], *there)
                yield Pair(f"{cell.kind} {cell.size}", f"from {lane}", there[0], *here)
    results["as it is"] = base


def _altered(printed: Sequence[tuple[str, str]]) -> Iterator[Pair]:
    """Yield outputs of which one number is altered by one in its last digit."""
    draw = random.Random(123)  # noqa: S311 - a sample
    for cell, (text, precise) in zip(cells(), printed, strict=True):
        candidates: list[Any] = [mutant for mutant in mutants(text) if mutant.kind in ALTERED]
        for mutant in draw.sample(candidates, min(MOST_MUTANTS, len(candidates))):
            yield Pair(f"{cell.kind} {cell.size}", "altered", mutant.text, text, precise)


if __name__ == "__main__":
    main()
