"""The figures of the trained model: averaging beside attention, and two heads in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import Board, Panels
from figures.drawing import Drawing
from figures.drawings.landing import shares
from figures.values import two_heads

if TYPE_CHECKING:
    from figures.values import Values

ROW = 25.0
TOP = 40.0  # of the words, below the names of the heads
MIDDLE, ASIDE = 180.0, 34.0  # of the words, and how far from there the bows begin
THICKEST = 9.0
MOST = 0.5  # a larger share is set off
HEADS = (("first_head", 8, -1), ("second_head", 5, 1))  # the place that asks, and its side


def averaging(values: Values) -> Panels:
    """The same shares for all six words, and the shares of a trained head."""
    return Panels(
        shares(values, "averaged", "plain averaging"),
        shares(values, "start", "a trained head"),
    )


def both_heads(values: Values) -> Board:
    """A sentence from top to bottom, with what one head attends to on each side."""
    words = values["sentence"]
    board = Board(TOP + ROW * len(words) + 6, values)
    asking = {place for _, place, _ in HEADS}
    for place, word in enumerate(words):
        css = "fig-bold" if place in asking else ""
        css += " role-weight fig-bold" if place - 1 in asking else ""
        board.text(MIDDLE, _base(place), word, size=14.5, css=css)
    for name, place, side in HEADS:
        title = f"{name.partition('_')[0]} head, at “{words[place]}”"
        board.text(MIDDLE + 172 * side, 16, title, anchor=_end(side), css="fig-bold")
        for other in range(place + 1):
            weight = values[name][place][other]
            _bow(board, place, other, side, THICKEST * weight)
            path = f"{name}.{place}.{other}"
            css = "role-weight fig-bold" if weight > MOST else "fig-muted"
            board.number(MIDDLE + 172 * side, _base(other), path, css=css, anchor=_end(side))
    return board


def _end(side: int) -> str:
    return "start" if side < 0 else "end"


def _base(place: int) -> float:
    return TOP + ROW * (place + 0.5) + 4.5


def _bow(board: Board, start: int, end: int, side: int, thickness: float) -> None:
    """Draw a bow beside the words, or a loop where a word attends to itself."""
    x = MIDDLE + ASIDE * side
    y1, y2 = _base(start) - 4.5, _base(end) - 4.5
    bulge = x + side * (24 + 6 * (start - end))
    if start == end:
        y1, y2 = y1 - 5, y2 + 5
    board.parts.append(
        f'<path class="fig-bow role-weight" stroke-width="{thickness:.2f}"'
        f' d="M{x:.1f} {y1:.1f}C{bulge:.1f} {y1:.1f} {bulge:.1f} {y2:.1f} {x:.1f} {y2:.1f}"/>'
    )


DRAWINGS: dict[str, Drawing] = {
    "averaging": Drawing("Averaging beside a trained head", averaging, two_heads),
    "both-heads": Drawing("What two trained heads attend to", both_heads, two_heads),
}
