"""Read pages and notebooks as mystmd runs them, which is what Jupyter Book 2 builds books with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sphinx_drift.model import Kind, Outcome, Page
from sphinx_drift.settings import table_in
from sphinx_drift.source.expectations import DIRECTIVE, attach
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.markdown import directive_of, read_markdown
from sphinx_drift.source.metadata import read_cell, read_front, shown_settings, with_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from myst_parser.config.main import MdParserConfig
    from nbformat import NotebookNode

NO_KERNEL = "no kernelspec"
"""Why mystmd runs no cell of a page."""
_OPTION = re.compile(r":([\w-]+):[ \t]*(.*)")
_OPTIONS = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"#\|[ \t]?(.*)")
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

    lines = lines_of(text)
    notebook: NotebookNode = v4.new_notebook(metadata=read_front(text))  # type: ignore[no-untyped-call]
    shown = shown_settings(notebook, stderr, key)
    cells: list[Any] = []
    ends: dict[int, int] = {}
    reading = read_markdown(text, config)
    problems = [*reading.swallowed, *_evaluated(lines)]
    for token in reading.everywhere:
        assert token.map  # noqa: S101 - a fence has one
        if directive_of(token) == DIRECTIVE:
            problems += attach(token, cells, ends, lines)
        else:
            source, tags = _read_cell(token.content)
            node = v4.new_code_cell(source, metadata={"tags": tags})  # type: ignore[no-untyped-call]
            notebook.cells.append(node)
            first, last = token.map
            ends[len(cells)] = last
            index = len(notebook.cells) - 1
            cells.append(read_cell(len(cells) + 1, index, node, (first + 1, last), shown))
    page = with_own(Page(tuple(cells), tuple(problems)), notebook)
    return (page, notebook) if cells or problems else None


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
    import yaml  # noqa: PLC0415 - the same

    options: dict[str, Any] = {}
    if block := _OPTIONS.match(content):
        options, content = yaml.safe_load(block[1]) or {}, content[block.end() :]
    rows = content.split("\n")
    while rows and (option := _OPTION.fullmatch(rows[0].strip())):
        options[option[1]] = option[2]
        del rows[0]
    source = "\n".join(rows).strip("\n")
    tags = _tags(options.get("tags", options.get("tag")))
    return source, [*tags, *_tags_in_comments(source)]


def _tags_in_comments(source: str) -> list[str]:
    """Return the tags of the comments `#| tags: ...` with which code begins."""
    import yaml  # noqa: PLC0415 - the same

    options_text = []
    for line in filter(None, map(str.strip, source.split("\n"))):
        if match := _COMMENT.match(line):
            options_text.append(match[1])
        elif not line.startswith("%%"):
            break
    try:
        options = yaml.safe_load("\n".join(options_text))
    except yaml.YAMLError:
        return []
    return _tags(options.get("tags", options.get("tag"))) if isinstance(options, dict) else []


def _tags(value: object) -> list[str]:
    """Return tags that are given as a list, or as a text with commas."""
    if isinstance(value, str):
        value = value.strip().removeprefix("[").removesuffix("]").split(",")
    items = value if isinstance(value, (list, tuple)) else []
    return [tag for item in items if (tag := str(item).strip().strip("\"'"))]


def _evaluated(lines: list[str]) -> list[Outcome]:
    """Return an outcome for each number that `{eval}` puts into a sentence: none is checked."""
    message = "`{eval}` puts it into a sentence, and nothing documents it"
    return [
        Outcome(Kind.UNCHECKED, number, message=message)
        for number, line in enumerate(lines, start=1)
        for _ in _EVAL.finditer(line)
    ]
