"""Read what a page or notebook documents: its cells, and what each must print."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from nbformat import NotebookNode

from sphinx_drift.model import Outcome, Page, below
from sphinx_drift.source.expectations import read_page
from sphinx_drift.source.markdown import (
    IN_NOTEBOOK,
    config_without_book,
    find_opening,
    lines_of,
    read_markdown,
)
from sphinx_drift.source.metadata import page_config, read_front
from sphinx_drift.source.mystmd import add_metadata, mystmd_notebook
from sphinx_drift.source.notebook import parse_notebook, read_notebook

_NO_KERNELSPEC = "`kernelspec` in its front matter must have a `name`, indented below it; got {}"
_NO_FORMAT = "it has cells, and no `file_format: mystnb` in its front matter: none would run"


def is_notebook(path: Path) -> bool:
    """Whether a file is a notebook and not a page, by its ending."""
    return path.suffix.lower() == ".ipynb"


def load(
    path: Path,
    *,
    text: str | None = None,
    of_book: Mapping[str, Any] | None = None,
    is_mystmd: bool = False,
) -> tuple[Page, NotebookNode] | None:
    """Read a file: a notebook, or a MyST page that is one.

    Args:
        path: The file.
        text: What it is going to hold; None for what it holds.
        of_book: MyST-NB's settings, as its book has them. Without a book that shows it, what a
            notebook has stored of stderr counts only if the notebook itself says so: warnings and
            progress bars name paths and times of the machine that wrote them.
        is_mystmd: Whether mystmd runs it, and not MyST-NB.

    Returns:
        What it documents, and the notebook to run; None for a page without cells.

    Raises:
        ValueError: If a notebook can't be read, or a page with cells isn't marked as one.

    """
    text = (path.read_text("utf-8") if text is None else text).removeprefix("\ufeff")
    if is_notebook(path):
        notebook = parse_notebook(text)
        if is_mystmd:
            add_metadata(notebook)
        of_notebook = {"output_stderr": "remove"} if of_book is None else of_book
        page = read_notebook(notebook, page_config(notebook.metadata, **of_notebook))
        unread = () if is_mystmd else _in_markdown(notebook)
        return replace(page, problems=(*page.problems, *unread)), notebook
    config = config_without_book()
    reading = read_markdown(text, config)
    front = read_front(text) if reading.fences else {}
    if not (is_mystmd or isinstance(kernel := front.get("kernelspec", {}), dict)):
        raise ValueError(_NO_KERNELSPEC.format(kernel))
    if is_mystmd:
        notebook = mystmd_notebook(text, reading.fences)
    elif is_myst_markdown_notebook(text):
        notebook = read_myst_markdown_notebook(text, config, path=path)
    elif reading.fences:
        raise ValueError(_NO_FORMAT)
    else:
        return None
    its_own = page_config(notebook.metadata, **(of_book or {}))
    page = read_page(reading, notebook, its_own, is_mystmd=is_mystmd)
    if not is_mystmd:
        page = replace(page, problems=(*page.problems, *reading.nested))
    return (page, notebook) if page.cells or page.problems else None


def _in_markdown(notebook: NotebookNode) -> Iterator[Outcome]:
    """Yield the cells and expectations in a notebook's Markdown, of which MyST-NB reads none."""
    above = 0
    for cell in notebook.cells:
        above += cell.cell_type == "code"
        if cell.cell_type == "markdown" and any(map(find_opening, lines_of(cell.source))):
            for fence in read_markdown(cell.source, config_without_book()).fences:
                unread = fence._replace(is_nested=True).unread
                if fence.is_expectation:
                    unread = replace(unread, message=f"{unread.message}\n{IN_NOTEBOOK}")
                yield replace(unread, line=1, where=below(above, fence.first))
