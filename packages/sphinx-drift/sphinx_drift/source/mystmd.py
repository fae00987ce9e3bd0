"""Read pages and notebooks as mystmd runs them, which is what Jupyter Book 2 builds books with."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sphinx_drift.model import Kind, Outcome, Page
from sphinx_drift.settings import table_in
from sphinx_drift.source.expectations import paired
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.markdown import DIRECTIVE, directive_of, read_markdown
from sphinx_drift.source.metadata import read_front, shown_without_book

if TYPE_CHECKING:
    from collections.abc import Mapping

    from myst_parser.config.main import MdParserConfig
    from nbformat import NotebookNode

NO_KERNEL = "no kernelspec"
"""Why mystmd runs no cell of a page."""
_OPTION = re.compile(r":([\w-]+:.*)")
_BLOCK = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_EVAL = re.compile(r"\{eval\}`[^`\n]+`")


def read_mystmd_page(
    text: str, config: MdParserConfig, *, stderr: bool, key: str
) -> tuple[Page, NotebookNode] | None:
    """Read a page, with the cells and expectations inside directives, lists and quotations too.

    Returns:
        What it documents, and the notebook to run; None for a page without cells.

    Raises:
        ValueError: If its front matter isn't YAML.

    """
    from nbformat import v4  # noqa: PLC0415 - reading prose needs none

    reading, lines = read_markdown(text, config), lines_of(text)
    notebook: NotebookNode = v4.new_notebook(metadata=read_front(text))  # type: ignore[no-untyped-call]
    for fence in reading.everywhere:
        if directive_of(fence) != DIRECTIVE:
            source, tags = _read_cell(fence.content)
            node = v4.new_code_cell(source, metadata={"tags": tags})  # type: ignore[no-untyped-call]
            notebook.cells.append(node)
    shown = shown_without_book(notebook.metadata, stderr=stderr, key=key)
    page = paired(reading.everywhere, notebook, lines, shown)
    page = replace(page, problems=(*reading.swallowed, *_evaluated(lines), *page.problems))
    return (page, notebook) if page.cells or page.problems else None


def mark_notebook(notebook: NotebookNode) -> None:
    """Give a notebook what mystmd reads from its first cell and from comments in its code.

    Raises:
        ValueError: If its front matter isn't YAML.

    """
    first = notebook.cells[0] if notebook.cells else None
    if first is not None and first.cell_type == "markdown":
        notebook.metadata.update(read_front(first.source))
    for cell in notebook.cells:
        if cell.cell_type == "code" and (tags := _tags_in_comments(cell.source)):
            cell.metadata["tags"] = [*(cell.metadata.get("tags") or ()), *tags]


def why_not_run(metadata: Mapping[str, Any]) -> str:
    """Return why mystmd runs no cell of a page or notebook; nothing if it does."""
    return "" if table_in(metadata, "kernelspec") else NO_KERNEL


def _read_cell(content: str) -> tuple[str, list[str]]:
    """Return a cell's code, and its tags."""
    options = ""
    if block := _BLOCK.match(content):
        options, content = block[1], content[block.end() :]
    rows = content.split("\n")
    while rows and (option := _OPTION.fullmatch(rows[0].strip())):
        options += f"{option[1]}\n"
        del rows[0]
    source = "\n".join(rows).strip("\n")
    return source, [*_tags(options), *_tags_in_comments(source)]


def _tags_in_comments(source: str) -> list[str]:
    """Return the tags of the comments `#| tags: ...` with which code begins."""
    rows = filter(None, map(str.strip, source.split("\n")))
    head = takewhile(lambda row: row.startswith(("#|", "%%")), rows)
    return _tags("\n".join(row.removeprefix("#|").strip() for row in head if row[0] == "#"))


def _tags(options: str) -> list[str]:
    """Return the tags in options, given as a list or as a text with commas."""
    import yaml  # noqa: PLC0415 - notebooks need none

    with suppress(yaml.YAMLError):
        read = yaml.safe_load(options)
        value = read.get("tags", read.get("tag")) if isinstance(read, dict) else None
        items = value.split(",") if isinstance(value, str) else value
        if isinstance(items, list):
            return [tag for item in items if (tag := str(item).strip())]
    return []


def _evaluated(lines: list[str]) -> list[Outcome]:
    """Return an outcome for each number that `{eval}` puts into a sentence: none is checked."""
    message = "`{eval}` puts it into a sentence, and nothing documents it"
    return [
        Outcome(Kind.UNCHECKED, number, message=message)
        for number, line in enumerate(lines, start=1)
        for _ in _EVAL.finditer(line)
    ]
