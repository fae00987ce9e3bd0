"""The figures of dot products: arrows in the plane, and two that are rotated by their positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from figures.board import Board
from figures.drawing import Drawing

if TYPE_CHECKING:
    from figures.values import Values

Arrow = tuple[float, float]

# The plane ------------------------------------------------------------------------------

PANEL = (180.0, 172.0)  # two panels to a row
ORIGIN = (74.0, 112.0)  # within a panel
UNIT = 32.0
APART = 3.0  # two arrows that lie on one line are drawn this far from it


def arrows(values: Values) -> Board:
    """The arrow that asks, with four others, and their dot products."""
    board = Board(2 * PANEL[1], values)
    query = values["q"]
    for place, (name, arrow) in enumerate(values["arrows"].items()):
        left, top = PANEL[0] * (place % 2), PANEL[1] * (place // 2)
        board.text(left + 14, top + 18, name, anchor="start", css="fig-bold")
        board.line(left + 14, top + ORIGIN[1], left + 166, top + ORIGIN[1])
        board.line(left + ORIGIN[0], top + 40, left + ORIGIN[0], top + 142)
        aside = APART if arrow[0] * query[0] > 0 else 0.0
        _arrow(board, (left, top), query, "query", -APART)
        _arrow(board, (left, top), arrow, "key", aside)
        board.text(left + 14, top + 162, "$q$ · $k$ =", anchor="start", css="role-weight fig-bold")
        board.number(
            left + 92, top + 162, f"dots.{place}", css="role-weight fig-bold", anchor="end"
        )
    return board


def _arrow(board: Board, corner: Arrow, arrow: Arrow, role: str, aside: float) -> None:
    """Draw an arrow from the origin, a little to one side of its line."""
    length = (arrow[0] ** 2 + arrow[1] ** 2) ** 0.5
    x = corner[0] + ORIGIN[0] + aside * arrow[1] / length
    y = corner[1] + ORIGIN[1] + aside * arrow[0] / length
    tip = (x + UNIT * arrow[0], y - UNIT * arrow[1])
    board.arrow(x, y, *tip, css=f"fig-vector role-{role}")
    # Beside the head, so that two letters on one line keep apart.
    side = (-8.0, -7.0) if role == "query" else (9.0, 13.0) if arrow[0] > 0 else (-10.0, 5.0)
    board.text(tip[0] + side[0], tip[1] + side[1], f"${role[0]}$", css=f"role-{role}")


# Dials ----------------------------------------------------------------------------------

DIAL = (180.0, 190.0)  # two panels to a row
CENTRE = (90.0, 92.0)  # of the dial, within its panel
RADIUS = 64.0
LONGEST = 56.0  # of an arrow
BESIDE = 2.5  # two arrows that almost cover each other are drawn this far from their line
ARC = 18.0  # radius of the arc between two arrows
MARKS = 12


def turned(values: Values) -> Board:
    """A query and a key on four dials, and their dot products."""
    board = Board(2 * DIAL[1], values)
    longest = max(math.hypot(*arrow) for pair in values["arrows"] for arrow in pair)
    for place, name in enumerate(values["pairs"]):
        left, top = DIAL[0] * (place % 2), DIAL[1] * (place // 2)
        board.text(left + CENTRE[0], top + 16, name, css="fig-bold")
        centre = (left + CENTRE[0], top + CENTRE[1])
        _dial(board, centre)
        query, key = values["arrows"][place]
        _angle(board, centre, query, key)
        near = _between(query, key) < math.radians(MARKS)
        for arrow, role, side in ((query, "query", -1), (key, "key", 1)):
            _hand(board, centre, arrow, role, (LONGEST / longest, BESIDE * side * near))
        board.text(left + 90, top + 176, "$q$ · $k$ =", anchor="end", css="role-weight fig-bold")
        board.number(left + 98, top + 176, f"dots.{place}", css="role-weight", anchor="start")
    return board


def _dial(board: Board, centre: Arrow) -> None:
    """Draw twelve marks, one for the rotation of each position, and the axes."""
    for mark in range(MARKS):
        x, y = math.cos(2 * math.pi * mark / MARKS), math.sin(2 * math.pi * mark / MARKS)
        board.line(
            *(centre[0] + (RADIUS - 5) * x, centre[1] + (RADIUS - 5) * y),
            *(centre[0] + RADIUS * x, centre[1] + RADIUS * y),
        )


def _hand(board: Board, centre: Arrow, arrow: Arrow, role: str, drawn: tuple[float, float]) -> None:
    """Draw an arrow with its letter; `drawn` is the length of a unit, and how far aside."""
    unit, aside = drawn
    x, y = arrow[0] / math.hypot(*arrow), arrow[1] / math.hypot(*arrow)
    start = (centre[0] + aside * y, centre[1] + aside * x)
    tip = (start[0] + unit * arrow[0], start[1] - unit * arrow[1])
    board.arrow(*start, *tip, css=f"fig-vector role-{role}")
    board.text(
        tip[0] + 10 * (y if aside > 0 else -y),
        tip[1] + 10 * (x if aside > 0 else -x) + 4,
        f"${role[0]}$",
        css=f"role-{role}",
    )


def _angle(board: Board, centre: Arrow, one: Arrow, other: Arrow) -> None:
    """Draw an arc from one arrow to the other, the short way round."""
    shares = [ARC / math.hypot(*arrow) for arrow in (one, other)]
    points = [
        (centre[0] + share * x, centre[1] - share * y)
        for share, (x, y) in zip(shares, (one, other), strict=True)
    ]
    left = one[0] * other[1] > one[1] * other[0]  # the other arrow is on the left of the first
    (x1, y1), (x2, y2) = points
    board.parts.append(
        f'<path class="fig-frame role-weight" d="M{x1:.1f},{y1:.1f}'
        f' A{ARC:g},{ARC:g} 0 0 {0 if left else 1} {x2:.1f},{y2:.1f}"/>'
    )


def _between(one: Arrow, other: Arrow) -> float:
    """Return the angle between two arrows."""
    dot = one[0] * other[0] + one[1] * other[1]
    return math.acos(max(-1.0, min(1.0, dot / math.hypot(*one) / math.hypot(*other))))


DRAWINGS: dict[str, Drawing] = {
    "arrows": Drawing("The dot product of two arrows", arrows),
    "turned": Drawing("A query and a key, rotated by their positions", turned),
}
