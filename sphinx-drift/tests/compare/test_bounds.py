"""The cells by which bounds are chosen: all run, and again at full precision."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cells import cells

TOOLS = Path(__file__).resolve().parents[3] / "tools"


@pytest.mark.slow
def test_every_cell_prints_and_most_print_more_digits_when_asked() -> None:
    completed = subprocess.run(
        [sys.executable, str(TOOLS / "run_cells.py")], stdout=subprocess.PIPE, check=True
    )
    pairs = json.loads(completed.stdout)
    assert len(pairs) == len(cells())
    assert all(text and full for text, full in pairs)
    assert sum(len(full) > len(text) for text, full in pairs) > len(pairs) / 2
