"""Tables that nobody types: how one is made of columns and rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> nodes.table:
    """Make a table; numbers are set flush right, and so is what stands over them."""
    rows = list(rows)
    titles = [_cell(column) for column in columns]
    for title, value in zip(titles, rows[0] if rows else (), strict=False):
        title["classes"] = _cell(value)["classes"]
    head = nodes.thead("", nodes.row("", *titles))
    body = nodes.tbody("", *(_row(row) for row in rows))
    specs = [nodes.colspec(colwidth=1) for _ in columns]
    group = nodes.tgroup("", *specs, head, body, cols=len(columns))
    return nodes.table("", group, classes=["recorded"])


def _row(cells: Sequence[Any]) -> nodes.row:
    return nodes.row("", *(_cell(cell) for cell in cells))


NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?%?")


def _cell(value: Any) -> nodes.entry:
    classes = ["number"] if NUMBER.fullmatch(str(value)) else []
    lines = (paragraph(line) for line in str(value).splitlines() or [""])
    return nodes.entry("", *lines, classes=classes)


def paragraph(text: str) -> nodes.paragraph:
    """Make a paragraph in which `code` is set as code."""
    node = nodes.paragraph()
    for place, part in enumerate(re.split("`{1,3}", text)):
        node += nodes.literal("", part) if place % 2 else nodes.Text(part)
    return node
