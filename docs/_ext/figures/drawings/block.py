"""The figure of the page on the transformer block: one word on its way through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import FOCUS, Drawing
from figures.page_trace import page_trace

if TYPE_CHECKING:
    from figures.attention_trace import Trace

LEFT, STEP, CELL = 96.0, 56.0, (46.0, 26.0)
MIDDLE = LEFT + 1.5 * CELL[0]
AROUND = 44.0  # where the lines run that lead around each half
LOUD = ("attention", "added", "out")


def block(_: Trace) -> Board:
    """Seven stages of one word, with the two ways around."""
    trace = page_trace("transformer-block", "stages")
    stages = list(trace.made["stages"])
    board = Board(STEP * len(stages) - 14, trace)
    for r, name in enumerate(stages):
        y = 6 + STEP * r
        role = "weight" if name == "attention" else "input"
        css = "fig-strong" if name in LOUD else ""
        paths = [f"stages.{name}.{FOCUS}.{c}" for c in range(3)]
        board.row(LEFT, y, paths, role, CELL, css)
        label = "fig-bold" if name in LOUD else "fig-muted"
        board.text(LEFT + 3 * CELL[0] + 12, y + 17.3, name, anchor="start", css=label)
        if r:
            board.arrow(MIDDLE, y - STEP + CELL[1] + 3, MIDDLE, y - 3)
    for first, last in ((0, stages.index("added")), (stages.index("added"), len(stages) - 1)):
        _around(board, 6 + STEP * first + 17, 6 + STEP * last + 9)
    _others(board, 6 + STEP * stages.index("attention"))
    return board


def _around(board: Board, start: float, end: float) -> None:
    """Draw the residual connection from one stage to the addition below."""
    board.line(LEFT - 2, start, AROUND, start)
    board.line(AROUND, start, AROUND, end)
    board.arrow(AROUND, end, LEFT - 3, end)
    board.text(AROUND + 22, end - 6, "+", size=18, css="fig-bold")


def _others(board: Board, y: float) -> None:
    """Show that here, and only here, the other words come in."""
    right = LEFT + 3 * CELL[0]
    board.text(right + 22, y - 12, "other words", anchor="start", size=SMALL, css="role-weight")
    for shift in (0.0, 14.0, 28.0):
        board.arrow(right - 22 + shift, y - 24, right - 46 + shift, y - 3, css="role-weight")


DRAWINGS: dict[str, Drawing] = {
    "block": Drawing("One word on its way through a transformer block", block),
}
