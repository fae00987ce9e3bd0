"""Reads the code cells of a page quickly: MyST-NB reads them for sure, later.

A page begins to run while Sphinx is still busy with others. If MyST-NB then reads other cells than
were read here, the run is thrown away and the page is run again: a mistake here costs time only.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from pathlib import Path

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,}|:{3,})(?P<info>.*)")
_COMMENT = re.compile(r" {0,3}<!--")
_CELL = "{code-cell}"
# Of MyST-NB or jupyter-cache, for one page: how it runs, and whether, is not for us to say.
_SETTING = re.compile(r"execution_|^execution:|\"execution\":", re.MULTILINE)


def scan(path: Path) -> list[str]:
    """Return the sources of a page's cells that run, in order; none for what is no notebook."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    if path.suffix == ".ipynb":
        return _of_notebook(text)
    if not text.startswith("---") or ("mystnb" not in text and "myst" not in text):
        return []
    if _SETTING.search(text.split("\n---", 1)[0]):
        return []
    return [source for body in _bodies(lines_of(text)) if (source := _source(body)).strip()]


def _of_notebook(text: str) -> list[str]:
    try:
        notebook = json.loads(text)
        if _SETTING.search(json.dumps(notebook.get("metadata"))):
            return []
        code = [
            "".join(cell["source"])
            for cell in notebook["cells"]
            if cell["cell_type"] == "code"
            and "skip-execution" not in cell.get("metadata", {}).get("tags", ())
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []  # what it lacks is reported when it is read
    return [source for source in code if source.strip()]


def _bodies(lines: list[str]) -> list[list[str]]:
    """Return the lines of each fence at the top level that is a cell."""
    bodies: list[list[str]] = []
    fence, is_cell = "", False
    body: list[str] = []
    in_comment = False
    for line in lines:
        match = _FENCE.match(line)
        if in_comment or (not fence and _COMMENT.match(line)):
            in_comment = "-->" not in line
        elif not fence:
            if match:
                fence, body = match["fence"], []
                # What is indented may be in a list, and what is not at the top level is no cell.
                is_cell = line[0] in "`~" and match["info"].strip().startswith(_CELL)
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
    if "skip-execution" in "".join(options):
        return ""
    if rest and not rest[0].strip():
        rest.pop(0)
    return "\n".join(rest)
