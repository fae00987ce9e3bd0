"""A page as a notebook whose outputs are stored, the same in each build."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbformat import NotebookNode

    from export.pieces import Code, Piece

PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def to_notebook(page: Iterable[Piece], metadata: dict[str, Any]) -> str:
    """Return a notebook with its outputs stored."""
    cells: list[NotebookNode] = []
    count = 0
    for piece in page:
        if isinstance(piece, str):
            cells.append(new_markdown_cell(piece, id=f"cell-{len(cells) + 1}"))
        else:
            count += 1
            cells.append(_code_cell(piece, count, f"cell-{len(cells) + 1}"))
    notebook = new_notebook(cells=cells, metadata=PYTHON | metadata)
    nbformat.validate(notebook)  # type: ignore[no-untyped-call]
    return f"{nbformat.writes(notebook)}\n"


def _code_cell(code: Code, count: int, name: str) -> NotebookNode:
    outputs = copy.deepcopy(code.node.outputs)
    for output in outputs:
        if "execution_count" in output:
            output.execution_count = count
    number = count if outputs or code.node.source else None
    parts = {"id": name, "metadata": _metadata(code), "outputs": outputs}
    return new_code_cell(code.node.source, execution_count=number, **parts)


def _metadata(code: Code) -> dict[str, Any]:
    """Return what the checker and Jupyter have to know of a cell."""
    tags = [tag for tag in code.node.metadata.get("tags", []) if tag == "skip-execution"]
    if code.raises:
        tags.append("raises-exception")
    known = ("cellView", "jupyter")  # how a cell is folded
    metadata = {name: code.node.metadata[name] for name in known if name in code.node.metadata}
    metadata |= {"tags": tags} if tags else {}
    return metadata | ({"drift": dict(code.exceptions)} if code.exceptions else {})
