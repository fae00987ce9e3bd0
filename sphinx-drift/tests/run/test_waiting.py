"""While pages wait for torch, a build reads those that need no outputs, and compiles templates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest
import small_book

if TYPE_CHECKING:
    from pathlib import Path

CONF = """
import json, pathlib

extensions = %r
html_theme = "basic"
read = pathlib.Path(__file__).with_name("read.jsonl")

def note(app, name, _):
    environment = app.builder.templates.environment
    with read.open("a") as file:
        compiled = [name for _, name in environment.cache]
        file.write(json.dumps({"page": name, "compiled": compiled}) + "\\n")

def setup(app):
    app.connect("source-read", note)
"""
FRONT = small_book.FRONT.replace("---", "---\norphan: true", 1)
CELL = "```{code-cell} ipython3\nprint(1)\n```\n"
CHECKED = f"{CELL}\n```{{expected-output}}\n1\n```\n"
PROSE = {"index": "# Book\n", "m-prose": "---\norphan: true\n---\n\n# M\n"}


class Read(NamedTuple):
    """Pages in the order in which they were read, and what was compiled before the first."""

    pages: list[str]
    compiled: set[str]


def read(folder: Path, extension: str, *with_cells: str, **variables: str) -> Read:
    """Build a book of prose and of these pages."""
    cell = CHECKED if extension == "sphinx_drift" else CELL
    cells = {name: f"{FRONT}# {name}\n\n{cell}" for name in with_cells}
    conf = {"conf.py": CONF % ["myst_nb", extension]}
    source = small_book.write(folder, conf | PROSE | cells)
    said = small_book.build(folder, **variables)
    assert said.returncode == 0, said.stderr
    lines = [json.loads(line) for line in (source / "read.jsonl").read_text().splitlines()]
    return Read([line["page"] for line in lines], set(lines[0]["compiled"]))


@pytest.fixture(params=["sphinx_drift.run", "sphinx_drift"])
def extension(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_pages_without_cells_are_read_first(extension: str, tmp_path: Path) -> None:
    found = read(tmp_path, extension, "a-cells", "z-cells")
    assert found.pages == ["index", "m-prose", "a-cells", "z-cells"]
    assert {"page.html", "layout.html"} <= found.compiled


def test_where_no_page_has_cells_nothing_is_done_first(tmp_path: Path) -> None:
    assert read(tmp_path, "sphinx_drift.run") == Read(["index", "m-prose"], set())


def test_where_no_page_is_forked_nothing_waits(extension: str, tmp_path: Path) -> None:
    found = read(tmp_path, extension, "a-cells", "z-cells", DRIFT_RUNNER="jupyter")
    assert found == Read(["a-cells", "index", "m-prose", "z-cells"], set())
