"""A page in pieces: its text as Markdown and its cells, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sphinx_drift.source.printed_text import printed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from docutils import nodes
    from nbformat import NotebookNode

    from export.markdown import Writer


@dataclass(frozen=True)
class Code:
    """A code cell, as it was run."""

    node: NotebookNode
    exceptions: Mapping[str, str] = field(default_factory=dict)
    """Why its output can't be checked, or not everywhere, by the checker's name for it."""

    @property
    def raises(self) -> str:
        """The name of the error that the cell documents."""
        return printed(self.node.outputs).error.partition(":")[0]


Piece = str | Code


def pieces(
    writer: Writer,
    doctree: nodes.document,
    notebook: NotebookNode,
    exceptions: Mapping[int, Mapping[str, str]],
) -> Iterator[Piece]:
    """Yield a page's text and cells in order, cells that the page doesn't show too."""
    code = [n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    left = list(code)
    text: list[str] = []
    # A number past the end stands for the end of the page.
    for piece in [*writer.pieces(doctree), len(notebook.cells)]:
        if isinstance(piece, str):
            text.append(piece)
            continue
        if text:
            yield "\n\n".join(text)
            text = []
        while left and left[0] <= piece:
            index = left.pop(0)
            yield Code(notebook.cells[index], exceptions.get(code.index(index) + 1, {}))
