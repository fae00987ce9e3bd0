"""What a page's process has loaded: the libraries that it imports, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import small_book

from sphinx_drift.compare.compare import Policy
from sphinx_drift.model import Kind
from sphinx_drift.run.host import HOST
from sphinx_drift.run_and_judge import ready, run_and_judge
from sphinx_drift.settings import Settings
from sphinx_drift.source.read_source import load

if TYPE_CHECKING:
    from pathlib import Path

NOTE = """
import sys
with open("runs", "a") as runs:
    print([name for name in ("numpy", "torch") if name in sys.modules], file=runs)
"""


@pytest.mark.parametrize(
    ("code", "documented", "loaded"),
    [
        ("print(0.1 + 0.2)", "0.3000000000000001", "[]\n[]\n"),
        ("import numpy\nprint(numpy.float64(0.1) + 0.2)", "0.3000000000000001", "[]\n['numpy']\n"),
        ("import torch\nprint(torch.tensor(155.92394))", "tensor(155.9240)", "[]\n['torch']\n"),
        (
            "import torch\nx = torch.tensor(155.92394).item()\nprint(f'{x:.4f}, {x / 200:.0%}')",
            "155.9240, 78%",
            "[]\n['torch']\n",
        ),
    ],
)
def test_second_look_is_at_the_libraries_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, documented: str, loaded: str
) -> None:
    monkeypatch.setattr(HOST, "preload", ("numpy", "torch"))
    page = small_book.FRONT + small_book.cell(NOTE) + "\n\n" + small_book.cell(code, documented)
    (tmp_path / "page.md").write_text(page, "utf-8")
    read = load(tmp_path / "page.md")
    assert read is not None
    settings = Settings(Policy.PORTABLE)
    result, _, _ = run_and_judge(ready(tmp_path / "page.md", *read, settings))
    assert [outcome.kind for outcome in result.outcomes] == [Kind.VERIFIED]
    assert (tmp_path / "runs").read_text("utf-8") == loaded
