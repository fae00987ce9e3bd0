"""`{mistake-table}`: the mistakes, each with the first rows of the context vectors it makes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sphinx.application import Sphinx

FILE = Path(__file__).parents[2] / "_data" / "mistakes.json"
SHOWN = 2
"""How many rows of a mistake are shown; of some there are many."""


def recorded() -> dict[str, list[str]]:
    """Return what each mistake prints, by its title; the first is none."""
    return dict(json.loads(FILE.read_text("utf-8"))["mistakes"])


def recorded_right() -> list[str]:
    """Return what the right steps print, of which no page prints all."""
    return list(json.loads(FILE.read_text("utf-8"))["right"])


class MistakeTable(SphinxDirective):
    """Show the recorded mistakes, with links to their sections."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(FILE))
        rows = [_row([_name(title)], _numbers(texts)) for title, texts in recorded().items()]
        head = _row([nodes.Text("mistake")], [nodes.Text("first context vector")])
        parts = [nodes.thead("", head), nodes.tbody("", *rows)]
        columns = [nodes.colspec(colwidth=1) for _ in range(2)]
        return [nodes.table("", nodes.tgroup("", *columns, *parts, cols=len(columns)))]


def _row(*cells: Iterable[nodes.Node]) -> nodes.row:
    """Make a row whose cells have a line for each node."""
    return nodes.row(
        "", *(nodes.entry("", *(nodes.paragraph("", "", line) for line in cell)) for cell in cells)
    )


def _name(title: str) -> nodes.Node:
    if title == "none":
        return nodes.Text(title)
    return nodes.reference("", title, refid=nodes.make_id(title), internal=True)


def _numbers(texts: Sequence[str]) -> list[nodes.Node]:
    rows, more = first_rows(texts)
    lines: list[nodes.Node] = [nodes.literal("", row) for row in rows]
    return [*lines, nodes.Text(f"and {more} more")] if more else lines


def first_rows(texts: Sequence[str]) -> tuple[list[str], int]:
    """Return the first row of each (6, 2) array, none twice, and how many more there are."""
    arrays = [re.findall(r"\[([^\[\]]+)\]", text) for text in texts]
    firsts = [rows[0] for rows in arrays if len(rows) == 6 and rows[0].count(",") == 1]  # noqa: PLR2004 - tokens
    rows = list(dict.fromkeys(row.strip() for row in firsts))
    shown = SHOWN if len(rows) > SHOWN + 1 else len(rows)
    return rows[:shown], len(rows) - shown


def setup(app: Sphinx) -> None:
    app.add_directive("mistake-table", MistakeTable)
