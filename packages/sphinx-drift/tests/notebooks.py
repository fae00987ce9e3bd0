"""Notebooks, their cells and what these have stored, each in a line."""

from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode, v4

HIDDEN = "application/papermill.record/"


def stream(text: str, name: str = "stdout") -> NotebookNode:
    return v4.new_output("stream", name=name, text=text)


def shown(**data: Any) -> NotebookNode:
    """Return a display, whose types have a low line for the slash."""
    return v4.new_output("display_data", {k.replace("_", "/"): v for k, v in data.items()})


def glued(data: Mapping[str, Any], prefix: str = HIDDEN, name: str = "x") -> NotebookNode:
    """Return what `glue` displays, which its prefix leaves to be shown elsewhere."""
    named = {f"{prefix}{mime}": content for mime, content in data.items()}
    metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
    output: NotebookNode = v4.new_output("display_data", metadata=metadata)
    output["data"] = named
    return output


def value(text: str, count: int | None = None) -> NotebookNode:
    return v4.new_output("execute_result", {"text/plain": text}, execution_count=count)


def raised(name: str, message: str, *traceback: str) -> NotebookNode:
    return v4.new_output("error", ename=name, evalue=message, traceback=[*traceback])


def code(
    source: str, *outputs: NotebookNode, count: int | None = None, tags: tuple[str, ...] = ()
) -> NotebookNode:
    metadata = {"tags": [*tags]} if tags else {}
    return v4.new_code_cell(source, outputs=[*outputs], execution_count=count, metadata=metadata)


def notebook(*cells: NotebookNode | str, **metadata: Any) -> NotebookNode:
    """Return a notebook; a cell that is text is code."""
    made = [code(each) if isinstance(each, str) else each for each in cells]
    return v4.new_notebook(cells=made, metadata=metadata)
