"""Reads the code cells of a page quickly: MyST-NB reads them for sure, later.

A page begins to run while Sphinx is still busy with others. If MyST-NB then reads other cells than
were read here, the page is run again: a mistake here costs time only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import yaml  # type: ignore[import-untyped]
from markdown_it import MarkdownIt

from sphinx_drift.run.results import SKIPS
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MARKDOWN = MarkdownIt("commonmark").disable("inline")


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
    fences = (each for each in _MARKDOWN.parse(body) if each.type == "fence" and not each.level)
    cells = (each.content for each in fences if each.info.strip().startswith("{code-cell}"))
    return _scanned(metadata, map(_source, cells), "{expected-output}" in body)


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


def _source(body: str) -> str:
    """Return the code of a cell without its options; nothing if they say that it isn't run."""
    lines = lines_of(body)
    if lines and lines[0].strip() == "---":
        rules = [n for n, line in enumerate(lines) if line.strip() == "---"]
        end = rules[1] + 1 if len(rules) > 1 else len(lines)
    else:
        end = next((n for n, line in enumerate(lines) if not line.startswith(":")), len(lines))
    if any(tag in "".join(lines[:end]) for tag in SKIPS):
        return ""
    rest = lines[end:]
    return "\n".join(rest[1:] if rest and not rest[0].strip() else rest)
