"""Write generated books: the same pages as each way of running them wants them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nbformat import v4

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbformat import NotebookNode

EXT = Path(__file__).resolve().parents[1] / "docs" / "_ext"
PRINTED = 10  # tensors on a page
BETWEEN = "\x1e"  # stands in no output

FRONT = """\
---
file_format: mystnb
kernelspec:
  name: python3
---

"""
FIRST = """\
import torch
from torch import nn

torch.manual_seed({number})
layer = nn.Linear(3, 2)
inputs = torch.rand(6, 3)  # (6, 3)"""
NEXT = """\
with torch.no_grad():
    print(torch.softmax(layer(inputs) * {number}, dim=-1))"""
CONFIGURATION = """\
import importlib
import sys

sys.path.insert(0, {path!r})
project = "A generated book"
extensions = {extensions}
html_theme = {theme!r}
nb_execution_mode = "force"
drift_policy = "exact"


def setup(app):
    for part in {parts}:
        importlib.import_module(part).setup(app)
"""
THEMED = (
    "figures.numbered_blocks",
    *("website.address", "website.social_preview", "website.search_index"),
    *("website.sidebar", "website.verified_foot", "website.theme"),
    *("website.permalinks", "website.stale_pages"),
)
"""What a book needs that has this one's theme, and what it then may want."""


class Cell(NamedTuple):
    """A cell, what it prints, and the sentence before it."""

    sentence: str
    code: str
    printed: str = ""


class Page(NamedTuple):
    """One page of a book."""

    name: str
    title: str
    cells: tuple[Cell, ...]


def pages(number: int) -> list[Page]:
    """Return the pages of a book: each imports torch, makes a module and prints ten tensors."""
    return [_page(place) for place in range(1, number + 1)]


def _page(number: int) -> Page:
    first = Cell("A module is made.", FIRST.format(number=number))
    rest = (
        Cell(f"What it computes is multiplied by {factor} before softmax.", code)
        for factor in range(1, PRINTED + 1)
        for code in [NEXT.format(number=factor)]
    )
    return Page(f"page-{number:03}", f"Page {number}", (first, *rest))


def documented(book: Iterable[Page]) -> list[Page]:
    """Return the pages with what their cells print, from running them once."""
    book = list(book)
    script = f"\nprint({BETWEEN!r}, end='')\n".join(c.code for page in book for c in page.cells)
    completed = subprocess.run(
        [sys.executable, "-"],
        input=script,  # too long for an argument
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    printed = iter(completed.stdout.split(BETWEEN))
    return [
        page._replace(cells=tuple(cell._replace(printed=next(printed)) for cell in page.cells))
        for page in book
    ]


def write_sphinx(
    folder: Path, book: Sequence[Page], *, checked: bool, themed: bool = False
) -> None:
    """Write a book for Sphinx: for MyST-NB alone, or with what `sphinx_drift` checks.

    It has sphinx-book-theme, or this book's theme.
    """
    extensions = ["myst_nb", "sphinx_drift"] if checked else ["myst_nb"]
    extensions += ["sphinx_design"] if themed else []
    parts = THEMED if themed else ()
    theme = "selfattn" if themed else "sphinx_book_theme"
    folder.mkdir(parents=True)
    _write(
        folder / "conf.py",
        CONFIGURATION.format(extensions=extensions, parts=parts, theme=theme, path=str(EXT)),
    )
    listed = "\n".join(page.name for page in book)
    _write(folder / "index.md", f"# A generated book\n\n```{{toctree}}\n{listed}\n```\n")
    _write_pages(folder, book, checked=checked)


def change(folder: Path, book: Sequence[Page]) -> None:
    """Write a sentence more on a page in the middle of a book for Sphinx."""
    path = folder / f"{book[len(book) // 2].name}.md"
    _write(path, f"{path.read_text('utf-8')}\nThis sentence is new.\n")


def write_jupyter_book(folder: Path, book: Sequence[Page]) -> None:
    """Write a book for Jupyter Book 1."""
    folder.mkdir(parents=True)
    settings = {"title": "A generated book", "execute": {"execute_notebooks": "force"}}
    _write(folder / "_config.yml", json.dumps(settings))  # JSON is YAML
    chapters = [{"file": page.name} for page in book]
    _write(
        folder / "_toc.yml",
        json.dumps({"format": "jb-book", "root": "index"} | {"chapters": chapters}),
    )
    _write(folder / "index.md", "# A generated book\n")
    _write_pages(folder, book, checked=False)


def write_notebooks(folder: Path, book: Sequence[Page]) -> None:
    """Write the pages as notebooks with their outputs, for pytest's plugins."""
    folder.mkdir(parents=True)
    _write(folder / "pytest.ini", "[pytest]\n")  # nothing above this folder is asked
    for page in book:
        _write(folder / f"{page.name}.ipynb", json.dumps(notebook(page)))


def write_script(folder: Path, book: Sequence[Page]) -> None:
    """Write all cells of a book as one script."""
    folder.mkdir(parents=True)
    _write(folder / "book.py", "\n".join(cell.code for page in book for cell in page.cells) + "\n")


def markdown(page: Page, *, checked: bool) -> str:
    """Return the source of a page, with what it documents if that is checked."""
    parts = [f"# {page.title}\n"]
    for cell in page.cells:
        parts.append(f"{cell.sentence}\n")
        parts.append(f"```{{code-cell}} ipython3\n{cell.code}\n```\n")
        if checked and cell.printed:
            parts.append(f"```{{expected-output}}\n{cell.printed}```\n")
    return FRONT + "\n".join(parts)


def notebook(page: Page) -> NotebookNode:
    """Return a page as a notebook."""
    cells = [v4.new_markdown_cell(f"# {page.title}", id="title")]
    for place, cell in enumerate(page.cells, start=1):
        printed = [v4.new_output("stream", text=cell.printed)] if cell.printed else []
        code = {"execution_count": place, "outputs": printed, "id": f"code-{place}"}
        cells.append(v4.new_markdown_cell(cell.sentence, id=f"text-{place}"))
        cells.append(v4.new_code_cell(cell.code, **code))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _write_pages(folder: Path, book: Iterable[Page], *, checked: bool) -> None:
    for page in book:
        _write(folder / f"{page.name}.md", markdown(page, checked=checked))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
