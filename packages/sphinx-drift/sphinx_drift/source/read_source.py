"""Read what a page or notebook documents: its cells, and what each must print."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sphinx_drift.model import Cell, Page
from sphinx_drift.source.expectations import DIRECTIVE, attach
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.markdown import (
    directive_of,
    is_cell,
    read_markdown,
    shared_parse,
)
from sphinx_drift.source.metadata import read_cell, read_front, shown_settings, with_own
from sphinx_drift.source.mystmd import mark_notebook, read_mystmd_page
from sphinx_drift.source.notebook import parse_notebook, read_notebook

if TYPE_CHECKING:
    from pathlib import Path

    from myst_nb.core.config import NbParserConfig
    from myst_parser.config.main import MdParserConfig
    from nbformat import NotebookNode

_NO_FORMAT = "it has cells, and no `file_format: mystnb` in its front matter: none would run"

# MyST pages --------------------------------------------------------------------------


def read_page(
    text: str,
    notebook: NotebookNode,
    config: MdParserConfig,
    *,
    settings: bool | NbParserConfig = True,
    key: str = "mystnb",
) -> Page:
    """Read a MyST page.

    Args:
        text: The page.
        notebook: Its cells, as MyST-NB reads them.
        config: How MyST-Parser reads it.
        settings: The book's; without a book, whether what cells write to stderr is shown.
        key: The key in a page's metadata under which MyST-NB's settings stand.

    Returns:
        Each code cell with the expectations that stand straight after it. An expectation
        that has no cell, an option that can't be read and the like are its problems.

    """
    lines, shown = lines_of(text), shown_settings(notebook, settings, key)
    reading = read_markdown(text, config)
    code = [token for token in reading.fences if is_cell(token)]
    nodes = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type != "markdown"]
    cells: list[Cell] = []
    ends: dict[int, int] = {}
    for token, (index, node) in zip(code, nodes, strict=True):
        if node.cell_type == "code":
            assert token.map  # noqa: S101 - kept above for having one
            first, last = token.map
            ends[len(cells)] = last
            cells.append(read_cell(len(cells) + 1, index, node, (first + 1, last), shown))
    problems = list(reading.swallowed)
    for token in reading.fences:
        if directive_of(token) == DIRECTIVE:
            problems += attach(token, cells, ends, lines)
    return with_own(Page(tuple(cells), tuple(problems)), notebook)


# Files -------------------------------------------------------------------------------


def is_notebook(path: Path) -> bool:
    """Whether a file is a notebook and not a page, by its ending."""
    return path.suffix.lower() == ".ipynb"


def load(
    path: Path,
    *,
    text: str | None = None,
    stderr: bool | None = None,
    key: str = "mystnb",
    is_mystmd: bool = False,
) -> tuple[Page, NotebookNode] | None:
    """Read a file: a notebook, or a MyST page that is one.

    Args:
        path: The file.
        text: What it is going to hold; None for what it holds.
        stderr: Whether what is written to stderr counts; None, that of pages does.
        key: The key in a file's metadata under which MyST-NB's settings stand.
        is_mystmd: Whether mystmd runs it, and not MyST-NB.

    Returns:
        What it documents, and the notebook to run; None for a page without cells.

    Raises:
        ValueError: If a notebook can't be read, or a page with cells isn't marked as one.

    """
    from myst_nb.core.read import (  # noqa: PLC0415 - an extra
        is_myst_markdown_notebook,
        read_myst_markdown_notebook,
    )
    from myst_parser.config.main import MdParserConfig  # noqa: PLC0415 - an extra

    config = MdParserConfig(enable_extensions={"colon_fence"})
    text = path.read_text("utf-8-sig") if text is None else text
    if is_notebook(path):
        notebook = parse_notebook(text)
        if is_mystmd:
            mark_notebook(notebook)
        return read_notebook(notebook, text, settings=bool(stderr), key=key), notebook
    if is_mystmd:
        return read_mystmd_page(text, config, stderr=stderr is not False, key=key)
    reading = read_markdown(text, config)
    if not is_myst_markdown_notebook(text):
        if reading.nested or any(
            is_cell(t) or directive_of(t) == DIRECTIVE for t in reading.fences
        ):
            read_front(text)  # which may be no YAML
            raise ValueError(_NO_FORMAT)
        return None
    with shared_parse():
        notebook = read_myst_markdown_notebook(text, config, add_source_map=True, path=path)
    page = read_page(text, notebook, config, settings=stderr is not False, key=key)
    # In a book, the directives that stand there tell it themselves.
    page = replace(page, problems=(*page.problems, *reading.nested))
    return (page, notebook) if page.cells or page.problems else None
