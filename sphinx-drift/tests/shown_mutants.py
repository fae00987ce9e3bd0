"""Alter what a notebook has stored of what its cells show, and see what a check lets through.

Each number and word of a text, of HTML between its tags, of LaTeX, of Markdown, beside a picture,
glued, or in the message of a traceback is altered by itself; rows and cells of HTML tables are
dropped and exchanged; whole forms and pictures are dropped, and pictures added.
"""

from __future__ import annotations

import copy
import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import nbformat
from nbformat import NotebookNode, v4

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.judge import judge_page
from sphinx_drift.run.results import Execution
from sphinx_drift.source.read_source import read_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CORPUS = Path(__file__).resolve().parent / "corpus" / "shown.ipynb"
_SEEN = re.compile(r"(?P<number>\d+)|(?P<word>[A-Za-z]{2,})")
_ADDRESS = r"\bat 0x[0-9a-fA-F]+|"
_TEXT = re.compile(_ADDRESS + _SEEN.pattern)
# What no reader sees is passed over: scripts, styles, comments, tags, entities.
_HTML = re.compile(
    r"(?s)<(style|script|title|desc|metadata)\b.*?</\1>|<!--.*?-->|<[^>]*>|&#?\w+;|"
    r"\b0x[0-9a-fA-F]{6,}|" + _SEEN.pattern
)
# Nor what a carriage return overwrites, and colours; frames and the kernel's folder are forgiven.
_STREAM = re.compile(
    r"(?m)^ *(?:\|   |\+).*$|[^\n\r]*\r|\x1b\[[0-9;]*m|\S*ipykernel_\d+/|" + _TEXT.pattern
)
_ROW = re.compile(r"(?s)<tr.*?</tr>")
_CELL = re.compile(r"(?s)(<t[dh][^>]*>)(.*?)(</t[dh]>)")
_ANSI_OR_SEEN = re.compile(r"\x1b\[[0-9;]*m|" + _TEXT.pattern)
_NAMES = {
    "application/json": "JSON",
    "image/svg+xml": "SVG",
    "text/html": "HTML",
    "text/latex": "LaTeX",
    "text/markdown": "Markdown",
    "text/plain": "text",
}


_MARKED_UP = ("text/html", "image/svg+xml")


class Altered(NamedTuple):
    """Outputs of a cell of which one thing is altered."""

    form: str
    """In which form: HTML, a traceback and so on."""
    where: str
    outputs: list[NotebookNode]


