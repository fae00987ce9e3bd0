"""The figure of the page on what a build costs: time over the number of pages, way by way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from figures.board import SMALL, Board
from figures.drawing import Drawing
from figures.drawings.build_cost_trace import BuildCost, build_cost, seconds

if TYPE_CHECKING:
    from figures.attention_trace import Trace

LEFT, RIGHT, FLOOR, TALL = 46.0, 272.0, 330.0, 230.0
SIZES = ("1", "10", "30", "100")  # the books that all four ways have built
APART = 15.0  # between two numbers at the right end


class Look(NamedTuple):
    """How a way is drawn: its colour's role, its dashes, and its mark."""

    label: str
    role: str
    dashes: str
    mark: str


CURVES = {
    "stock-j2": Look("MyST-NB, -j 2", "key", "5 3", "square"),
    "ours": Look("executed and checked", "query", "", "dot"),
    "off": Look("nothing executed", "input", "2 3", "ring"),
    "plain": Look("a plain Python script", "value", "8 3 2 3", "diamond"),
}


def build_cost_figure(_: Trace) -> Board:
    """Draw four ways as curves over the number of pages, both axes logarithmic."""
    cost = build_cost()
    board = Board(FLOOR + 42, cost)
    for place, look in enumerate(CURVES.values()):
        x, y = LEFT - 30 + 176 * (place % 2), 14.0 + 20 * (place // 2)
        _curve(board, [(x, y), (x + 26, y)], look)
        board.text(x + 33, y + 4.3, look.label, anchor="start", size=SMALL, css="fig-bold")
    board.text(LEFT - 30, FLOOR - TALL - 22, "seconds", anchor="start", css="fig-bold")
    _axes(board, _decades(cost))
    _curves(board, cost)
    board.text((LEFT + RIGHT) / 2, FLOOR + 34, "pages of the book", css="fig-muted")
    return board


def _decades(cost: BuildCost) -> tuple[int, int]:
    """Return the powers of ten around everything that is drawn."""
    numbers = [cost.number(path) for way in CURVES for path in _paths(cost, way)]
    first, last = math.log10(min(numbers, default=1)), math.log10(max(numbers, default=10))
    return math.floor(first), math.ceil(last)


def _paths(cost: BuildCost, way: str) -> list[str]:
    return [f"seconds.{way}.{size}" for size in SIZES if ("seconds", way, size) in cost.runs]


def _across(size: str) -> float:
    """Return where a number of pages stands."""
    return LEFT + (RIGHT - LEFT) * math.log10(int(size)) / math.log10(int(SIZES[-1]))


def _height(number: float, decades: tuple[int, int]) -> float:
    first, last = decades
    return FLOOR - TALL * (math.log10(number) - first) / (last - first)


def _axes(board: Board, decades: tuple[int, int]) -> None:
    board.line(LEFT - 6, FLOOR, RIGHT + 6, FLOOR)
    for power in range(decades[0], decades[1] + 1):
        y = _height(10.0**power, decades)
        board.text(LEFT - 10, y + 4, f"{10.0**power:g}", anchor="end", size=SMALL, css="fig-muted")
        board.line(LEFT - 6, y, LEFT, y)
    for size in SIZES:
        board.text(_across(size), FLOOR + 16, size, size=SMALL, css="fig-muted")


def _curves(board: Board, cost: BuildCost) -> None:
    ends = []
    for way, look in CURVES.items():
        paths = _paths(cost, way)
        points = [
            (_across(path.rpartition(".")[2]), _height(cost.number(path), _decades(cost)))
            for path in paths
        ]
        _curve(board, points, look)
        if points and points[-1][0] == RIGHT:
            ends.append((points[-1][1], paths[-1], look.role))
    ends.sort()
    for y, (_, path, role) in zip(spread([end[0] for end in ends]), ends, strict=True):
        shown = f"{seconds(cost.number(path))} s"
        css = f"fig-bold role-{role}"
        board.number(RIGHT + 10, round(y + 4.3, 1), path, shown, css=css, anchor="start")


def spread(heights: list[float]) -> list[float]:
    """Move heights apart, from the lowest picture line up, so that no two texts overlap."""
    placed: list[float] = []
    for height in sorted(heights, reverse=True):
        placed.append(min(height, placed[-1] - APART) if placed else height)
    return placed[::-1]


def _curve(board: Board, points: list[tuple[float, float]], look: Look) -> None:
    board.curve(points, look.role, look.dashes, marked=False)
    board.parts += [_mark(x, y, look) for x, y in points]


def _mark(x: float, y: float, look: Look) -> str:
    css = f'class="fig-shade role-{look.role}"'
    if look.mark == "dot":
        return f'<circle {css} cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>'
    if look.mark == "ring":
        return f'<circle class="fig-frame role-{look.role}" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>'
    if look.mark == "square":
        return f'<rect {css} x="{x - 2.8:.1f}" y="{y - 2.8:.1f}" width="5.6" height="5.6"/>'
    return f'<path {css} d="M{x:.1f},{y - 4:.1f}l4,4l-4,4l-4,-4z"/>'


DRAWINGS: dict[str, Drawing] = {
    "build-cost": Drawing("Time of a build over the number of its pages", build_cost_figure),
}
