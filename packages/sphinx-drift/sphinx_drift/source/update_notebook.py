"""Write executed outputs into a notebook, as Jupyter saves it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.model import Outcome, Page
    from sphinx_drift.output.filters import Filter


def notebook_with_outputs(  # noqa: PLR0913, PLR0917 - as of a page
    text: str,
    page: Page,
    executed: NotebookNode,
    fixed: Sequence[Outcome],
    unchecked: Mapping[int, str],
    paths: Sequence[Filter],
) -> str:
    """Return a notebook whose drifted cells have their executed outputs.

    Args:
        text: The file.
        page: What it documents.
        executed: The notebook, as it was run.
        fixed: What new outputs fix.
        unchecked: Why outputs can't be checked, by the numbers of their cells.
        paths: What names the folders of this machine.

    """
    if not (fixed or unchecked):
        return text
    notebook = nbformat.reads(text.removeprefix("\ufeff"), as_version=4)  # type: ignore[no-untyped-call]
    for number in {outcome.cell for outcome in fixed}:
        index = page.cells[number - 1].index
        cell = notebook.cells[index]
        cell.outputs = _without(paths, copy.deepcopy(executed.cells[index].outputs))
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    for number, reason in unchecked.items():
        metadata = notebook.cells[page.cells[number - 1].index].metadata
        metadata.setdefault("drift", {})["unchecked"] = reason
    _add_widgets(notebook, executed)
    after = f"{nbformat.writes(notebook)}\n"  # type: ignore[no-untyped-call]
    return after.replace("\n", "\r\n") if "\r\n" in text else after


def _without(paths: Sequence[Filter], value: Any) -> Any:
    """Return outputs, or what they hold, without some paths; pictures have none."""
    if isinstance(value, str):
        for path in paths:
            value = path.apply(value)
    elif isinstance(value, list):
        value = [_without(paths, item) for item in value]
    elif isinstance(value, dict):
        for name, item in value.items():
            if not name.startswith("image/"):
                value[name] = _without(paths, item)
    return value


def _add_widgets(notebook: NotebookNode, executed: NotebookNode) -> None:
    """Keep the state of widgets that new outputs show, beside that of the others."""
    for mime, new in executed.metadata.get("widgets", {}).items():
        stored = notebook.metadata.setdefault("widgets", {}).setdefault(mime, new)
        stored["state"] = {**stored.get("state", {}), **new.get("state", {})}
