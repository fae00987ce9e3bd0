"""A plot on a board: two axes, lines through points, and numbers at their ends."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from figures.board import Board, Point


class Axis(NamedTuple):
    """What an axis says at its ends; a logarithmic one has what is smaller at its beginning."""

    low: float
    high: float
    log: bool = False

    def share(self, number: float) -> float:
        """Return where a number is, as a share of the axis."""
        if self.log:
            return math.log(max(number, self.low) / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)


class Plot:
    """Axes whose origin is at `left` and `floor`."""

    def __init__(
        self, board: Board, left: float, floor: float, width: float, height: float,
        across: Axis, up: Axis,
    ) -> None:  # fmt: skip
        self.board, self.left, self.floor = board, left, floor
        self.width, self.height, self.across, self.up = width, height, across, up

    def at(self, x: float, y: float) -> Point:
        """Return where a point is on the board."""
        right, up = self.width * self.across.share(x), self.height * self.up.share(y)
        return self.left + right, self.floor - up

    def axes(
        self, xs: Iterable[float], ys: Iterable[float], title: str = "", below: str = ""
    ) -> None:
        """Draw both axes with their ticks, a title above them, and what the first one counts."""
        board, right, top = self.board, self.left + self.width, self.floor - self.height
        board.line(self.left, self.floor, right, self.floor)
        board.line(self.left, top, self.left, self.floor)
        for tick in ys:
            _, y = self.at(self.across.low, tick)
            board.line(self.left - 5, y, self.left, y)
            board.note(self.left - 9, y + 4, f"{tick:g}", "end")
        for tick in xs:
            x, _ = self.at(tick, self.up.low)
            board.line(x, self.floor, x, self.floor + 4)
            board.note(x, self.floor + 16, f"{tick:g}")
        board.text(self.left, top - 12, title, "fig-bold", "start")
        board.text(self.left + self.width / 2, self.floor + 34, below, "fig-muted")

    def line(
        self, xs: Sequence[float], ys: Sequence[float], role: str, dashes: str = "", *,
        marked: bool = False,
    ) -> Point:  # fmt: skip
        """Draw a line, and return where it ends."""
        points = [self.at(x, y) for x, y in zip(xs, ys, strict=False)]
        self.board.curve(points, role, dashes, marked=marked)
        return points[-1]


def sample(
    board: Board, x: float, y: float, label: str, role: str, dashes: str = "", *,
    marked: bool = False,
) -> None:  # fmt: skip
    """Say beside a piece of a line what it shows."""
    board.curve([(x, y), (x + 28, y)], role, dashes, marked=marked)
    board.text(x + 36, y + 4.5, label, "fig-bold", "start")
