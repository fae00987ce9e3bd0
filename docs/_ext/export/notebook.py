"""A page as a notebook: its text as Markdown, its cells with the outputs that were verified."""

import copy
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from export.markdown import DRAWING
from export.picture import to_png
from sphinx_drift.api import read_outputs

PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
DRAWN = re.compile(rf"\]\({re.escape(DRAWING)}([\w+/=]+)\)")
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}  # in Colab, and in Jupyter


def to_notebook(
    pieces: Iterable[str | int],
    executed: NotebookNode,
    exceptions: Mapping[int, Mapping[str, str]],
    note: str,
    package: Sequence[str],
) -> NotebookNode:
    """Return a notebook that runs where the book's package isn't installed.

    Args:
        pieces: The page's texts as Markdown, and the indices of its cells between them.
        executed: The notebook of the page as it was executed, cells that the page hides included.
        exceptions: Why outputs can't be checked, or not everywhere, by the place of their cell.
        note: Goes below the title.
        package: The sources of cells that go before all others.

    """
    code = [index for index, cell in enumerate(executed.cells) if cell.cell_type == "code"]
    left = list(code)
    cells: list[NotebookNode] = []
    for piece in [*pieces, len(executed.cells)]:  # the end is after all cells
        if isinstance(piece, str):
            title, rule, rest = piece.partition("\n\n")
            text = piece if cells else f"{title}\n\n{note}{rule}{rest}"
            cells.append(with_pictures(new_markdown_cell(text)))
            continue
        while left and left[0] <= piece:
            index = left.pop(0)
            place = code.index(index) + 1
            cells.append(code_cell(executed.cells[index], place, exceptions.get(place, {})))
    if package:
        first = next(n for n, cell in enumerate(cells) if cell.cell_type == "code")
        cells[first:first] = [new_code_cell(source, metadata=FOLDED) for source in package]
    for number, cell in enumerate(cells, start=1):
        cell["id"] = f"cell-{number}"
    notebook = new_notebook(cells=cells, metadata=PYTHON)
    nbformat.validate(notebook)  # type: ignore[no-untyped-call]
    return notebook


def with_pictures(cell: NotebookNode) -> NotebookNode:
    """Attach to a text the pictures that it shows, which it has as the source of a drawing."""
    pictures = list(dict.fromkeys(DRAWN.findall(cell.source)))
    for number, svg in enumerate(pictures, start=1):
        name = f"figure-{number}.png"
        cell.source = cell.source.replace(f"]({DRAWING}{svg})", f"](attachment:{name})")
        data = b64encode(to_png(b64decode(svg).decode())).decode()
        cell.setdefault("attachments", {})[name] = {"image/png": data}
    return cell


def code_cell(executed: NotebookNode, count: int, exceptions: Mapping[str, str]) -> NotebookNode:
    """Return a cell with its outputs, and what the checker and Jupyter have to know of it."""
    outputs = copy.deepcopy(executed.outputs)
    for output in outputs:
        if "execution_count" in output:
            output.execution_count = count
    metadata: dict[str, object] = {}
    if read_outputs(outputs).error:
        metadata["tags"] = ["raises-exception"]
    if exceptions:
        metadata["drift"] = dict(exceptions)
    return new_code_cell(executed.source, execution_count=count, outputs=outputs, metadata=metadata)
