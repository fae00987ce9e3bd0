"""The quick reading of a page finds the cells that MyST-NB finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from myst_parser.config.main import MdParserConfig

from sphinx_drift.run.run import code_of
from sphinx_drift.run.scan import scan
from sphinx_drift.source.read_source import notebook_of_page

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("docs", "sphinx-drift/tests/pages", "sphinx-drift/tests/corpus")
FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"


def by_myst_nb(path: Path) -> NotebookNode | None:
    """Read a page as a build does."""
    text = path.read_text("utf-8")
    reader = create_nb_reader(str(path), MdParserConfig(), NbParserConfig(), text)
    return reader and notebook_of_page(reader.read, text)


def cells_of(path: Path) -> list[str]:
    scanned = scan(path)
    return scanned.cells if scanned else []


def has_own_settings(notebook: NotebookNode | None) -> bool:
    own = notebook.metadata if notebook else {}
    return "execution" in own or any("execution_" in name for name in own.get("mystnb") or {})


def pages() -> list[str]:
    paths = (path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*"))
    endings = {".md", ".ipynb"}
    return sorted(
        str(path.relative_to(ROOT))
        for path in paths
        if path.suffix in endings and "_build" not in path.parts and path.is_file()
    )


def test_every_page_here_is_read_as_myst_nb_reads_it() -> None:
    count = 0
    for name in pages():
        path = ROOT / name
        try:
            notebook = by_myst_nb(path)
        except Exception:  # noqa: BLE001, S112 - a page that can't be read isn't run
            continue
        expected = [source for _, source in code_of(notebook)] if notebook else []
        assert cells_of(path) == expected or has_own_settings(notebook), name
        count += bool(expected)
    assert count > 20


@pytest.mark.parametrize(
    "body",
    [
        "```{code-cell}\nprint(1)\n```",
        "```{code-cell}\n\fprint('a\u2028b')\n```",
        "```{code-cell} ipython3\n\nprint(1)\n```",
        "```{code-cell} ipython3\n:tags: [hide-input]\n\nprint(1)\n```",
        "```{code-cell} ipython3\n:tags: [skip-execution]\nprint(1)\n```",
        "```{code-cell} ipython3\n---\ntags: [hide-input]\n---\nprint(1)\n```",
        "````{code-cell} ipython3\nprint('''\n```\n''')\n````",
        "~~~{code-cell} ipython3\nprint(1)\n~~~",
        ":::{code-cell} ipython3\nprint(1)\n:::",
        "````{note}\n```{code-cell} ipython3\nprint(1)\n```\n````",
        "```python\nprint(1)\n```",
        "```{code-cell} ipython3\n```",
        "```{code-cell} ipython3\n\n\n  \n```",
        "```{code-cell}\nif 1:\n\n    print(1)\n\n\n```\n\nprose\n\n```{code-cell}\n2\n```",
        'prose\n+++\n\n```{code-cell}\n1\n```\n\n+++ {"a": 1}\n\nprose',
        "<!--\n\n```{code-cell}\n1\n```\n\n-->",
    ],
)
def test_cell_is_read_as_myst_nb_reads_it(tmp_path: Path, body: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(FRONT + "# Page\n\n" + body + "\n", "utf-8")
    notebook = by_myst_nb(page)
    assert notebook is not None
    assert cells_of(page) == [source for _, source in code_of(notebook)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("prose.md", b"# Prose\n\n```{code-cell}\n1\n```\n"),
        ("gone.md", None),
        ("binary.md", b"---\nmystnb \xff\n---\n"),
        ("broken.ipynb", b"{"),
        ("other.ipynb", b"[]"),
    ],
)
def test_what_is_no_notebook_has_no_cells(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert scan(tmp_path / name) is None


def test_notebook_is_read(tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "source": "prose"},
        {"cell_type": "code", "source": ["a = 1\n", "a"], "metadata": {}},
        {"cell_type": "code", "source": "b", "metadata": {"tags": ["skip-execution"]}},
        {"cell_type": "code", "source": "  "},
    ]
    (tmp_path / "page.ipynb").write_text(json.dumps({"cells": cells}))
    assert scan(tmp_path / "page.ipynb") == ("python3", ["a = 1\na"], False)
    cells[1]["outputs"] = [{"output_type": "stream", "text": "1"}]
    (tmp_path / "page.ipynb").write_text(json.dumps({"cells": cells}))
    assert scan(tmp_path / "page.ipynb") == ("python3", ["a = 1\na"], True)
    for own in ({"mystnb": {"execution_mode": "off"}}, {"execution": {"timeout": 600}}):
        (tmp_path / "page.ipynb").write_text(json.dumps({"cells": cells, "metadata": own}))
        assert scan(tmp_path / "page.ipynb") is None
