"""`{mistake-table}`: the mistakes, each with the first rows of the context vectors it makes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from reference.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

FILE = Path(__file__).parents[2] / "_data" / "mistakes.json"
SHOWN = 2
"""How many rows of a mistake are shown; of some there are many."""


def recorded() -> dict[str, list[str]]:
    """Return what each mistake prints, by its title; the first is none."""
    return dict(json.loads(FILE.read_text("utf-8")))


class MistakeTable(SphinxDirective):
    """Show the recorded mistakes, with links to their sections."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(FILE))
        rows = [(title, "\n".join(first_rows(texts))) for title, texts in recorded().items()]
        made = table(["mistake", "first context vector"], rows)
        for cell in list(made.findall(nodes.paragraph))[2:]:
            if (title := cell.astext()) in recorded() and title != "none":
                name = nodes.make_id(title)
                cell[:] = [nodes.reference("", title, refid=name, internal=True)]
        return [made]


def first_rows(texts: Sequence[str]) -> list[str]:
    """Return the first row of each (6, 2) array, none twice; of many, some."""
    arrays = [re.findall(r"\[([^\[\]]+)\]", text) for text in texts]
    firsts = [rows[0] for rows in arrays if len(rows) == 6 and rows[0].count(",") == 1]  # noqa: PLR2004 - tokens
    rows = [f"`{row.strip()}`" for row in dict.fromkeys(firsts)]
    more = len(rows) - SHOWN
    return [*rows[:SHOWN], f"and {more} more"] if more > 1 else rows


def setup(app: Sphinx) -> None:
    app.add_directive("mistake-table", MistakeTable)
