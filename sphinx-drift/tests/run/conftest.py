"""Notebooks run by the forking runner, by the stock kernel, or by both."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from nbformat import v4

from sphinx_drift.run import fork, fork_client, jupyter
from sphinx_drift.run.injected import files, report_environment, watch
from sphinx_drift.run.preload import SLOW
from sphinx_drift.run.results import Request

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Execution

_FILE_OF_CELL = re.compile(r"ipykernel_\d+")


class Pages:
    """Runs pages of code cells in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def notebook(self, *cells: str | tuple[str, str]) -> NotebookNode:
        """Return a notebook of cells: their code, or their code and a tag."""
        made = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "P"}})
        made.cells = [v4.new_markdown_cell("prose", id="prose")]
        for number, each in enumerate(cells):
            code, *tags = (each,) if isinstance(each, str) else each
            cell = v4.new_code_cell(code, id=f"cell-{number}", metadata={"tags": tags})
            made.cells.append(cell)
        return made

    def request(self, **settings: Any) -> Request:
        """Return a request as books make it."""
        given = {
            "timeout": 60,
            "before": (watch,),
            "after": (report_environment, files),
            **settings,
        }
        return Request(folder=self.folder, **given)

    def fork(
        self, *cells: str | tuple[str, str], **settings: Any
    ) -> tuple[NotebookNode, Execution]:
        """Run a page in a forked child."""
        made = self.notebook(*cells)
        with patch.dict(os.environ):
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            return made, fork.run(made, self.request(**settings))

    def stock(
        self, *cells: str | tuple[str, str], **settings: Any
    ) -> tuple[NotebookNode, Execution]:
        """Run a page in a Jupyter kernel."""
        made = self.notebook(*cells)
        with patch.dict(os.environ):
            # Under pytest the stock kernel doesn't look for what is written past Python.
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            return made, jupyter.run(made, self.request(**settings))


@pytest.fixture(autouse=True, scope="session")
def preloaded() -> None:
    """Load what most pages here import, as a book's project has it."""
    fork_client.preload(SLOW)


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    """Return what runs pages in a folder of their own."""
    return Pages(tmp_path)


@pytest.fixture(scope="session")
def text_of() -> Any:
    """Return what writes cells as text to compare: only the number of the process is taken out."""

    def write(cell: NotebookNode | Sequence[NotebookNode]) -> str:
        text = json.dumps(cell, indent=1, sort_keys=True, ensure_ascii=False)
        return _FILE_OF_CELL.sub("ipykernel_PID", text)

    return write


@pytest.fixture(scope="session")
def said() -> Any:
    """Return what gives the text of a cell's outputs."""

    def text(cell: NotebookNode) -> str:
        parts = []
        for output in cell.outputs:
            if output.output_type == "stream":
                parts.append(output.text)
            elif output.output_type == "error":
                parts.append(f"{output.ename}: {output.evalue}\n")
            else:
                parts.append(output.data["text/plain"] + "\n")
        return "".join(parts)

    return text
