"""Pages run in forked kernels, or in those that Jupyter starts."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nbformat import NotebookNode, v4

from sphinx_drift.output.printed_text import Part, read_outputs
from sphinx_drift.probes import injected
from sphinx_drift.run.injected import leave_no_bytecode, report_environment
from sphinx_drift.run.results import Execution, Failure, Request
from sphinx_drift.run.run import execute

PRELOAD = ("numpy", "torch")
Code = str | tuple[str, str]
"""A cell: its code, or its code and a tag."""


def shown(cell: NotebookNode) -> str:
    return read_outputs(cell.outputs).select(Part.ALL)


class Pages:
    """Runs pages of code cells in a folder, in this process's own kernels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def notebook(self, *cells: Code) -> NotebookNode:
        result = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "P"}})
        result.cells = [v4.new_markdown_cell("prose", id="prose")]
        for number, each in enumerate(cells):
            code, *tags = (each,) if isinstance(each, str) else each
            cell = v4.new_code_cell(code, id=f"cell-{number}", metadata={"tags": tags})
            result.cells.append(cell)
        return result

    def request(self, **settings: Any) -> Request:
        options = {
            "timeout": 60,
            "before": (injected(leave_no_bytecode),),
            "after": (injected(report_environment),),
            "preload": PRELOAD,
            "variables": {"DRIFT_RUNNER": "fork"},
            **settings,
        }
        return Request(folder=self.folder, **options)

    def fork(self, *cells: Code, **settings: Any) -> tuple[NotebookNode, Execution]:
        notebook, request = self.notebook(*cells), self.request(**settings)
        with patch.dict(os.environ):
            # Under pytest a kernel doesn't look for what is written past Python.
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            return notebook, execute(notebook, request)

    def failure(self, *cells: Code, **settings: Any) -> Failure:
        execution = self.fork(*cells, **settings)[1]
        assert execution.failure
        return execution.failure

    def stock(self, *cells: Code, **settings: Any) -> tuple[NotebookNode, Execution]:
        return self.fork(*cells, variables={"DRIFT_RUNNER": "jupyter"}, **settings)
