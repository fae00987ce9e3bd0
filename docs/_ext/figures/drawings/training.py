"""The figure of the page on training: three matrices before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import Board, Panels
from figures.drawing import Drawing

if TYPE_CHECKING:
    from figures.values import Values

ROLES = ("query", "key", "value")
CELL = (33.0, 21.0)
LEFT, GAP = 48.0, 6.0  # room for the row labels; space between two matrices
TOP = 46.0  # of the matrices, below their names
ENTRIES = ("red", "green", "blue", "0", "1", "2", "red?", "green?", "blue?")
SWATCHES = (-1.0, -0.66, -0.33, 0.0, 0.33, 0.66, 1.0)


def training(values: Values) -> Panels:
    """Heat maps of the three matrices, before training and after it."""
    return Panels(*(_stage(values, stage) for stage in ("before", "after")))


def _stage(values: Values, stage: str) -> Board:
    board = Board(TOP + 9 * CELL[1] + 34, values)
    board.text(0, 16, f"{stage} training", anchor="start", css="fig-bold")
    for row, entry in enumerate(ENTRIES):
        base = TOP + CELL[1] * (row + 0.5) + 4.3
        board.note(LEFT - 5, base, entry, anchor="end")
    for place, role in enumerate(ROLES):
        x = LEFT + (3 * CELL[0] + GAP) * place
        board.text(x + 1.5 * CELL[0], TOP - 8, f"$W_{{{role[0]}}}$", css=f"role-{role} fig-bold")
        _heat_map(board, values, (stage, place), x)
    _key(board, TOP + 9 * CELL[1] + 14, _furthest(values))
    return board


def _heat_map(board: Board, values: Values, which: tuple[str, int], x: float) -> None:
    """Draw a matrix: one color above 0, another below, and stronger where further from 0."""
    stage, place = which
    furthest = _furthest(values)
    for r, row in enumerate(values[stage][place]):
        for c, number in enumerate(row):
            board.shade(x + CELL[0] * c, TOP + CELL[1] * r, CELL, *_color(number / furthest))
    for r in (3, 6):
        board.line(x, TOP + CELL[1] * r, x + 3 * CELL[0], TOP + CELL[1] * r)
    board.box(x, TOP, 3 * CELL[0], 9 * CELL[1], f"fig-frame role-{ROLES[place]}")


def _furthest(values: Values) -> float:
    """Return the largest entry of all, without its sign: one scale for all six matrices."""
    stages = (*values["before"], *values["after"])
    return max(abs(number) for matrix in stages for row in matrix for number in row)


def _color(share: float) -> tuple[float, str]:
    return 0.62 * abs(share), "positive" if share >= 0 else "negative"


def _key(board: Board, y: float, furthest: float) -> None:
    """Draw the scale of all six: as far below 0 as above it."""
    low, high = f"−{furthest:.2f}", f"{furthest:.2f}"
    board.note(LEFT + 44, y + 9.5, low, anchor="end")
    board.key(LEFT + 51, y, [_color(share) for share in SWATCHES])
    board.note(LEFT + 184, y + 9.5, high, anchor="start")


DRAWINGS: dict[str, Drawing] = {
    "training": Drawing("Three matrices before and after training", training),
}
