"""The figure of a dot product: two arrows in the plane, four times."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from figures.board import Board
from figures.drawing import Drawing
from figures.trace import Traced

if TYPE_CHECKING:
    from figures.attention_trace import Trace


Arrow = tuple[float, float]
QUERY: Arrow = (2.0, 1.0)
ARROWS: dict[str, Arrow] = {
    "same way": (1.2, 0.6),
    "longer": (2.4, 1.2),
    "right angle": (-1.0, 2.0),
    "opposite": (-1.2, -0.6),
}


@dataclass(frozen=True)
class PlaneTrace(Traced):
    """One arrow that asks, and the dot product of each other one with it."""

    dots: tuple[float, ...]


@functools.cache
def plane_trace() -> PlaneTrace:
    """Compute the dot products once for the whole build."""
    dots = torch.tensor(list(ARROWS.values())) @ torch.tensor(QUERY)
    return PlaneTrace(tuple(dots.tolist()))


# The drawings ---------------------------------------------------------------------------

PANEL = (180.0, 172.0)  # two panels to a row
ORIGIN = (74.0, 112.0)  # within a panel
UNIT = 32.0
APART = 3.0  # two arrows that lie on one line are drawn this far from it


def arrows(_: Trace) -> Board:
    """The arrow that asks, with four others, and their dot products."""
    board = Board(2 * PANEL[1], plane_trace())
    for place, (name, arrow) in enumerate(ARROWS.items()):
        left, top = PANEL[0] * (place % 2), PANEL[1] * (place // 2)
        board.text(left + 14, top + 18, name, anchor="start", css="fig-bold")
        board.line(left + 14, top + ORIGIN[1], left + 166, top + ORIGIN[1])
        board.line(left + ORIGIN[0], top + 40, left + ORIGIN[0], top + 142)
        _arrow(board, (left, top), QUERY, "query", -APART)
        _arrow(board, (left, top), arrow, "key", APART)
        board.text(left + 14, top + 162, "$q$ · $k$ =", anchor="start", css="role-weight fig-bold")
        board.number(
            left + 92, top + 162, f"dots.{place}", css="role-weight fig-bold", anchor="end"
        )
    return board


def _arrow(board: Board, corner: Arrow, arrow: Arrow, role: str, aside: float) -> None:
    """Draw an arrow from the origin, a little to one side of its line."""
    length = (arrow[0] ** 2 + arrow[1] ** 2) ** 0.5
    aside = aside if role == "query" or arrow[0] * QUERY[0] > 0 else 0.0
    x = corner[0] + ORIGIN[0] + aside * arrow[1] / length
    y = corner[1] + ORIGIN[1] + aside * arrow[0] / length
    tip = (x + UNIT * arrow[0], y - UNIT * arrow[1])
    board.arrow(x, y, *tip, css=f"fig-vector role-{role}")
    # Beside the head, so that two letters on one line keep apart.
    side = (-8.0, -7.0) if role == "query" else (9.0, 13.0) if arrow[0] > 0 else (-10.0, 5.0)
    board.text(tip[0] + side[0], tip[1] + side[1], f"${role[0]}$", css=f"role-{role}")


DRAWINGS: dict[str, Drawing] = {
    "arrows": Drawing("The dot product of two arrows", arrows),
}
