"""List the sentences of a page that say an old number, or nearly one that it prints."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.source.markdown import paragraphs_of

_WRITTEN_NUMBER = re.compile(
    r"""
    (?<![\w.^]) (?<!\d[:/])
    (?P<digits> (?> \d{1,3} (?:,\d{3})+ (?:\.\d+)? (?![\d,]) | \d*\.?\d+ (?:[eE][-+]?\d{1,2})? ) )
    (?! [.:/]\d | [\w^\u2070-\u207f\xb2\xb3\xb9] | -[a-z] | \s?[x*\xb7\xd7]\s?10 )
    (?P<percent> \s?\\?% )?
    """,
    re.VERBOSE,
)
"""A number, and no piece of a date, of a version or of a name."""
_NO_QUOTATION = re.compile(
    r"""
    (?P<ticks>`+) .+? (?P=ticks)  # code and roles
    | \$\$ .+? \$\$ | (?<!\\)\$ (?!\s) [^$]+? (?<!\s)\$ (?!\d)  # formulas
    | \]\([^)]*\) | https?://\S+ | <[^>]+>  # addresses
    | \d+-\d+-\d+  # dates
    | \b(?:sec(?:tion)?|ch(?:apter)?|fig|figure|listing|table|exercise|eq(?:uation)?|step|version
        |python|(?:py)?torch|numpy)s?\.? \s* \d[\d.]*  # numbers of sections and versions
    | (?:[<>\u2264\u2265~\u2248] | \b(?:than|below|under|above|over|least|most|between|roughly))
        \s* \d[\d.,]*  # bounds and estimates
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""What no cell need have printed, though it has digits."""
_WORD = re.compile(r"[^\W\d_]{2}")
_FEWEST, _MOST = 2, 25
"""Digits of a number that says which one it is, and characters that `Decimal` keeps."""
_ABOVE = 2
"""How many cells above a sentence it may speak of."""
_NEARLY, _ALIKE = Decimal("0.05"), Decimal("0.1")
"""How far a number may be from the printed one, as a fraction of it, and the next one must."""


class Number(NamedTuple):
    """A number in a text."""

    text: str
    start: int
    values: tuple[Decimal, ...]
    """What it may mean, without its sign: 31 % is 31, and 0.31."""

    @property
    def is_decimal(self) -> bool:
        """Whether it has decimals, and isn't 0."""
        return bool(self.values[0]) and _exponent(self.values[0]) < 0

    def is_near(self, known: Collection[Decimal], units: str) -> bool:
        """Whether one of some numbers is within so many units of its last digit."""
        return any(
            abs(other - value) <= Decimal(units).scaleb(_exponent(value))
            for value in self.values
            for other in known
        )


class Said(NamedTuple):
    """A number that a page says outside code."""

    number: Number
    where: str
    """Its file and line, for a message."""
    above: int
    """How many cells are above it."""
    has_words: bool
    """Whether it is in a sentence: numbers of a table are often like printed ones."""


def numbers_in(text: str) -> Iterator[Number]:
    r"""Yield the numbers of a text.

    Examples:
        >>> [number.text for number in numbers_in("From 0.31 to 43 %, at 1,250 rows.")]
        ['0.31', '43 %', '1,250']

    """
    for match in _WRITTEN_NUMBER.finditer(text):
        if len(match["digits"]) <= _MOST:
            value = Decimal(match["digits"].replace(",", ""))
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
    known = _known(page, _outputs(page, executed))
    for said in _said(path, text, page, executed) if replaced else ():
        number = said.number
        if len(number.values[0].as_tuple().digits) < _FEWEST or number.is_near(known, "0.5"):
            continue
        found = [change for change in replaced if number.is_near(change[0].values, "0.5")]
        for old, new, cell in found[:1]:
            now = f"{old.text} is {new} now" if new else f"{old.text} isn't printed any more"
            yield f"{said.where}: still says {number.text}: {now} in {_named(page, cell)}"


def near_numbers(path: Path, text: str, page: Page, executed: NotebookNode) -> Iterator[str]:
    """Yield where prose says a decimal that a cell above it nearly prints.

    It is within 5 % of one printed number, and no other is within 10 %. A number that rounds or
    cuts one of the page's outputs or code is right.
    """
    outputs = _outputs(page, executed)
    known = _known(page, outputs)
    for said in _said(path, text, page, executed):
        if not (said.has_words and said.number.is_decimal) or said.number.is_near(known, "0.999"):
            continue
        cells = range(max(said.above - _ABOVE, 0) + 1, said.above + 1)
        printed = [(other, cell) for cell in cells for other in numbers_in(outputs[cell])]
        alike = sorted(
            (off, other.text, cell)
            for other, cell in printed
            if other.is_decimal and (off := _off(said.number, other)) <= _ALIKE
        )
        if alike and alike[0][0] <= _NEARLY and len({number for _, number, _ in alike}) == 1:
            _, number, cell = alike[0]
            yield f"{said.where}: says {said.number.text}, and {_named(page, cell)} prints {number}"


def _off(said: Number, printed: Number) -> Decimal:
    """Return how far a number in a sentence is off a printed one, as a part of it.

    With fewer decimals, what is printed is another number, infinitely far off.
    """
    value = printed.values[0]
    coarser = [read for read in said.values if _exponent(value) <= _exponent(read)]
    return min((abs(value - read) / read for read in coarser), default=Decimal("inf"))


def _exponent(value: Decimal) -> int:
    """Return the power of ten of a number's last digit."""
    return int(value.as_tuple().exponent)


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
    read = {cell.number: read_outputs(executed.cells[cell.index].outputs) for cell in page.cells}
    return {n: "\n".join(text for _, text in output.pieces) for n, output in read.items()}


def _known(page: Page, outputs: dict[int, str]) -> set[Decimal]:
    """Return the numbers of a page's outputs and code."""
    texts = (*outputs.values(), *(cell.source for cell in page.cells))
    return {value for text in texts for number in numbers_in(text) for value in number.values}


def _named(page: Page, number: int) -> str:
    """Name a cell, and the line of a page on which its output begins."""
    cell = page.cells[number - 1]
    first = cell.expectations[0].body_line if cell.expectations else cell.line
    return f"cell {number}" if page.is_notebook else f"cell {number} (line {first})"


def _said(path: Path, text: str, page: Page, executed: NotebookNode) -> Iterator[Said]:
    """Yield each number that a page says outside code."""
    for paragraph, line, above in _sentences(text, page, executed):
        for number in numbers_said(paragraph):
            row = line + paragraph.count("\n", 0, number.start)
            where = f"{path}:{row}" if line else f"{path}, below cell {above}"
            yield Said(number, where, above, bool(_WORD.search(paragraph)))


def _sentences(text: str, page: Page, executed: NotebookNode) -> Iterator[tuple[str, int, int]]:
    """Yield what a page says outside code, with its line and how many cells are above."""
    if not page.is_notebook:
        for paragraph, line in paragraphs_of(text.removeprefix("\ufeff")):
            yield paragraph, line, sum(cell.line < line for cell in page.cells)
        return
    above = 0
    for cell in executed.cells:
        above += cell.cell_type == "code"
        for paragraph, _ in paragraphs_of(cell.source) if cell.cell_type == "markdown" else ():
            yield paragraph, 0, above
