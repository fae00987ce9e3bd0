"""The figure of the page on devices: where a GPU's random numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing

if TYPE_CHECKING:
    from figures.attention_trace import Trace

COLUMNS = (90.0, 270.0)
WAYS = (
    ("as it is", "key", ("the GPU's generator", "other weights", "other results")),
    (
        "with the two lines",
        "query",
        ("the CPU's generator", "the book's weights", "the book's results"),
    ),
)
BETWEEN = ("draws", "computes on the GPU")
MOVED = ("draws, then moves them", "computes on the GPU")
AFTER = ("", "up to rounding")


def generators(trace: Trace) -> Board:
    """One seed through two generators, to different numbers or to the same ones."""
    board = Board(326, trace)
    board.box(70, 4, 220, 34, "fig-box role-input")
    board.text(180, 26, "the same seed, 123", css="fig-bold")
    for place, (x, (title, role, stops)) in enumerate(zip(COLUMNS, WAYS, strict=True)):
        board.text(x, 76, title, css=f"role-{role} fig-bold")
        board.arrow(180 + 0.4 * (x - 180), 42, x, 60)
        for step, stop in enumerate(stops):
            y = 88 + 78 * step
            board.box(x - 82, y, 164, 36, f"fig-box role-{role}")
            board.text(x, y + 23, stop)
            if step < len(BETWEEN):
                board.arrow(x - 62, y + 40, x - 62, y + 74)
                note = (BETWEEN, MOVED)[place][step]
                board.text(x - 52, y + 61, note, anchor="start", size=SMALL, css="fig-muted")
        board.text(x, 298, AFTER[place], size=SMALL, css="fig-muted")
    return board


DRAWINGS: dict[str, Drawing] = {
    "generators": Drawing("One seed and two generators", generators),
}
