"""Write executed outputs into a notebook, in the form in which it was saved."""

import json
import re
from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines

from sphinx_drift.output.filters import Filter, apply_filters
from sphinx_drift.source.notebook import parse_notebook
from sphinx_drift.source.update_page import Fixes


def notebook_with_outputs(text: str, fixes: Fixes) -> str:
    """Return a notebook whose drifted cells have their executed outputs."""
    if not (fixes.outcomes or fixes.reasons):
        return text
    notebook = parse_notebook(text.removeprefix("\ufeff"))
    for number in {outcome.cell for outcome in fixes.outcomes}:
        index = fixes.page.cells[number - 1].index
        cell, executed = notebook.cells[index], fixes.executed.cells[index]
        cell.outputs = nbformat.from_dict(_apply_filters(executed.outputs, fixes.filters))  # type: ignore[no-untyped-call]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    for number, reason in fixes.reasons.items():
        metadata = notebook.cells[fixes.page.cells[number - 1].index].metadata
        metadata.setdefault("drift", {})["unchecked"] = reason
    _add_widgets(notebook, fixes.executed)
    return _in_form_of(text, notebook)


def _in_form_of(text: str, notebook: NotebookNode) -> str:
    """Return a notebook with the indent, the order of names and the line ends of a text."""
    indent = re.match(r"\ufeff?\s*\{\r?\n([ \t]*)", text)
    stored = json.loads(text.removeprefix("\ufeff"))
    after = json.dumps(
        split_lines(notebook),  # type: ignore[no-untyped-call]
        indent=indent[1] if indent else 1,
        sort_keys=json.dumps(stored) == json.dumps(stored, sort_keys=True),
        ensure_ascii=False,
    )
    after += "\n" * text.endswith("\n")
    return after.replace("\n", "\r\n") if "\r\n" in text else after


def _apply_filters(value: Any, filters: Sequence[Filter]) -> Any:
    """Return outputs, or what they hold, with each text filtered, but for pictures."""
    if isinstance(value, dict):
        return {
            name: item if name.startswith("image/") else _apply_filters(item, filters)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_apply_filters(item, filters) for item in value]
    return apply_filters(value, filters) if isinstance(value, str) else value


def _add_widgets(notebook: NotebookNode, executed: NotebookNode) -> None:
    """Keep the state of widgets that new outputs show, beside that of the others."""
    for mime, new in executed.metadata.get("widgets", {}).items():
        stored = notebook.metadata.setdefault("widgets", {}).setdefault(mime, new)
        stored["state"] = {**stored.get("state", {}), **new.get("state", {})}
