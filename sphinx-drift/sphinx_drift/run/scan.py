"""Reads the code cells of a page quickly: MyST-NB reads them for sure, later.

A page begins to run while Sphinx is still busy with others. If MyST-NB then reads other cells than
were read here, the page is run again: a mistake here costs time only.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

import yaml  # type: ignore[import-untyped]

from sphinx_drift.run.results import SKIPS
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_CELL = re.compile(r"(?P<fence>`{3,}|~{3,})\s*\{code-cell\}")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,}|:{3,})(?P<info>.*)")
_COMMENT = re.compile(r" {0,3}<!--")


class Scanned(NamedTuple):
    """The kernel of a page, and the sources of its cells that run."""

    kernel: str
    cells: list[str]
    expects: bool
    """Whether it documents what its cells print, as far as a glance tells."""


def scan(path: Path) -> Scanned | None:
    """Return what of a page runs; None for what is no notebook, or can't be read so quickly."""
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix == ".ipynb":
            return _of_notebook(json.loads(text))
        return _of_markdown(text) if path.suffix == ".md" else None
    except (AttributeError, KeyError, OSError, TypeError, ValueError, yaml.YAMLError):
        return None  # what it lacks is reported when it is read


def _of_notebook(notebook: dict) -> Scanned | None:  # type: ignore[type-arg]
    code = [
        "".join(cell["source"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        and SKIPS.isdisjoint(cell.get("metadata", {}).get("tags", ()))
    ]
    expects = any(cell.get("outputs") for cell in notebook["cells"])
    return _scanned(notebook.get("metadata") or {}, code, expects)


def _of_markdown(text: str) -> Scanned | None:
    if not text.startswith("---"):
        return None
    front, _, body = text[3:].partition("\n---")
    metadata = yaml.safe_load(front)
    if metadata.get("file_format") != "mystnb" and "jupytext" not in metadata:
        return None
    expects = "{expected-output}" in body
    return _scanned(metadata, map(_source, _bodies(lines_of(body))), expects)


def _scanned(
    metadata: dict,  # type: ignore[type-arg]
    code: Iterable[str],
    expects: bool,  # noqa: FBT001 - passed on
) -> Scanned | None:
    own = metadata.get("mystnb") or {}
    if "execution" in metadata or any(name.startswith("execution_") for name in own):
        return None  # whether it runs, and how, is not for us to say
    cells = [source for source in code if source.strip()]
    kernelspec = metadata.get("kernelspec") or {}
    name = str(kernelspec.get("name") or "python3")
    return Scanned(name, cells, expects or "drift" in metadata) if cells else None


def _bodies(lines: list[str]) -> list[list[str]]:
    """Return the lines of each fence at the top level that is a cell."""
    bodies: list[list[str]] = []
    fence, is_cell, in_comment = "", False, False
    body: list[str] = []
    for line in lines:
        match = _FENCE.match(line)
        if in_comment or (not fence and _COMMENT.match(line)):
            in_comment = "-->" not in line
        elif not fence:
            if match:
                fence, body = match["fence"], []
                is_cell = bool(_CELL.match(line))  # an indented one may be in a list
        elif match and match["fence"].startswith(fence) and not match["info"].strip():
            if is_cell:
                bodies.append(body)
            fence = ""
        else:
            body.append(line)
    return bodies


def _source(body: list[str]) -> str:
    """Return the code of a cell without its options; nothing if they say that it isn't run."""
    options: list[str] = []
    rest = list(body)
    if rest and rest[0].strip() == "---":
        rest.pop(0)
        while rest and rest[0].strip() != "---":
            options.append(rest.pop(0))
        rest = rest[1:]
    else:
        while rest and rest[0].startswith(":"):
            options.append(rest.pop(0))
    if any(tag in "".join(options) for tag in SKIPS):
        return ""
    if rest and not rest[0].strip():
        rest.pop(0)
    return "\n".join(rest)
