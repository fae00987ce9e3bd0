"""While pages wait for torch, a build reads those that need no outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import small_book

if TYPE_CHECKING:
    from pathlib import Path

CONF = """
import pathlib

extensions = %r
html_theme = "basic"

def note(app, name, _):
    with pathlib.Path(__file__).with_name("read").open("a") as file:
        print(name, file=file)

def setup(app):
    app.connect("source-read", note)
"""
FRONT = small_book.FRONT.replace("---", "---\norphan: true", 1)
CELL = "```{code-cell} ipython3\nprint(1)\n```\n"
CHECKED = f"{CELL}\n```{{expected-output}}\n1\n```\n"
PROSE = {"index": "# Book\n", "m-prose": "---\norphan: true\n---\n\n# M\n"}


def read(folder: Path, extension: str, *with_cells: str, **variables: str) -> list[str]:
    """Build a book of prose and of these pages, and return the order in which they were read."""
    cell = CHECKED if extension == "sphinx_drift" else CELL
    cells = {name: f"{FRONT}# {name}\n\n{cell}" for name in with_cells}
    conf = {"conf.py": CONF % ["myst_nb", extension]}
    source = small_book.write(folder, conf | PROSE | cells)
    result = small_book.build(folder, **variables)
    assert result.returncode == 0, result.stderr
    return (source / "read").read_text().split()


@pytest.fixture(params=["sphinx_drift.run", "sphinx_drift"])
def extension(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_pages_without_cells_are_read_first(extension: str, tmp_path: Path) -> None:
    assert read(tmp_path, extension, "a-cells", "z-cells") == [
        *("index", "m-prose", "a-cells", "z-cells")
    ]


def test_where_no_page_is_forked_nothing_waits(extension: str, tmp_path: Path) -> None:
    order = read(tmp_path, extension, "a-cells", "z-cells", DRIFT_RUNNER="jupyter")
    assert order == ["a-cells", "index", "m-prose", "z-cells"]
