"""What runs pages in a folder of their own, and what gives the text of their cells."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from runners import Pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nbformat import NotebookNode


_FILE_OF_CELL = re.compile(r"ipykernel_\d+")


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
def shown() -> Any:
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
