"""Pages run by the forking runner or by the stock kernel."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from nbformat import v4

from sphinx_drift.run import fork, jupyter
from sphinx_drift.run.injected import files, report_environment, watch
from sphinx_drift.run.results import Request

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Execution


class Pages:
    """Runs pages of code cells in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def notebook(self, *cells: str | tuple[str, str]) -> NotebookNode:
        """Return a notebook of cells: their code, or their code and a tag."""
        result = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "P"}})
        result.cells = [v4.new_markdown_cell("prose", id="prose")]
        for number, each in enumerate(cells):
            code, *tags = (each,) if isinstance(each, str) else each
            cell = v4.new_code_cell(code, id=f"cell-{number}", metadata={"tags": tags})
            result.cells.append(cell)
        return result

    def request(self, **settings: Any) -> Request:
        """Return a request as books make it."""
        options = {
            "timeout": 60,
            "before": (watch,),
            "after": (report_environment, files),
            **settings,
        }
        return Request(folder=self.folder, **options)

    def fork(
        self, *cells: str | tuple[str, str], **settings: Any
    ) -> tuple[NotebookNode, Execution]:
        """Run a page in a forked child."""
        notebook = self.notebook(*cells)
        with patch.dict(os.environ):
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            return notebook, fork.run(notebook, self.request(**settings))

    def stock(
        self, *cells: str | tuple[str, str], **settings: Any
    ) -> tuple[NotebookNode, Execution]:
        """Run a page in a Jupyter kernel."""
        notebook = self.notebook(*cells)
        with patch.dict(os.environ):
            # Under pytest the stock kernel doesn't look for what is written past Python.
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            return notebook, jupyter.run(notebook, self.request(**settings))
