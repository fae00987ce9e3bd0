"""The figures on what attention costs: its trips between memories, its time and its memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from figures.board import Board
from figures.drawing import Drawing
from figures.values import benchmark, no_values

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


# Two memories: no number is made ------------------------------------------------------

FAST, LARGE = (62.0, 236.0), (4.0, 352.0)  # where each memory begins, and how wide it is
GAP = (64.0, 114.0)  # between them, from the top of a panel
TRIPS = (  # panel, where a number goes, and whether down to the large memory
    (0, 86.0, False),
    (0, 114.0, True),
    (0, 166.0, False),
    (0, 194.0, True),
    (0, 250.0, False),
    (0, 278.0, True),
    (1, 86.0, False),
    (1, 278.0, True),
)
WHAT = ((0, 140.0, "scores"), (0, 222.0, "weights"))


def hierarchy(values: Values) -> Board:
    """The scores' trips between a fast and a large memory, written out and in tiles."""
    board = Board(348, values)
    inside = ("20 MB at 19 TB/s", "a tile of scores, used up here")
    for panel, title in enumerate(("written out", "in tiles")):
        top = 176.0 * panel
        board.text(4, top + 16, title, anchor="start", css="fig-bold")
        board.note(296, top + 16, "fast memory", anchor="end")
        board.box(FAST[0], top + 24, FAST[1], 36, "fig-box role-query")
        board.text(180, top + 47, inside[panel])
        board.box(LARGE[0], top + 118, LARGE[1], 36, "fig-box role-input")
        board.text(180, top + 141, "large memory: 40 GB at 1.5 TB/s")
        board.text(78, top + 94, "$q$, $k$, $v$", anchor="end")
        board.text(286, top + 94, "context", anchor="start")
    for panel, x, down in TRIPS:
        ends = [176.0 * panel + y for y in (GAP if down else GAP[::-1])]
        css = "role-weight" if 100 < x < 260 else ""  # noqa: PLR2004 - those of T times T numbers
        board.arrow(x, ends[0], x, ends[1], css=css)
    for panel, x, what in WHAT:
        board.note(x, 176 * panel + 94, what)
    return board


DRAWINGS: dict[str, Drawing] = {
    "hierarchy": Drawing("Trips between two memories", hierarchy, no_values),
    "cost": Drawing("Time and memory of two ways to compute attention", cost, benchmark),
}
