"""The figure of the page on training: three matrices before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drawings import Drawing
from svg import SMALL, Board
from training_trace import ROLES, TrainingTrace, training_trace

if TYPE_CHECKING:
    from attention_trace import Trace

CELL = (32.0, 20.0)
LEFT, GAP = 48.0, 10.0  # room for the row labels; space between two matrices
ENTRIES = ("red", "green", "blue", "0", "1", "2", "red?", "green?", "blue?")
BLOCK = 246.0  # height of one stage


def training(_: Trace) -> Board:
    """Heat maps of the three matrices, before training above and after it below."""
    trace = training_trace()
    board = Board(2 * BLOCK, trace)  # type: ignore[arg-type]  # a board only asks it for numbers
    for place, stage in enumerate(("before", "after")):
        _stage(board, trace, stage, BLOCK * place)
    return board


def _stage(board: Board, trace: TrainingTrace, stage: str, top: float) -> None:
    board.text(0, top + 16, f"{stage} training", anchor="start", css="fig-bold")
    floor = top + 46
    for row, entry in enumerate(ENTRIES):
        base = floor + CELL[1] * (row + 0.5) + 4.3
        board.text(LEFT - 5, base, entry, anchor="end", size=SMALL, css="fig-muted")
    for place, role in enumerate(ROLES):
        x = LEFT + (3 * CELL[0] + GAP) * place
        board.text(x + 1.5 * CELL[0], floor - 8, f"W_{{{role}}}", css=f"role-{role} fig-bold")
        _heat_map(board, trace, (stage, place), (x, floor))


def _heat_map(
    board: Board, trace: TrainingTrace, which: tuple[str, int], corner: tuple[float, float]
) -> None:
    """Draw a matrix, darker where it is further from 0, on the same scale in both stages."""
    stage, place = which
    x, y = corner
    matrix, role = getattr(trace, stage)[place], ROLES[place]
    largest = max(abs(number) for row in trace.after[place] for number in row)
    for r, row in enumerate(matrix):
        for c, number in enumerate(row):
            left, top = x + CELL[0] * c, y + CELL[1] * r
            board.shade(left, top, CELL, 0.04 + 0.38 * abs(number) / largest, role)
            path = f"{stage}.{place}.{r}.{c}"
            board.number(left + CELL[0] / 2, top + CELL[1] / 2 + 4, path, size=11.5)
    for r in (3, 6):
        board.line(x, y + CELL[1] * r, x + 3 * CELL[0], y + CELL[1] * r)
    board.box(x, y, 3 * CELL[0], 9 * CELL[1], f"fig-frame role-{role}")


DRAWINGS: dict[str, Drawing] = {
    "training": Drawing("Three matrices before and after training", training),
}
