"""What a cell wrote to its streams is told as one text each, whatever the clock did meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from nbformat.v4 import new_output

from sphinx_drift.run.page import joined

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from runners import Pages

# As a progress bar does: a line of stdout goes on after something on stderr.
TAKES_TURNS = """
import sys, time
print("begun", file=sys.stderr)
time.sleep({pause})
print("loss", end=" ")
time.sleep({pause})
print("\\r 50 %", end="", file=sys.stderr)
time.sleep({pause})
print(0.5)
time.sleep({pause})
print("\\r100 %", file=sys.stderr)
print("done")
"""
EXPECTED = [("stdout", "loss 0.5\ndone\n"), ("stderr", "begun\n\r 50 %\r100 %\n")]


@pytest.mark.parametrize("pause", [0, 0.5])
def test_pause_between_two_streams_changes_nothing(pages: Pages, pause: float) -> None:
    notebook, _ = pages.fork(TAKES_TURNS.format(pause=pause))
    assert [(o.name, o.text) for o in notebook.cells[1].outputs] == EXPECTED


def stream(name: str, text: str) -> NotebookNode:
    return new_output("stream", name=name, text=text)


def test_what_is_displayed_stays_between_what_was_printed_before_and_after() -> None:
    shown = new_output("display_data", {"text/plain": "shown"})
    pieces = [
        stream("stderr", "e1"),
        stream("stdout", "o1"),
        stream("stderr", "e2"),
        shown,
        stream("stdout", "o2"),
        stream("stderr", "e3"),
        stream("stdout", "o3"),
    ]
    whole = [
        stream("stdout", "o1"),
        stream("stderr", "e1e2"),
        shown,
        stream("stdout", "o2o3"),
        stream("stderr", "e3"),
    ]
    assert joined(pieces) == whole
    assert joined([]) == []
