"""The figure of the page on one call: time and memory over the length of the sentence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from cost_trace import FORMS, SHOWN, CostTrace, cost_trace, rounded
from drawings import Drawing
from svg import SMALL, Board

if TYPE_CHECKING:
    from attention_trace import Trace

LEFT, RIGHT = 50.0, 288.0  # where a panel's curves begin and end
TALL = 150.0
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


def cost(_: Trace) -> Board:
    """Two panels with two curves each, both axes logarithmic."""
    trace = cost_trace()
    board = Board(482, trace)  # type: ignore[arg-type]  # a board only asks it for numbers
    for x, form in ((LEFT, "written-out"), (LEFT + 142, "one-call")):
        _curve(board, [(x, 14), (x + 30, 14)], form)
        board.text(x + 38, 18.5, LABELS[form], anchor="start", css="fig-bold")
    _panel(board, trace, Panel("time", "time of one call, ms", _decades(trace, "time")), 212)
    memory = Panel("memory", "memory at the peak, MB", _decades(trace, "memory"))
    _panel(board, trace, memory, 428)
    board.text((LEFT + RIGHT) / 2, 472, "$T$, the number of tokens", css="fig-muted")
    return board


def _decades(trace: CostTrace, what: str) -> tuple[float, ...]:
    """Return the powers of ten around everything that was measured."""
    numbers = [trace.number(f"{form}.{T}.{what}") for form in FORMS for T in trace.lengths]
    first, last = math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers)))
    return tuple(10.0**power for power in range(first, last + 1))


def _panel(board: Board, trace: CostTrace, panel: Panel, floor: float) -> None:
    board.text(LEFT - 6, floor - TALL - 12, panel.title, anchor="start", css="fig-bold")
    board.line(LEFT - 6, floor, RIGHT + 6, floor)
    for tick in panel.ticks:
        y = floor - TALL * panel.height(tick)
        board.text(LEFT - 10, y + 4, f"{tick:g}", anchor="end", size=SMALL, css="fig-muted")
        board.line(LEFT - 6, y, LEFT, y)
    step = (RIGHT - LEFT) / (len(trace.lengths) - 1)
    for place, length in enumerate(trace.lengths):
        board.text(LEFT + step * place, floor + 16, f"{length}", size=SMALL, css="fig-muted")
    for form in FORMS:
        paths = [f"{form}.{length}.{panel.what}" for length in trace.lengths]
        heights = [floor - TALL * panel.height(trace.number(path)) for path in paths]
        _curve(board, [(LEFT + step * p, y) for p, y in enumerate(heights)], form)
        board.parts.append(
            f'<text x="{RIGHT + 9:g}" y="{heights[-1] + 4.3:.1f}" font-size="13"'
            f' data-trace="{paths[-1]}" class="fig-bold{_role(form)}">'
            f"{rounded(trace.number(paths[-1]))} {SHOWN[panel.what][2]}</text>"
        )


def _role(form: str) -> str:
    return " role-query" if form == "one-call" else ""


def _curve(board: Board, points: list[tuple[float, float]], form: str) -> None:
    """Draw a curve: solid with dots for the one call, dashed with squares for the other."""
    dashes = "" if form == "one-call" else ' stroke-dasharray="5 3"'
    role = _role(form) or " role-input"
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    board.parts.append(f'<polyline class="fig-frame{role}"{dashes} points="{line}"/>')
    for x, y in points:
        board.parts.append(
            f'<circle class="fig-shade{role}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            if form == "one-call"
            else f'<rect class="fig-shade{role}" x="{x - 2.5:.1f}" y="{y - 2.5:.1f}"'
            f' width="5" height="5"/>'
        )


DRAWINGS: dict[str, Drawing] = {
    "cost": Drawing("Time and memory of two ways to compute attention", cost),
}
