"""The figure of the page on one call: time and memory over the length of the sentence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from figures.board import Board
from figures.drawing import Drawing
from figures.values import benchmark

if TYPE_CHECKING:
    from figures.values import Values

LEFT, RIGHT = 50.0, 288.0  # where a panel's curves begin and end
TALL = 150.0
FORMS = ("written-out", "one-call")
UNITS = {"time": "ms", "memory": "MB"}
LABELS = {"written-out": "written out", "one-call": "one call"}


class Panel(NamedTuple):
    """One quantity on an axis of powers of ten, the first tick on the floor."""

    what: str
    title: str
    ticks: tuple[float, ...]

    def height(self, number: float) -> float:
        """Return where a number stands, as a share of the panel's height."""
        first, last = math.log10(self.ticks[0]), math.log10(self.ticks[-1])
        return (math.log10(number) - first) / (last - first)


def cost(values: Values) -> Board:
    """Two panels with two curves each, both axes logarithmic."""
    board = Board(482, values)
    for x, form in ((LEFT, "written-out"), (LEFT + 142, "one-call")):
        _curve(board, [(x, 14), (x + 30, 14)], form)
        board.text(x + 38, 18.5, LABELS[form], anchor="start", css="fig-bold")
    _panel(board, values, Panel("time", "time of one call, ms", _decades(values, "time")), 212)
    memory = Panel("memory", "memory at the peak, MB", _decades(values, "memory"))
    _panel(board, values, memory, 428)
    board.text((LEFT + RIGHT) / 2, 472, "$T$, the number of tokens", css="fig-muted")
    return board


def rounded(number: float) -> str:
    """Write a number with three significant digits, and never with an exponent."""
    digits = 2 - math.floor(math.log10(abs(number))) if number else 0
    return f"{round(number, digits):.{max(digits, 0)}f}"


def _lengths(values: Values) -> list[int]:
    return sorted(map(int, values[FORMS[0]]))


def _decades(values: Values, what: str) -> tuple[float, ...]:
    """Return the powers of ten around everything that was measured."""
    numbers = [values.number(f"{form}.{T}.{what}") for form in FORMS for T in _lengths(values)]
    first, last = math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers)))
    return tuple(10.0**power for power in range(first, last + 1))


def _panel(board: Board, values: Values, panel: Panel, floor: float) -> None:
    board.text(LEFT - 6, floor - TALL - 12, panel.title, anchor="start", css="fig-bold")
    board.line(LEFT - 6, floor, RIGHT + 6, floor)
    for tick in panel.ticks:
        y = floor - TALL * panel.height(tick)
        board.note(LEFT - 10, y + 4, f"{tick:g}", anchor="end")
        board.line(LEFT - 6, y, LEFT, y)
    step = (RIGHT - LEFT) / (len(_lengths(values)) - 1)
    for place, length in enumerate(_lengths(values)):
        board.note(LEFT + step * place, floor + 16, f"{length}")
    for form in FORMS:
        paths = [f"{form}.{length}.{panel.what}" for length in _lengths(values)]
        heights = [floor - TALL * panel.height(values.number(path)) for path in paths]
        _curve(board, [(LEFT + step * p, y) for p, y in enumerate(heights)], form)
        shown = f"{rounded(values.number(paths[-1]))} {UNITS[panel.what]}"
        css = "fig-bold role-query" if form == "one-call" else "fig-bold"
        y = round(heights[-1] + 4.3, 1)
        board.number(RIGHT + 9, y, paths[-1], shown, css=css, anchor="start")


def _curve(board: Board, points: list[tuple[float, float]], form: str) -> None:
    """Draw a curve: solid with dots for the one call, dashed with squares for the other."""
    role, dashes = ("query", "") if form == "one-call" else ("input", "5 3")
    board.curve(points, role, dashes, marked=True)


DRAWINGS: dict[str, Drawing] = {
    "cost": Drawing("Time and memory of two ways to compute attention", cost, benchmark),
}