def shown_corpus() -> list[tuple[str, list[NotebookNode]]]:
    """Return real outputs of pandas, SymPy, scikit-learn and others: a source, its outputs."""
    notebook = nbformat.read(_CORPUS, as_version=4)
    return [(cell.source, cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def caught(
    stored: list[NotebookNode], executed: list[NotebookNode], policy: Policy = Policy.EXACT
) -> bool:
    """Return whether a notebook that stored these outputs fails if its cell shows those."""
    page = read_notebook(_notebook(stored), stderr=True)
    now = _notebook(executed)
    execution = Execution(frozenset({0}))
    # No form here prints more digits when it is asked to: what is shown is the full precision.
    result = judge_page(page, now, execution, file="shown.ipynb", policy=policy, precise=now)
    # A cell that shows a picture alone has nothing that would be counted as checked.
    return any(o.kind.fails and o.kind is not Kind.NOTHING_CHECKED for o in result.outcomes)


def altered(outputs: list[NotebookNode]) -> Iterator[Altered]:
    """Yield outputs in each of which one thing that a reader sees is altered."""
    for place, output in enumerate(outputs):
        if output.output_type == "stream":
            yield from _edited(outputs, place, output.name, ("text",), _STREAM)
        elif output.output_type == "error":
            last = len(output.traceback) - 1
            yield from _edited(outputs, place, "traceback", ("traceback", last), _ANSI_OR_SEEN)
        else:
            yield from _data(outputs, place)


def _data(outputs: list[NotebookNode], place: int) -> Iterator[Altered]:
    data = outputs[place].data
    picture = any(mime.startswith("image/") for mime in data)
    for mime in data:
        bare = mime.removeprefix("application/papermill.record/")
        form = "glue" if bare != mime else _NAMES.get(mime, "")
        if form and not _says_nothing(data, mime):
            form = "beside a picture" if picture and form == "text" else form
            pattern = _HTML if bare in _MARKED_UP else _TEXT
            yield from _edited(outputs, place, form, ("data", mime), pattern)
            if mime == "text/html":
                yield from _tables(outputs, place)
            if mime not in ("text/plain", "image/svg+xml"):
                yield Altered(form, "dropped", _changed(outputs, place, partial(_drop, mime)))
    if picture:
        yield Altered("picture", "dropped", [*outputs[:place], *outputs[place + 1 :]])
        yield Altered("picture", "doubled", [*outputs[: place + 1], *outputs[place:]])


def _drop(mime: str, output: NotebookNode) -> None:
    del output.data[mime]


def _says_nothing(data: dict[str, str], mime: str) -> bool:
    """Whether it is a default repr, which is shown where nothing else could be."""
    return (
        mime == "text/plain" and re.fullmatch(r"<\S+ (?:at 0x\w+|object)>", data[mime]) is not None
    )


def _edited(
    outputs: list[NotebookNode],
    place: int,
    form: str,
    keys: tuple[str | int, ...],
    pattern: re.Pattern[str],
) -> Iterator[Altered]:
    """Alter each number and each word of a text, one after another."""
    text = _at(outputs[place], keys)
    for match in pattern.finditer(text):
        start, end = match.span()
        if match["number"]:
            last = text[end - 1]
            for new in (str((int(last) + 1) % 10), str((int(last) - 1) % 10), last + "5"):
                changed = text[: end - 1] + new + text[end:]
                yield _with(outputs, place, form, keys, changed, text[start : end + 8])
            yield _with(outputs, place, form, keys, f"{text[:start]}-{text[start:]}", "sign")
        elif match["word"]:
            new = "y" if text[end - 1] != "y" else "x"
            changed = text[: end - 1] + new + text[end:]
            yield _with(outputs, place, form, keys, changed, text[start:end])


def _tables(outputs: list[NotebookNode], place: int) -> Iterator[Altered]:
    """Drop and double rows of HTML tables, and exchange cells that are not alike."""
    html = outputs[place].data["text/html"]
    keys = ("data", "text/html")
    for row in _ROW.finditer(html):
        start, end = row.span()
        yield _with(outputs, place, "HTML", keys, html[:start] + html[end:], "row dropped")
        doubled = html[:end] + row[0] + html[end:]
        yield _with(outputs, place, "HTML", keys, doubled, "row doubled")
        cells = list(_CELL.finditer(html, start, end))
        for one, other in pairwise(cells):
            if one[2].strip() != other[2].strip():
                exchanged = (
                    html[: one.start(2)]
                    + other[2]
                    + html[one.end(2) : other.start(2)]
                    + one[2]
                    + html[other.end(2) :]
                )
                yield _with(outputs, place, "HTML", keys, exchanged, "cells exchanged")


def _at(output: NotebookNode, keys: tuple[str | int, ...]) -> str:
    value: Any = output
    for key in keys:
        value = value[key]
    return str(value) if isinstance(value, str) else json.dumps(value)


def _with(  # noqa: PLR0913, PLR0917 - one place in some outputs, and what is there
    outputs: list[NotebookNode],
    place: int,
    form: str,
    keys: tuple[str | int, ...],
    text: str,
    where: str,
) -> Altered:
    def change(output: NotebookNode) -> None:
        around: Any = output
        for key in keys[:-1]:
            around = around[key]
        around[keys[-1]] = text if isinstance(around[keys[-1]], str) else _structured(text)

    return Altered(form, where, _changed(outputs, place, change))


def _structured(text: str) -> object:
    """Return what altered JSON says; it may be none any more, as 05 is no number."""
    try:
        return json.loads(text)
    except ValueError:
        return [text]


def _changed(
    outputs: list[NotebookNode], place: int, change: Callable[[NotebookNode], object]
) -> list[NotebookNode]:
    new = copy.deepcopy(outputs[place])
    change(new)
    return [*outputs[:place], new, *outputs[place + 1 :]]


def _notebook(outputs: list[NotebookNode]) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell("shown", outputs=outputs)])
