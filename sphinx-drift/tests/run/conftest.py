"""What runs pages in a folder of their own, and what gives the text of their outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from runners import Pages

from sphinx_drift.run.host import HOST
from sphinx_drift.run.page import run_page

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Run pages here, and not in the process that runs those of a build."""
    monkeypatch.setattr(HOST, "ask", lambda _, page: run_page(*page))
    return Pages(tmp_path)


@pytest.fixture(scope="session")
def shown() -> Any:
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
