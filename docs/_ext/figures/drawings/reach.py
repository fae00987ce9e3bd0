"""The figures of the pages on long texts, windows and shared matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import Board
from figures.drawing import Drawing

if TYPE_CHECKING:
    from figures.values import Values

# Losses by position -----------------------------------------------------------------------

AXIS, FLOOR, TALL, WIDE = 34.0, 214.0, 190.0, 228.0
LOWEST, HIGHEST = 1.9, 3.0
LINES = (  # curve, role, dashes, how far its label is from its end
    ("as trained", "query", "", -7.0),
    ("NTK-aware", "key", "8 3", 5.0),
    ("interpolated", "weight", "6 4", 4.0),
    ("YaRN", "input", "2 4", 0.0),
    ("ReRoPE", "value", "", 0.0),
)


def long_texts(values: Values) -> Board:
    """The loss position by position, beyond the length that the model was trained with."""
    board = Board(FLOOR + 40, values)
    for tick in (2.0, 2.5, 3.0):
        board.line(AXIS - 5, _level(tick), AXIS, _level(tick))
        board.note(AXIS - 9, _level(tick) + 4, f"{tick:.1f}", anchor="end")
    for position in (0, 32, 64, 96, 128):
        board.note(_across(position), FLOOR + 16, f"{position}")
    board.line(_across(32), _level(HIGHEST), _across(32), FLOOR)
    board.note(_across(32) + 5, FLOOR - 6, "longer than in training", anchor="start")
    for name, role, dashes, shift in LINES:
        losses = values["curves"][name]
        points = [(_across(16 * i + 8), _level(loss)) for i, loss in enumerate(losses)]
        board.curve(points, role, dashes, marked=False)
        y = points[-1][1] + shift + 4
        board.text(_across(122), y, name, anchor="start", size=11.5, css=f"role-{role}")
    board.line(AXIS, FLOOR, _across(128), FLOOR)
    board.line(AXIS, _level(HIGHEST), AXIS, FLOOR)
    board.text(AXIS + WIDE / 2, FLOOR + 34, "position in the text", css="fig-muted")
    return board


def _across(position: float) -> float:
    return AXIS + WIDE * position / 128


def _level(loss: float) -> float:
    return FLOOR - TALL * (loss - LOWEST) / (HIGHEST - LOWEST)


# Sinks ------------------------------------------------------------------------------------

SIGNS, LEFT, CELL = "abcdefgh<^", 60.0, 18.0


def sink(values: Values) -> Board:
    """A head's weights in a text of single signs, as a heat map."""
    signs = [SIGNS[sign] for sign in values["signs"]]
    board = Board(52 + CELL * len(signs), values)
    for r, sign in enumerate(signs):
        css = "fig-bold" if sign in "<^" else "fig-muted"
        y = 22 + CELL * r
        board.text(LEFT - 10, y + 13, sign, css=css)
        board.text(LEFT + CELL * (r + 0.5), 15, sign, css=css)
        for c in range(r + 1):
            weight = values["weights"][r][c]
            board.shade(LEFT + CELL * c, y, (CELL, CELL), 0.9 * weight, "weight")
    side = CELL * len(signs)
    board.box(LEFT, 22, side, side, "fig-frame role-weight")
    board.note(LEFT - 4, side + 43, "weight 0", anchor="end")
    board.key(LEFT, side + 34, [(0.225 * step, "weight") for step in range(5)])
    board.note(LEFT + 94, side + 43, "1", anchor="start")
    return board


DRAWINGS: dict[str, Drawing] = {
    "long-texts": Drawing("The loss beyond the trained length", long_texts),
    "sink": Drawing("A head whose sink is the first token", sink),
}
