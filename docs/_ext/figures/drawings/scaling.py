"""The figures of the pages on thirteen words and on scaling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from figures.board import Board
from figures.drawing import Drawing

if TYPE_CHECKING:
    from figures.values import Values

QUERY, WINNER = 1, 11  # the word that asks and the word that takes almost all, counted from 0
LEFT, RIGHT = 44.0, 288.0  # where a panel's curves begin and end
TALL = 112.0
LABELLED = (0, 2, 4, 6, 9)  # sizes with a number below the axis, which has no room for all
TINY = 1e-4  # smaller weights are written with an exponent
LARGE, SMALLEST = 100, 0.005  # beyond them, two decimals say too much or nothing


def saturated(values: Values) -> Board:
    """Scaled scores of the second word as bars, with the weights that softmax makes of them."""
    zero, unit = 178.0, 1.6
    board = Board(352, values)
    board.text(zero, 18, "$ω_{2j} / √d_{k}$", css="role-weight fig-bold")
    board.text(324, 18, "$α_{2j}$", css="role-weight fig-bold")
    board.note(zero, 34, "scaled score")
    board.note(324, 34, "weight")
    for r, (word, score) in enumerate(zip(values["words"], values["scaled_scores"], strict=True)):
        y = 44 + 23.5 * r
        strong = r in {QUERY, WINNER}
        board.text(72, y + 14, word, anchor="end", css="fig-bold" if strong else "fig-muted")
        board.bar(zero + min(score, 0) * unit, y, abs(score) * unit, 18, "role-weight")
        side = 1 if score > 0 else -1
        board.number(zero + score * unit + 26 * side, y + 13.5, f"scaled_scores.{r}")
        _weight(board, values, 324, y + 13.5, r)
    board.line(zero, 40, zero, 350)
    return board


def _weight(board: Board, values: Values, x: float, y: float, place: int) -> None:
    """Write a weight with two significant digits, or five decimals where it is large."""
    weight = values["attn_weights"][place]
    shown = f"{weight:.5f}" if weight > TINY else f"{weight:.0e}"
    css = "fig-bold" if place == WINNER else ""
    board.number(x, y, f"attn_weights.{place}", shown, css=css)


class Panel(NamedTuple):
    """One measurement over the size of the keys, with the division and without it."""

    name: str
    title: str
    ticks: tuple[float, ...]
    bottom: float  # of a logarithmic axis; a band that goes further down is cut off there
    top: float


PANELS = (
    Panel("variance", "variance of softmax's input", (1, 4, 16, 64, 256, 1024), 1, 1200),
    Panel("few", "gradient at the query, 16 keys", (0.001, 0.01, 0.1, 1, 10), 0.0004, 20),
    Panel("many", "gradient at the query, 1,024 keys", (0.001, 0.01, 0.1, 1, 10), 0.0004, 20),
)


def scaling(values: Values) -> Board:
    """The variance of the scores, and the gradient at the query for few and for many keys."""
    board = Board(560, values)
    for x, label, scaled in ((44.0, "divided by $√d_{k}$", True), (204.0, "not divided", False)):
        _curve(board, [(x, 14), (x + 30, 14)], scaled=scaled)
        board.text(x + 38, 18.5, label, anchor="start", css="fig-bold")
    for position, panel in enumerate(PANELS):
        _panel(board, values, panel, 64 + 164 * position + TALL)
    board.text((LEFT + RIGHT) / 2, 552, "$d_{k}$, the number of entries in a key", css="fig-muted")
    return board


def _panel(board: Board, values: Values, panel: Panel, floor: float) -> None:
    board.text(LEFT, floor - TALL - 12, panel.title, anchor="start", css="fig-bold")
    board.line(LEFT - 6, floor, RIGHT + 6, floor)
    for tick in panel.ticks:
        y = _height(panel, floor, tick)
        board.note(LEFT - 10, y + 4, f"{tick:g}", anchor="end")
        board.line(LEFT - 6, y, LEFT, y)
    for position, size in enumerate(values["sizes"]):
        label = f"{size}" if position in LABELLED else ""
        board.note(_across(position), floor + 16, label)
    for how in ("unscaled", "scaled"):
        lines = values[panel.name][how]  # one, or those of 10 %, 50 % and 90 % of the queries
        points = [
            [(_across(p), _height(panel, floor, number)) for p, number in enumerate(line)]
            for line in lines
        ]
        middle = len(points) // 2
        if middle:
            board.band(points[0], points[-1], _role(scaled=how == "scaled"))
        _curve(board, points[middle], scaled=how == "scaled")
        path = f"{panel.name}.{how}.{middle}.{len(points[middle]) - 1}"
        shown, y = _short(values.number(path)), round(points[middle][-1][1] + 4.3, 1)
        css = "fig-bold role-weight" if how == "scaled" else "fig-bold"
        board.number(RIGHT + 12, y, path, shown, css=css, anchor="start")


def _height(panel: Panel, floor: float, number: float) -> float:
    share = math.log(max(number, panel.bottom) / panel.bottom)
    return floor - TALL * share / math.log(panel.top / panel.bottom)


def _short(number: float) -> str:
    """Return a number with the digits that matter for its size."""
    if number >= LARGE:
        return f"{number:.1f}"
    return f"{number:.2f}" if number >= SMALLEST else f"{number:.4f}"


def _across(position: int) -> float:
    return LEFT + (RIGHT - LEFT) * position / 9


def _role(*, scaled: bool) -> str:
    return "weight" if scaled else "input"


def _curve(board: Board, points: list[tuple[float, float]], *, scaled: bool) -> None:
    """Draw a curve: solid with dots where scaled, dashed with squares where not."""
    board.curve(points, _role(scaled=scaled), "" if scaled else "5 3", marked=True)


DRAWINGS: dict[str, Drawing] = {
    "saturated": Drawing("One of thirteen words takes almost all the weight", saturated),
    "scaling": Drawing("Scores and gradients with and without scaling", scaling),
}
