"""What the drawings share: how one is named, the token that they follow, and how dark a cell is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from figures.board import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from figures.board import Board, Panels
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


def strength(number: float, rows: Matrix) -> float:
    """Return how strongly a heat map shades a number: the largest of its matrix the most."""
    low, high = min(map(min, rows)), max(map(max, rows))
    return 0.06 + 0.5 * (number - low) / (high - low)


def heat_row(
    board: Board,
    x: float,
    y: float,
    path: str,
    cell: tuple[float, float],
    below: float = 4.3,
    scale: str = "",
    *,
    masked: bool = False,
) -> None:
    """Draw a row of a matrix, such as `weights.2`: darker where larger, a number in every cell.

    The numbers' base line is `below` the middle. `scale` is another matrix whose range counts.
    If the matrix is masked, cells above the diagonal are empty.
    """
    name, row = path.split(".")
    rows: Matrix = board.values[name]
    for c, number in enumerate(rows[int(row)][: int(row) + 1 if masked else None]):
        left = x + cell[0] * c
        board.shade(left, y, cell, strength(number, board.values[scale or name]), "weight")
        board.number(left + cell[0] / 2, y + cell[1] / 2 + below, f"{path}.{c}")


def heat_map(
    board: Board,
    x: float,
    y: float,
    name: str,
    cell: tuple[float, float],
    below: float = 4.3,
    scale: str = "",
    *,
    masked: bool = False,
) -> None:
    """Draw a matrix as such rows, in a frame."""
    rows: Matrix = board.values[name]
    for r in range(len(rows)):
        heat_row(board, x, y + cell[1] * r, f"{name}.{r}", cell, below, scale, masked=masked)
    board.box(x, y, cell[0] * len(rows[0]), cell[1] * len(rows), "fig-frame role-weight")


def heat_key(board: Board, x: float, y: float, name: str) -> None:
    """Draw the scale of a matrix's heat map, from its smallest number to its largest."""
    rows: Matrix = board.values[name]
    cells = [
        (number, f"{name}.{r}.{c}") for r, row in enumerate(rows) for c, number in enumerate(row)
    ]
    (_, lowest), (_, highest) = min(cells), max(cells)
    board.number(x + 36, y + 9.5, lowest, size=SMALL, anchor="end", css="fig-muted")
    board.key(x + 43, y, [(0.06 + 0.125 * step, "weight") for step in range(5)])
    board.number(x + 165, y + 9.5, highest, size=SMALL, anchor="end", css="fig-muted")
