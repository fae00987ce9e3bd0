"""List the sentences of a page that say an old number, or nearly one that it prints."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.model import Kind
from sphinx_drift.output.printed_text import printed
from sphinx_drift.source.markdown import paragraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.model import Outcome, Page

_NUMBER = re.compile(
    r"""
    (?<![\w.^]) (?<!\d[:/])
    (?P<digits> (?> \d{1,3} (?:,\d{3})+ (?:\.\d+)? (?![\d,]) | \d*\.?\d+ (?:[eE][-+]?\d+)? ) )
    (?! [.:/]\d | [\w^\u2070-\u207f\xb2\xb3\xb9] | -[a-z] | \s?[x*\xb7\xd7]\s?10 )
    (?P<percent> \s?\\?% )?
    """,
    re.VERBOSE,
)
"""A number, and no piece of a date, of a version or of a name."""
_LABEL = (
    r"(?:sec(?:tion)?|ch(?:apter)?|fig|figure|listing|table|exercise|eq(?:uation)?|step|version"
    r"|python|(?:py)?torch|numpy)"
)
_NO_QUOTATION = re.compile(
    rf"""
    (?P<ticks>`+) .+? (?P=ticks)  # code and roles
    | \$\$ .+? \$\$ | (?<!\\)\$ (?!\s) [^$]+? (?<!\s)\$ (?!\d)  # formulas
    | \]\([^)]*\) | https?://\S+ | <[^>]+>  # addresses
    | \d+-\d+-\d+ | \b{_LABEL}s?\.? \s* \d[\d.]*  # dates, numbers of sections and versions
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""What no cell has printed, though it has digits."""
_LOOSE = re.compile(
    r"(?:[<>\u2264\u2265~\u2248]|\b(?:than|below|under|above|over|least|most|between|roughly))\s*\Z",
    re.IGNORECASE,
)
"""What shows, just before it, that nothing need have printed a number: a bound, an estimate."""
_FEWEST, _MOST, _LARGEST = 2, 25, 400
"""Digits of a number that says which one it is, those that `Decimal` keeps, a float's exponent."""
_ABOVE = 2
"""How many cells above a sentence it may speak of."""
_NEARLY, _ALIKE = Decimal("0.05"), Decimal("0.1")
"""How far a number may be from the printed one, in parts of it, and how far the next one must."""


class Number(NamedTuple):
    """A number in a text."""

    text: str
    start: int
    values: tuple[Decimal, ...]
    """What it may mean, without its sign: 31 % is 31, and 0.31."""

    def is_near(self, known: Sequence[Decimal], units: str) -> bool:
        """Whether one of some sorted numbers is so many units of its last digit away at most."""
        for value in self.values:
            reach = Decimal(units).scaleb(_exponent(value))
            place = bisect_left(known, value - reach)
            if place < len(known) and known[place] <= value + reach:
                return True
        return False


class _Sentence(NamedTuple):
    """A paragraph, or what stands in a field of a table."""

    text: str
    line: int
    """On which it begins."""
    above: int
    """How many code cells are above it."""

    def line_of(self, number: Number) -> int:
        return self.line + self.text.count("\n", 0, number.start)


def numbers_in(text: str) -> Iterator[Number]:
    r"""Yield the numbers of a text.

    Examples:
        >>> [number.text for number in numbers_in("From 0.31 to 43 %, at 1,250 rows.")]
        ['0.31', '43 %', '1,250']

    """
    for match in _NUMBER.finditer(text):
        value = Decimal(match["digits"].replace(",", ""))
        if len(value.as_tuple().digits) <= _MOST and abs(value.adjusted()) <= _LARGEST:
            values = (value, value.scaleb(-2)) if match["percent"] else (value,)
            yield Number(match[0], match.start(), values)


def numbers_said(sentence: str) -> Iterator[Number]:
    """Yield the numbers of a sentence that may be quoted from an output.

    Examples:
        >>> [n.text for n in numbers_said("In Section 3.4, `x` is 0.31, see $0.2$ and Python 3.")]
        ['0.31']

    """
    return numbers_in(_NO_QUOTATION.sub(lambda match: "_" * len(match[0]), sentence))


def outdated_numbers(
    path: Path, text: str, page: Page, executed: NotebookNode, outcomes: Sequence[Outcome]
) -> Iterator[str]:
    """Yield where prose says a number, or its rounding, that an update has replaced.

    Args:
        path: The file.
        text: What it is going to hold.
        page: The cells and expectations of that text.
        executed: Its notebook, as it was run.
        outcomes: What was found before the update.

    """
    replaced = [*_replaced(page, outcomes)]
    known = _known(page, _outputs(page, executed)) if replaced else []
    for sentence in _sentences(text, page) if replaced else ():
        for said in numbers_said(sentence.text):
            if len(said.values[0].as_tuple().digits) < _FEWEST or said.is_near(known, "0.5"):
                continue
            for old, new, cell in replaced:
                if said.is_near(old.values, "0.5"):
                    now = f"is {new} now" if new else "isn't printed any more"
                    change = f"{old.text} {now} in {_named(page, cell)}"
                    yield f"{path}:{sentence.line_of(said)}: still says {said.text}: {change}"
                    break


def near_numbers(path: Path, text: str, page: Page, executed: NotebookNode) -> Iterator[str]:
    """Yield where prose says a decimal that a cell above it nearly prints.

    That is within 5 % of it, and nothing else that is printed there is within 10 %; what rounds or
    cuts a number that the page's outputs and code say is right.
    """
    outputs = _outputs(page, executed)
    known = _known(page, outputs)
    decimals = {cell: [*filter(_is_decimal, numbers_in(text))] for cell, text in outputs.items()}
    for sentence in _sentences(text, page):
        cells = range(sentence.above - _ABOVE + 1, sentence.above + 1)
        for said in filter(_is_decimal, numbers_said(sentence.text)):
            if _LOOSE.search(sentence.text, 0, said.start) or said.is_near(known, "0.999"):
                continue
            alike = {
                (abs(number.values[0] - value) / value, number.text, cell)
                for cell in cells
                for number in decimals.get(cell, ())
                for value in said.values
                if abs(number.values[0] - value) <= value * _ALIKE
                and _exponent(number.values[0]) <= _exponent(value)  # printed digits are no fewer
            }
            if len({text for _, text, _ in alike}) == 1 and min(alike)[0] <= _NEARLY:
                _, number, cell = min(alike)
                prints = f"{_named(page, cell)} prints {number}"
                yield f"{path}:{sentence.line_of(said)}: says {said.text}, and {prints}"


def _exponent(value: Decimal) -> int:
    """Return the power of ten of a number's last digit."""
    return int(value.as_tuple().exponent)


def _is_decimal(number: Number) -> bool:
    return bool(number.values[0]) and _exponent(number.values[0]) < 0


def _replaced(page: Page, outcomes: Iterable[Outcome]) -> Iterator[tuple[Number, str, int]]:
    """Yield the numbers that are documented no more, with what is printed now, and the cell."""
    varying = {outcome.cell for outcome in outcomes if outcome.kind is Kind.UNREPEATABLE}
    for outcome in outcomes:
        if outcome.kind is Kind.DRIFT and outcome.cell not in varying:
            for difference in outcome.verdict.differences:
                new = difference.executed if difference.number else ""
                for old in numbers_in(difference.documented):
                    yield old, new, outcome.cell
        elif outcome.kind is Kind.NO_OUTPUT and page.is_notebook:
            for old in numbers_in(outcome.documented):
                yield old, "", outcome.cell


def _outputs(page: Page, executed: NotebookNode) -> dict[int, str]:
    """Return what each cell prints, in all its forms, by the cells' numbers."""
    read = {cell.number: printed(executed.cells[cell.index].outputs) for cell in page.cells}
    return {n: "\n".join(text for _, text in output.pieces) for n, output in read.items()}


def _known(page: Page, outputs: dict[int, str]) -> list[Decimal]:
    """Return the numbers of a page's outputs and code, sorted."""
    texts = (*outputs.values(), *(cell.source for cell in page.cells))
    return sorted({value for text in texts for n in numbers_in(text) for value in n.values})


def _named(page: Page, number: int) -> str:
    """Name a cell, and the line on which its output begins, or in a notebook itself."""
    cell = page.cells[number - 1]
    first = cell.expectations[0].body_line if cell.expectations else cell.line
    return f"cell {number} (line {first})"


def _sentences(text: str, page: Page) -> Iterator[_Sentence]:
    """Yield what a page says outside code; lines of a notebook are those of its file."""
    text = text.removeprefix("\ufeff")
    if not page.is_notebook:
        for paragraph, line in paragraphs_of(text):
            yield _Sentence(paragraph, line, sum(cell.line < line for cell in page.cells))
        return
    above = at = 0
    for cell in json.loads(text).get("cells", []):
        above += cell["cell_type"] == "code"
        source = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
        for paragraph, _ in paragraphs_of(source):
            row = json.dumps(paragraph.partition("\n")[0], ensure_ascii=False)[1:-1]
            at = max(at, text.find(row, at))
            yield _Sentence(paragraph, text.count("\n", 0, at) + 1, above)
