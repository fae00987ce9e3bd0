"""Write executed outputs into a notebook, as Jupyter saves it."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import nbformat

from sphinx_drift.model import Kind
from sphinx_drift.output.machine import machine_paths
from sphinx_drift.source.read_source import load
from sphinx_drift.source.update import Change, notes_on, read_exactly, refusal, unchecked_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.model import Page, PageResult
    from sphinx_drift.output.filters import Filter

_FIXED = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.NO_OUTPUT, Kind.PICTURE)
"""What a new output fixes."""


def update_notebook(  # noqa: PLR0913, PLR0917 - what is known of it
    path: Path,
    page: Page,
    executed: NotebookNode,
    result: PageResult,
    judge: Callable[[Page], PageResult],
    read: Callable[..., tuple[Page, NotebookNode] | None] = load,
) -> Change | None:
    """Return a notebook whose drifted cells have their executed outputs; None if none has drifted.

    An error replaces no output that the notebook has: whether it may is for its author to say.
    """
    before = read_exactly(path)
    if reason := refusal(page, result):
        return Change(path, before, before, reason)
    unchecked = unchecked_cells(page, result)
    drifted = {
        o.cell
        for o in result.outcomes
        if (o.cell and o.kind in _FIXED)
        or (o.kind is Kind.RAISED and not page.cells[o.cell - 1].expectations)
    }
    if not (drifted or unchecked):
        return None
    notebook = nbformat.reads(before.removeprefix("\ufeff"), as_version=4)  # type: ignore[no-untyped-call]
    portable = partial(_portable, paths=machine_paths(path.absolute().parent))
    for number in drifted:
        index = page.cells[number - 1].index
        cell = notebook.cells[index]
        cell.outputs = [*map(portable, copy.deepcopy(executed.cells[index].outputs))]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    for number, reason in unchecked.items():
        metadata = notebook.cells[page.cells[number - 1].index].metadata
        metadata.setdefault("drift", {})["unchecked"] = reason
    _add_widgets(notebook, executed)
    after = f"{nbformat.writes(notebook)}\n"  # type: ignore[no-untyped-call]
    after = after.replace("\n", "\r\n") if "\r\n" in before else after
    loaded = read(path, text=after, stderr=any(cell.has_stderr for cell in page.cells))
    notes = notes_on(path, before, after, result, page)
    return Change(path, before, after, result=judge(loaded[0]) if loaded else None, notes=notes)


def _portable(value: Any, paths: Sequence[Filter]) -> Any:
    """Return an output, or what it holds, without the folders of this machine."""
    if isinstance(value, str):
        for path in paths:
            value = path.apply(value)
    elif isinstance(value, list):
        value = [_portable(item, paths) for item in value]
    elif isinstance(value, dict):
        for name, item in value.items():
            if not name.startswith("image/"):
                value[name] = _portable(item, paths)
    return value


def _add_widgets(notebook: NotebookNode, executed: NotebookNode) -> None:
    """Keep the state of widgets that new outputs show, beside that of the others."""
    for mime, new in executed.metadata.get("widgets", {}).items():
        stored = notebook.metadata.setdefault("widgets", {}).setdefault(mime, new)
        stored["state"] = {**stored.get("state", {}), **new.get("state", {})}
