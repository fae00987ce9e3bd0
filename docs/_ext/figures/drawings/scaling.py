"""The figures of the pages on thirteen words and on scaling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from figures.board import Board
from figures.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """One measurement as two curves over the size of the keys."""

    name: str
    title: str
    ticks: tuple[float, ...]
    height: Callable[[float], float]  # from a number to a share of the panel's height


PANELS = (
    Panel(
        "variance",
        "variance of softmax's input",
        (1, 4, 16, 64, 256, 1024),
        lambda number: math.log2(number) / 10.2,
    ),
    Panel("entropy", "entropy of the weights, in bits", (0, 1, 2, 3, 4), lambda number: number / 4),
    Panel(
        "gradient",
        "slope of softmax (median)",
        (0, 0.1, 0.2, 0.3),
        lambda number: number / 0.36,
    ),
)


def scaling(values: Values) -> Board:
    """Three measurements over the size of the keys, with and without the division."""
    board = Board(560, values)
    _legend(board)
    for place, panel in enumerate(PANELS):
        _panel(board, values, panel, 64 + 164 * place + TALL)
    board.text((LEFT + RIGHT) / 2, 552, "$d_{k}$, the number of entries in a key", css="fig-muted")
    return board


def _legend(board: Board) -> None:
    for x, label, scaled in ((44.0, "divided by $√d_{k}$", True), (204.0, "not divided", False)):
        _curve(board, [(x, 14), (x + 30, 14)], scaled=scaled)
        board.text(x + 38, 18.5, label, anchor="start", css="fig-bold")


def _panel(board: Board, values: Values, panel: Panel, floor: float) -> None:
    board.text(LEFT, floor - TALL - 12, panel.title, anchor="start", css="fig-bold")
    board.line(LEFT - 6, floor, RIGHT + 6, floor)
    for tick in panel.ticks:
        y = floor - TALL * panel.height(tick)
        board.note(LEFT - 10, y + 4, f"{tick:g}", anchor="end")
        board.line(LEFT - 6, y, LEFT, y)
    for place, size in enumerate(values["sizes"]):
        label = f"{size}" if place in LABELLED else ""
        board.note(_across(place), floor + 16, label)
    for side in ("plain", "scaled"):
        numbers = values[side][panel.name]
        points = [(_across(p), floor - TALL * panel.height(n)) for p, n in enumerate(numbers)]
        _curve(board, points, scaled=side == "scaled")
        path = f"{side}.{panel.name}.{len(numbers) - 1}"
        shown, y = _short(values.number(path)), round(points[-1][1] + 4.3, 1)
        css = "fig-bold role-weight" if side == "scaled" else "fig-bold"
        board.number(RIGHT + 10, y, path, shown, css=css, anchor="start")


def _short(number: float) -> str:
    """Return a number with the digits that matter for its size."""
    if number >= LARGE:
        return f"{number:.1f}"
    return f"{number:.2f}" if number >= SMALLEST else f"{number:.1e}"


def _across(place: int) -> float:
    return LEFT + (RIGHT - LEFT) * place / 9


def _curve(board: Board, points: list[tuple[float, float]], *, scaled: bool) -> None:
    """Draw a curve: solid with dots where scaled, dashed with squares where not."""
    role, dashes = ("weight", "") if scaled else ("input", "5 3")
    board.curve(points, role, dashes, marked=True)


DRAWINGS: dict[str, Drawing] = {
    "saturated": Drawing("One of thirteen words takes almost all the weight", saturated),
    "scaling": Drawing("Variance, entropy and slope with and without scaling", scaling),
}
