"""What runs pages in a folder of their own, and what gives the text of their outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from runners import Pages

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
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
