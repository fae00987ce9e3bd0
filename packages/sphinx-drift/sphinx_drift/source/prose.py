"""Find the sentences of a page that say an old number, or nearly one that it prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sphinx_drift.model import Kind
from sphinx_drift.output.printed_text import printed
from sphinx_drift.source.markdown import paragraphs_of
from sphinx_drift.source.said import (
    Replaced,
    Sentence,
    known_in,
    nearly,
    numbers_in,
    outdated,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from decimal import Decimal
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.model import Outcome, Page


def outdated_numbers(
    path: Path, text: str, page: Page, executed: NotebookNode, outcomes: Iterable[Outcome]
) -> Iterator[str]:
    """Yield where prose says a number, or its rounding, that an update has replaced.

    Args:
        path: The file.
        text: What it is going to hold.
        page: The cells and expectations of that text.
        executed: Its notebook, as it was run.
        outcomes: What was found before the update.

    """
    if not (replaced := [*_replaced(page, [*outcomes])]):
        return
    outputs = _outputs(page, executed)
    found_all = outdated(_sentences(text, page), replaced, _known(page, outputs))
    for found in dict.fromkeys(found_all):
        now = f"is {found.printed} now" if found.printed else "isn't printed any more"
        change = f"{found.old} {now} in {_named(page, found.cell)}"
        yield f"{path}:{found.line}: still says {found.said}: {change}"


def near_numbers(path: Path, text: str, page: Page, executed: NotebookNode) -> Iterator[str]:
    """Yield where prose says a decimal that a cell above it nearly prints."""
    outputs = _outputs(page, executed)
    decimals = {
        cell: [number for number in numbers_in(output) if number.is_decimal]
        for cell, output in outputs.items()
    }
    found_all = nearly(_sentences(text, page), decimals, _known(page, outputs))
    for found in dict.fromkeys(found_all):
        prints = f"{_named(page, found.cell)} prints {found.printed}"
        yield f"{path}:{found.line}: says {found.said}, and {prints}"


def _replaced(page: Page, outcomes: list[Outcome]) -> Iterator[Replaced]:
    """Yield the numbers that are documented no more."""
    varying = {outcome.cell for outcome in outcomes if outcome.kind is Kind.UNREPEATABLE}
    for outcome in outcomes:
        if outcome.cell in varying:
            continue
        if outcome.kind is Kind.DRIFT:
            for each in outcome.verdict.differences:
                new = each.executed if each.number else ""
                for old in numbers_in(each.documented):
                    yield Replaced(old.text, new, outcome.cell)
        elif outcome.kind is Kind.NO_OUTPUT and page.stored:
            for old in numbers_in(outcome.documented):
                yield Replaced(old.text, "", outcome.cell)


def _outputs(page: Page, executed: NotebookNode) -> dict[int, str]:
    """Return what each cell prints, in all its forms, by the cells' numbers."""
    notebook = {cell.number: printed(executed.cells[cell.index].outputs) for cell in page.cells}
    return {n: "\n".join(text for _, text in each.pieces) for n, each in notebook.items()}


def _known(page: Page, outputs: dict[int, str]) -> list[Decimal]:
    return known_in((*outputs.values(), *(cell.source for cell in page.cells)))


def _named(page: Page, number: int) -> str:
    """Name a cell, and the line on which its output begins, or in a notebook itself."""
    cell = page.cells[number - 1]
    first = cell.expectations[0].body_line if cell.expectations else cell.line
    return f"cell {number} (line {first})"


def _sentences(text: str, page: Page) -> Iterator[Sentence]:
    """Yield what a page says outside code; lines of a notebook are those of its file."""
    text = text.removeprefix("\ufeff")
    if not page.stored:
        for each in paragraphs_of(text):
            above = sum(cell.line < each.line for cell in page.cells)
            yield Sentence(each.text, each.line, above, each.in_table)
        return
    above = at = 0
    for cell in json.loads(text).get("cells", []):
        above += cell["cell_type"] == "code"
        source = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
        for each in paragraphs_of(source):
            row = json.dumps(each.text.partition("\n")[0], ensure_ascii=False)[1:-1]
            at = max(at, text.find(row, at))
            yield Sentence(each.text, text.count("\n", 0, at) + 1, above, each.in_table)
