"""Find the sentences that still say a number that a cell no longer prints."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import DIGITS
from sphinx_drift.model import Kind
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sphinx_drift.model import Outcome, Page

_NUMBER = re.compile(rf"(?<![\w.])(?P<number>[-\u2212]?{DIGITS})(?P<percent>\s?%)?(?![\w])")
_FEWEST = 2
"""Digits of a number that says which one it is: a single digit is said of anything."""


def outdated_numbers(
    path: Path, text: str, outcomes: Iterable[Outcome], page: Page
) -> Iterator[str]:
    """Yield the places where prose says a number, or its rounding, that an update has replaced.

    Args:
        path: The file.
        text: What it is going to hold.
        outcomes: What was found before the update.
        page: The cells and expectations of that text.

    """
    differences = (d for o in outcomes if o.kind is Kind.DRIFT for d in o.verdict.differences)
    replaced = {d.documented: d.executed for d in differences if d.number}
    rows = (_in_notebook(text) if page.stored else _in_page(text, page)) if replaced else ()
    for place, row in rows:
        for said in _NUMBER.finditer(row):
            for old, new in replaced.items():
                if _says(said, old) and not _says(said, new):
                    yield f"{path}:{place}: still says {said[0]}: {old} is {new} now"
                    break


def _in_page(text: str, page: Page) -> Iterator[tuple[str, str]]:
    """Yield the lines of a page outside its cells and expectations, each with its number."""
    lines = lines_of(text)
    code = {n for c in page.cells for n in range(c.line, c.end_line + 1)}
    code |= {n for c in page.cells for e in c.expectations for n in range(e.line, e.end_line + 2)}
    start = lines.index("---", 1) + 1 if lines[:1] == ["---"] and "---" in lines[1:] else 0
    yield from ((str(n), line) for n, line in enumerate(lines, 1) if n > start and n not in code)


def _in_notebook(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a notebook's text, each with the number of its cell."""
    cells: Sequence[dict[str, object]] = json.loads(text.removeprefix("\ufeff")).get("cells", [])
    for number, cell in enumerate(cells, start=1):
        source = cell.get("source") if cell.get("cell_type") == "markdown" else ""
        whole = "".join(source) if isinstance(source, list) else str(source)
        yield from ((f"cell {number} of all", line) for line in lines_of(whole))


def _says(said: re.Match[str], number: str) -> bool:
    """Whether a number in a sentence is one that was printed, or a rounding of it."""
    try:
        value = Decimal(said["number"].replace("\N{MINUS SIGN}", "-"))
        printed = Decimal(number.rstrip("j"))
    except InvalidOperation:
        return False
    if said["percent"]:
        value = value.scaleb(-2)
    if not printed.is_finite() or len(value.as_tuple().digits) < _FEWEST:
        return False
    exponent = value.as_tuple().exponent
    half = Decimal((0, (5,), int(exponent) - 1))
    return abs(value - printed) <= (half if printed != printed.to_integral_value() else 0)
