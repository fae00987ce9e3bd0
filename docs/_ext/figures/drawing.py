"""What the drawings share: how one is named, and how a heat map is drawn."""

from collections.abc import Callable
from typing import NamedTuple

from figures.board import SMALL, TEXT, Board, Panels, Point
from figures.values import Matrix, Values

FOCUS = 1  # the second token, counted from 0


class Drawing(NamedTuple):
    """A picture's title for screen readers, the function that draws it, and its numbers."""

    title: str
    draw: Callable[[Values], Board | Panels]
    compute: Callable[[], Values] | None = None
    """Computes them from constants; if there is none, a page's cells have made them."""
    page: str = ""
    """That page, if it isn't the one that the picture is on."""


def heat_row(
    board: Board, x: float, y: float, path: str, cell: Point, shades: Matrix, role: str = "weight",
    size: float = TEXT, columns: int | None = None,
) -> None:  # fmt: skip
    """Draw a row of numbers: darker where one is larger among `shades`, the largest the most."""
    low, high = min(map(min, shades)), max(map(max, shades))
    for c, number in enumerate(board.values.at(path)[:columns]):
        left = x + cell[0] * c
        board.shade(left, y, cell, 0.06 + 0.5 * (number - low) / (high - low), role)
        board.number(left + cell[0] / 2, y + cell[1] / 2 + 4.3, f"{path}.{c}", size=size)


def heat_map(
    board: Board, x: float, y: float, name: str, cell: Point, scale: str = "",
    role: str = "weight", size: float = TEXT, *, masked: bool = False,
) -> None:  # fmt: skip
    """Draw a matrix as such rows in a frame; above the diagonal of a masked one, cells are empty.

    `scale` is another matrix whose range counts.
    """
    rows: Matrix = board.values.at(name)
    shades = board.values.at(scale) if scale else seen(rows, masked=masked)
    for r, row in enumerate(rows):
        columns = r + 1 if masked else len(row)
        heat_row(board, x, y + cell[1] * r, f"{name}.{r}", cell, shades, role, size, columns)
    board.box(x, y, cell[0] * len(rows[-1]), cell[1] * len(rows), f"fig-frame role-{role}")


def heat_key(
    board: Board, x: float, y: float, name: str, role: str = "weight", *, masked: bool = False
) -> None:
    """Draw the scale of a matrix's heat map, from its smallest number to its largest."""
    rows = seen(board.values.at(name), masked=masked)
    cells = [(n, f"{name}.{r}.{c}") for r, row in enumerate(rows) for c, n in enumerate(row)]
    board.number(x + 36, y + 9.5, min(cells)[1], "fig-muted", "end", SMALL)
    board.key(x + 43, y, [(0.06 + 0.125 * step, role) for step in range(5)])
    board.number(x + 165, y + 9.5, max(cells)[1], "fig-muted", "end", SMALL)


def seen(rows: Matrix, *, masked: bool) -> Matrix:
    """Return a matrix without what a causal mask hides."""
    return [row[: r + 1] for r, row in enumerate(rows)] if masked else rows
