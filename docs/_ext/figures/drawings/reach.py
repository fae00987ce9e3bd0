"""The figures of the pages on long texts, windows and shared matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import Board
from figures.drawing import Drawing

if TYPE_CHECKING:
    from figures.values import Values

# Right answers by distance ------------------------------------------------------------------

AXIS, FLOOR, TALL, WIDE = 44.0, 214.0, 190.0, 230.0
LINES = (  # curve, role, dashes, how far its label is below its end
    ("interpolated", "value", "", 0.0),
    ("ReRoPE", "weight", "6 4", 0.0),
    ("as trained", "query", "", -4.0),
    ("window", "key", "2 4", 4.0),
)


def long_texts(values: Values) -> Board:
    """The right answers by how far back the card is, as means and bands of the seeds."""
    board = Board(FLOOR + 40, values)
    for tick in (0, 0.5, 1):
        board.line(AXIS - 5, _level(tick), AXIS, _level(tick))
        board.note(AXIS - 9, _level(tick) + 4, f"{tick:.0%}".replace("%", " %"), anchor="end")
    for cards in (0, 32, 64, 96):
        board.note(_across(cards), FLOOR + 16, f"{cards}")
    board.line(_across(32), _level(1), _across(32), FLOOR)
    board.note(_across(32) + 5, _level(0.85), "further than in training", anchor="start")
    for name, role, dashes, shift in LINES:
        seeds = values["curves"][name]  # from the lowest to the highest, at each distance
        means = [sum(each) / len(seeds) for each in zip(*seeds, strict=True)]
        lowest, middle, highest = (
            [(_across(16 * i + 8), _level(right)) for i, right in enumerate(line)]
            for line in (seeds[0], means, seeds[-1])
        )
        board.band(lowest, highest, role)
        board.curve(middle, role, dashes, marked=False)
        y = middle[-1][1] + shift + 4
        board.text(_across(91), y, name, anchor="start", size=11.5, css=f"role-{role}")
    board.line(AXIS, FLOOR, _across(96), FLOOR)
    board.line(AXIS, _level(1), AXIS, FLOOR)
    board.text(AXIS + WIDE / 2, FLOOR + 34, "how many cards back", css="fig-muted")
    return board


def _across(cards: float) -> float:
    return AXIS + WIDE * cards / 96


def _level(right: float) -> float:
    return FLOOR - TALL * right


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
    "long-texts": Drawing("Right answers beyond the trained length", long_texts),
    "sink": Drawing("A head whose sink is the first token", sink),
}
