"""List the documented numbers that are closest to where their last digit changes.

These are the numbers that another machine may rightly print otherwise: what the book says of
them today is true, and the author knows which will bite somebody.

    python tools/margins.py [--most N] [--record]
"""

from __future__ import annotations

import argparse
import heapq
from typing import TYPE_CHECKING, NamedTuple

from mutation import book
from record import write_table

from sphinx_drift.compare.compare import without_marks
from sphinx_drift.compare.floats import UNITS, Precise
from sphinx_drift.compare.tokens import TokenKind, indices, plain, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutants import Output


class Margin(NamedTuple):
    """A printed number, and how far its value is from printing otherwise."""

    units: float
    source: str
    element: tuple[int, ...]
    printed: str
    precise: str


def main() -> None:
    """Print the closest numbers, the closest first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=20, help="how many to list (20)")
    parser.add_argument("--record", action="store_true", help="write docs/_data/margins.json")
    options = parser.parse_args()
    environment: dict[str, str] = {}
    all_margins = [margin for output in book(environment) for margin in margins(output)]
    closest = heapq.nsmallest(options.most, all_margins)
    for margin in closest:
        place = f"{margin.source} {list(margin.element)}"
        print(f"{margin.units:9.1f} units  {margin.printed:>12}  {margin.precise:>24}  {place}")
    near = sum(margin.units < UNITS for margin in all_margins)
    print(f"{len(all_margins)} numbers; {near} are closer than {UNITS} units")
    if options.record:
        rows = [
            [m.printed, round(m.units, 1), str(list(m.element)), m.source.removeprefix("docs/")]
            for m in closest[:10]
        ]
        columns = ["printed", "units", "element", "output"]
        write_table("margins", "nox -s margins", columns, rows, environment)


def margins(output: Output) -> Iterator[Margin]:
    """Yield the margin of each float of an output that is printed with fewer digits than it has."""
    text, marks = without_marks(plain(output.precise))
    printed, full = tokens(output.executed), tokens(text)
    if len(printed) != len(full):
        return
    precise = Precise(full, marks)
    where = indices(printed, range(len(printed)))
    for place, token in enumerate(printed):
        if token.kind is not TokenKind.FLOAT:
            continue
        units = precise.margin(place, token.text)
        if units is not None:
            yield Margin(units, output.source, where[place], token.text, full[place].text)


if __name__ == "__main__":
    main()
