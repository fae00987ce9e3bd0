"""Write executed outputs into a notebook, and leave all else as it is, letter by letter."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines

from sphinx_drift.output.filters import Filter, apply_filters
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.source.notebook import parse_notebook
from sphinx_drift.source.update_page import Fixes

_BETWEEN = re.compile(r"[\s:,]*")
"""What parts names and values in JSON."""
_VERSIONS = {"version_major": 2, "version_minor": 0}
"""What Jupyter stores beside the states of widgets."""


def notebook_with_outputs(text: str, fixes: Fixes) -> str:
    """Return a notebook whose drifted cells have their executed outputs."""
    if text.startswith(mark := "\ufeff"):
        return mark + notebook_with_outputs(text.removeprefix(mark), fixes)
    unchanged, stored = text, json.loads(text)
    if "cells" not in stored:  # it is of an old format
        text = nbformat.writes(parse_notebook(text))  # type: ignore[no-untyped-call]
        stored = json.loads(text)
    counts = _new_counts(stored["cells"], fixes.executed)
    if not (fixes.outcomes or fixes.reasons or counts):
        return unchanged
    whole = _places(text, text.index("{"))
    starts = [place.start for place in _places(text, whole["cells"].start).values()]
    new: list[tuple[slice, Any]] = []
    before = [cell.get("outputs") for cell in stored["cells"]]
    after: dict[int, Any] = {}
    """The new outputs, by the indices of their cells."""
    for index, count in counts.items():
        stored["cells"][index]["execution_count"] = count
        new.append((_places(text, starts[index])["execution_count"], count))
    for number in {outcome.cell for outcome in fixes.outcomes}:
        index = fixes.page.cells[number - 1].index
        executed = _apply_filters(fixes.executed.cells[index].outputs, fixes.filters)
        after[index] = _like(stored["cells"][index], executed)
        new.append((_places(text, starts[index])["outputs"], after[index]))
    for number, reason in fixes.reasons.items():
        index = fixes.page.cells[number - 1].index
        if read_outputs(fixes.executed.cells[index].outputs).glued:
            continue  # where it is shown no mark can be, so it can't be unchecked
        metadata = stored["cells"][index]["metadata"]
        metadata.setdefault("drift", {})["unchecked"] = reason
        new.append((_places(text, starts[index])["metadata"], metadata))
    if widgets := _new_widgets(stored["metadata"], fixes.executed, before, after):
        merged = {**stored["metadata"].get("widgets", {}), **widgets}
        new.append((whole["metadata"], {**stored["metadata"], "widgets": merged}))
    return _replaced(text, new)


def _new_counts(stored: Sequence[dict[str, Any]], executed: NotebookNode) -> dict[int, int]:
    """Return the execution counts of a notebook that was never run, by the indices of its cells.

    With these, a cell that prints nothing says so.
    """
    if any(cell.get("execution_count") or cell.get("outputs") for cell in stored):
        return {}
    cells = enumerate(zip(stored, executed.cells, strict=False))
    counts = (
        (i, now.get("execution_count")) for i, (was, now) in cells if "execution_count" in was
    )
    return {index: count for index, count in counts if count}


def _new_widgets(
    stored: dict[str, Any], executed: NotebookNode, before: Sequence[Any], after: dict[int, Any]
) -> dict[str, Any]:
    """Return the states of the widgets that change, by their types.

    Args:
        stored: The metadata of the notebook.
        executed: The notebook, as it was run.
        before: The outputs of its cells.
        after: The new ones, by the indices of their cells.

    """
    left = [outputs for index, outputs in enumerate(before) if index not in after]
    new: dict[str, Any] = {}
    for mime, of_run in executed.metadata.get("widgets", {}).items():
        if "/" not in mime:
            continue  # as ipywidgets 6 stored it
        found = _states_in([*after.values()], of_run.get("state", {}))
        of_type = stored.get("widgets", {}).get(mime, {})
        states = of_type.get("state", of_type)  # Colab stores nothing else
        versions = next((each for each in (of_type, of_run) if "state" in each), _VERSIONS)
        replaced = _states_in([before[index] for index in after], states)
        gone = replaced.keys() - _states_in(left, states).keys()
        kept = {name: state for name, state in states.items() if name not in gone}
        if found or gone:
            new[mime] = {**versions, "state": {**kept, **found}}
    return new


def _places(text: str, start: int) -> dict[str | int, slice]:
    """Return where the values of an object or a list stand that begins at an index of JSON."""
    decode, found = json.JSONDecoder().raw_decode, dict[str | int, slice]()
    at = _after(text, start + 1)
    while text[at] not in "]}":
        name: str | int = len(found)
        if text[start] == "{":
            name, at = decode(text, at)
            at = _after(text, at)
        _, end = decode(text, at)
        found[name] = slice(at, end)
        at = _after(text, end)
    return found


def _after(text: str, at: int) -> int:
    """Return where the next name or value begins in JSON, or what holds them ends."""
    between = _BETWEEN.match(text, at)
    return between.end() if between else at


def _replaced(text: str, new: Iterable[tuple[slice, Any]]) -> str:
    """Return JSON with new values, written as the others are."""
    stored = json.loads(text)
    indent = re.match(r"\s*\{\r?\n([ \t]*)", text)
    is_tight = re.match(r'\s*\{"\w+":\S', text)
    sort_keys = json.dumps(stored) == json.dumps(stored, sort_keys=True)
    is_escaped = text.isascii() and not json.dumps(stored, ensure_ascii=False).isascii()
    for place, value in sorted(new, key=lambda each: each[0].start, reverse=True):
        if json.loads(text[place]) == value:
            continue
        written = json.dumps(
            value,
            indent=indent[1] if indent else None,
            separators=(",", ":") if is_tight else None,
            sort_keys=sort_keys,
            ensure_ascii=is_escaped,
        )
        row = text[: place.start].rpartition("\n")[2]
        margin = row[: len(row) - len(row.lstrip())]
        written = written.replace("\n", ("\r\n" if "\r\n" in text else "\n") + margin)
        text = text[: place.start] + written + text[place.stop :]
    return text


def _like(stored: dict[str, Any], outputs: Sequence[Any]) -> list[Any]:
    """Return executed outputs as a cell has its own: its lines, counts and order of names."""
    cell = nbformat.v4.new_code_cell(outputs=nbformat.from_dict(outputs))  # type: ignore[no-untyped-call]
    if not isinstance(stored["source"], str):
        split_lines(NotebookNode(cells=[cell]))  # type: ignore[no-untyped-call]
    for output in cell.outputs:
        if "execution_count" in output:
            output["execution_count"] = stored.get("execution_count")
    before = [*stored["outputs"], *({} for _ in outputs)]
    return [_in_order(new, old) for new, old in zip(cell.outputs, before, strict=False)]


def _in_order(new: Any, old: Any) -> Any:
    """Return a value whose names stand in the order that they had."""
    if not (isinstance(new, dict) and isinstance(old, dict)):
        return new
    names = [*(name for name in old if name in new), *(name for name in new if name not in old)]
    return {name: _in_order(new[name], old.get(name)) for name in names}


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


def _states_in(outputs: Sequence[Any], states: dict[str, Any]) -> dict[str, Any]:
    """Return the states of the widgets that outputs show, and of those that make these up."""
    found: dict[str, Any] = {}
    values = [*outputs]
    for value in values:  # which grow
        names = re.findall(r"[\w-]+", json.dumps(value).replace("IPY_MODEL_", " "))
        new = [name for name in dict.fromkeys(names) if name in states and name not in found]
        found |= {name: states[name] for name in new}
        values += [states[name] for name in new]
    return found
