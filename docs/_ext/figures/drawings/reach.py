"""The figures of the pages on long texts, windows and shared matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import Board
from figures.drawing import Drawing
from figures.drawings.companions import seen_tables

if TYPE_CHECKING:
    from figures.board import Anchor
    from figures.values import Values

# Losses by place --------------------------------------------------------------------------

AXIS, FLOOR, TALL, WIDE = 34.0, 214.0, 190.0, 214.0
LOWEST, HIGHEST = 1.8, 3.2
LINES = (  # curve, role, dashes, how far its label is from its end
    ("as trained", "query", "", -6.0),
    ("squeezed", "key", "6 4", 14.0),
    ("squeezed, trained", "weight", "2 4", -16.0),
    ("longer, trained", "input", "8 3", -4.0),
    ("window of 32", "value", "", 5.0),
    ("still 32, window", "positive", "9 3 2 3", 11.0),
)


def long_texts(values: Values) -> Board:
    """The loss place by place, beyond the length that the model was trained with."""
    board = Board(FLOOR + 40, values)
    for tick in (2.0, 2.5, 3.0):
        board.line(AXIS - 5, _level(tick), AXIS, _level(tick))
        board.note(AXIS - 9, _level(tick) + 4, f"{tick:.1f}", anchor="end")
    for place in (0, 32, 64, 96, 128):
        board.note(_across(place), FLOOR + 16, f"{place}")
    board.line(_across(32), _level(HIGHEST), _across(32), FLOOR)
    board.note(_across(32) + 5, 22, "longer than in training", anchor="start")
    for name, role, dashes, shift in LINES:
        points = [(_across(16 * i + 8), _level(loss)) for i, loss in enumerate(values[name])]
        board.curve(points, role, dashes, marked=False)
        y = points[-1][1] + shift + 4
        board.text(_across(128) + 4, y, name, anchor="start", size=11.5, css=f"role-{role}")
    board.line(AXIS, FLOOR, _across(128), FLOOR)
    board.line(AXIS, _level(HIGHEST), AXIS, FLOOR)
    board.text(AXIS + WIDE / 2, FLOOR + 34, "place in the text", css="fig-muted")
    return board


def _across(place: float) -> float:
    return AXIS + WIDE * place / 128


def _level(loss: float) -> float:
    return FLOOR - TALL * (loss - LOWEST) / (HIGHEST - LOWEST)


# Windows ----------------------------------------------------------------------------------


def reach(values: Values) -> Board:
    """Who depends on whom, through one, two and three layers with a window."""
    names = (("one", "one layer"), ("two", "two layers"), ("three", "three layers"))
    return seen_tables(values, names, values["words"])


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
    board.note(LEFT - 4, side + 43, "share 0", anchor="end")
    board.key(LEFT, side + 34, [(0.225 * step, "weight") for step in range(5)])
    board.note(LEFT + 94, side + 43, "1", anchor="start")
    return board


# Keys in the plane ------------------------------------------------------------------------

WORDS = ("Mary’s", "dogs", "near", "the", "cat", "now")
SHARED: dict[str, tuple[float, float, Anchor]] = {  # a label's place from the tip of its arrow
    "Mary’s": (4, 16, "start"),
    "dogs": (5, 2, "start"),
    "near": (-5, 2, "end"),
    "the": (-5, 2, "end"),
    "cat": (11, -2, "start"),
    "now": (-2, 18, "middle"),
}


def shared_keys(values: Values) -> Board:
    """The keys of six words as arrows, which are their queries, too, each with its score."""
    board, unit = Board(264, values), 28.0
    for place, (word, key) in enumerate(zip(WORDS, values["keys"], strict=True)):
        x, y = 180.0 + unit * key[0], 150.0 - unit * key[1]
        asks = word == "now"
        board.arrow(180.0, 150.0, x, y, css=f"fig-vector role-{'query' if asks else 'key'}")
        css = "fig-bold" if word == "dogs" or asks else "fig-muted"
        dx, dy, anchor = SHARED[word]
        board.text(x + dx, y + dy, word, anchor=anchor, css=css)
        path = f"scores.{place}"
        board.number(x + dx, y + dy + 14, path, size=11.5, css="fig-muted", anchor=anchor)
    return board


DRAWINGS: dict[str, Drawing] = {
    "long-texts": Drawing("The loss beyond the trained length", long_texts),
    "reach": Drawing("Who reaches whom through several layers", reach),
    "sink": Drawing("A head whose sink is the first token", sink),
    "shared-keys": Drawing("Six words whose queries are their keys", shared_keys),
}
