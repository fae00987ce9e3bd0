"""`{mistake-table}`: the mistakes of a page, each with the first row of the numbers it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from diagnosis.packing import arrays
from diagnosis.printed_values import KEY
from reference.table import table
from website.shown_later import show_later

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

    from diagnosis.printed_values import Printed

SHAPE = 6, 2
"""Context vectors of the six-token example: a row of two numbers for each token."""
SHOWN = 2
"""How many rows of a mistake are shown; of some there are many."""


class mistake_table(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The place of the table, filled when the page with all its outputs is there."""


class MistakeTable(SphinxDirective):
    """Show the page's mistakes, each with the first row of the numbers it makes."""

    def run(self) -> list[nodes.Node]:
        return [mistake_table()]


def fill(app: Sphinx, docname: str, node: nodes.Element) -> nodes.table:
    """Make the table from what the cells of the page have printed."""
    right, *others = app.env.metadata[docname][KEY]
    return _table(right, [each for each in others if each.is_mistake])


def _table(right: Printed, mistakes: Sequence[Printed]) -> nodes.table:
    """Make the table; its first row is what the page prints first, without a mistake."""
    rows = [("none", _rows(right)), *((each.title, _rows(each)) for each in mistakes)]
    made = table(["mistake", "first context vector"], rows)
    body = next(made.findall(nodes.tbody))
    for row, each in zip(body.children[1:], mistakes, strict=True):
        cell = next(row.findall(nodes.paragraph))
        link = nodes.reference("", "", *cell.children, refid=each.section, internal=True)
        cell.children = [link]
        link.parent = cell
    return made


def _rows(printed: Printed) -> str:
    return "\n".join(first_rows(printed.text))


def first_rows(text: str) -> list[str]:
    """Return the first row of each array of context vectors, none twice; of many, some."""
    contexts = (array for array in arrays(text) if (len(array), len(array[0])) == SHAPE)
    rows = list(dict.fromkeys(f"`{', '.join(array[0])}`" for array in contexts))
    more = len(rows) - SHOWN
    return [*rows[:SHOWN], f"and {more} more"] if more > 1 else rows


def setup(app: Sphinx) -> None:
    app.add_directive("mistake-table", MistakeTable)
    show_later(app, mistake_table, fill)
