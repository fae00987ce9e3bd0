"""All that the public notebook of Chapter 3 prints is on the book's pages, where the table says.

`chapter_3.json` has what each of its cells prints, without the labels in front; the one that
prints PyTorch's version is left out.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from test_book import expectations, holds, keys, read
from the_book import DOCS

from sphinx_drift.model import Expectation

TABLE = DOCS / "reference" / "chapter-3.md"
PRINTED = {
    said["cell"]: said["prints"]
    for said in json.loads(Path(__file__).with_name("chapter_3.json").read_text("utf-8"))
}
HEADING = re.compile(r"(?:\((?P<label>[\w-]+)\)=\n)?^#+ (?P<title>.+)$", re.MULTILINE)


class Row(NamedTuple):
    """A line of the table: a cell of the notebook, and the section that has its output."""

    cell: int
    page: Path
    anchor: str


def rows() -> Iterator[Row]:
    line = re.compile(r"^\| (\d+) \|.*\]\((\S+)#([\w-]+)\) \|$", re.MULTILINE)
    for cell, page, anchor in line.findall(TABLE.read_text("utf-8")):
        yield Row(int(cell), (TABLE.parent / page).resolve(), anchor)


def section(page: Path, anchor: str) -> Iterator[Expectation]:
    text = page.read_text("utf-8")
    for cell in read(page).cells:  # a comment in a cell is no heading
        text = text.replace(cell.source, re.sub("(?m)^#", " ", cell.source))
    found = [*HEADING.finditer(text)]
    ends = [*(text.count("\n", 0, each.start()) for each in found[1:]), text.count("\n")]
    for heading, last in zip(found, ends, strict=True):
        slug = re.sub(r"[^\w -]", "", heading["title"].lower()).replace(" ", "-")
        if anchor in (heading["label"], slug):
            first = text.count("\n", 0, heading.start())
            yield from (each for each in expectations(page) if first < each.line <= last)


def lacking(row: Row, prints: list[str]) -> list[str]:
    """Return what a section doesn't print, exactly, of what it should, or doesn't check."""
    checked = [keys(each.text) for each in section(row.page, row.anchor) if not each.unchecked]
    return [text for text in prints if not any(holds(found, keys(text)) for found in checked)]


def test_the_table_has_every_output_of_the_notebook() -> None:
    assert [row.cell for row in rows()] == list(PRINTED)
    assert len(PRINTED) == 34


@pytest.mark.parametrize("row", [*rows()], ids=lambda row: f"cell {row.cell}")
def test_an_output_of_the_notebook_is_in_its_section(row: Row) -> None:
    assert lacking(row, PRINTED[row.cell]) == []


def test_another_section_does_not_have_it() -> None:
    first, *_ = rows()
    assert lacking(first._replace(anchor="step-3-mix"), PRINTED[first.cell])
    assert lacking(first._replace(anchor="nowhere"), PRINTED[first.cell])
