"""The figures of companion pages that show what the page's own cells made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import FOCUS, Drawing, heat_row

if TYPE_CHECKING:
    from figures.values import Values

# Who sees whom ------------------------------------------------------------------------

MASKS = (("free", "no mask"), ("right", "causal mask"), ("swapped", "swapped"))
SEEN_LEFT, SEEN_TOP, SEEN_CELL, SEEN_GAP = 52.0, 26.0, 16.0, 6.0  # of the first, between two


def who_sees_whom(values: Values) -> Board:
    """Draw three tables, with a 1 where a row's word depends on a column's."""
    words = values["words"]
    side = len(words) * SEEN_CELL
    board = Board(SEEN_TOP + side + 8, values)
    for r, word in enumerate(words):
        board.note(SEEN_LEFT - 6, _base(r), word, anchor="end")
    for place, (name, title) in enumerate(MASKS):
        left = SEEN_LEFT + place * (side + SEEN_GAP)
        board.text(left, 15, title, anchor="start", css="fig-bold")
        _table(board, values, name, left)
    return board


def _base(row: int) -> float:
    return SEEN_TOP + SEEN_CELL * (row + 0.5) + 4.3


def _table(board: Board, values: Values, name: str, left: float) -> None:
    for r, row in enumerate(values[name]):
        for c, seen in enumerate(row):
            css = "" if seen else "fig-muted"
            if seen:
                board.shade(
                    left + SEEN_CELL * c,
                    SEEN_TOP + SEEN_CELL * r,
                    (SEEN_CELL, SEEN_CELL),
                    0.5,
                    "weight",
                )
            x, path = left + SEEN_CELL * (c + 0.5), f"{name}.{r}.{c}"
            board.number(x, _base(r), path, str(seen), css=css, size=SMALL)
    side = len(values[name]) * SEEN_CELL
    board.box(left, SEEN_TOP, side, side, "fig-frame role-weight")


# A cache ------------------------------------------------------------------------------

CACHE_LEFT, CACHE_TOP, CACHE_CELL = 58.0, 44.0, (36.5, 27.0)
CACHE_COUNTS = (("kept", 304.0, "cache"), ("anew", 342.0, "none"))  # name, where, title


def cached(values: Values) -> Board:
    """The weights of each step, the new key outlined, and how many scores the step computes."""
    board = Board(CACHE_TOP + 7 * CACHE_CELL[1] + 12, values)
    board.words(CACHE_LEFT - 6, CACHE_TOP, CACHE_CELL[1])
    board.heads(CACHE_LEFT, CACHE_TOP - 8, CACHE_CELL[0], size=10)
    for r in range(6):
        y = CACHE_TOP + CACHE_CELL[1] * r
        heat_row(board, CACHE_LEFT, y, f"steps.{r}", CACHE_CELL)
        board.box(CACHE_LEFT + CACHE_CELL[0] * r, y, *CACHE_CELL, "fig-frame role-key")
    board.text(323, 14, "scores, with", size=SMALL, css="fig-bold")
    for name, x, title in CACHE_COUNTS:
        board.note(x, CACHE_TOP - 8, title)
        _counts(board, name, x, values[name])
    return board


def _counts(board: Board, name: str, x: float, counts: tuple[int, ...]) -> None:
    """Write a column of whole numbers, and their sum below a rule."""
    for r, count in enumerate(counts):
        board.number(x, CACHE_TOP + CACHE_CELL[1] * (r + 0.5) + 4.3, f"{name}.{r}", str(count))
    floor = CACHE_TOP + CACHE_CELL[1] * len(counts)
    board.line(x - 14, floor + 4, x + 14, floor + 4)
    board.text(x, floor + 22, str(sum(counts)), css="fig-bold")


# A transformer block ------------------------------------------------------------------

BLOCK_LEFT, BLOCK_STEP, BLOCK_CELL = 96.0, 56.0, (46.0, 26.0)
BLOCK_MIDDLE = BLOCK_LEFT + 1.5 * BLOCK_CELL[0]
BLOCK_AROUND = 44.0  # where the lines run that lead around each half
LOUD = ("attention", "added", "out")


def block(values: Values) -> Board:
    """Seven stages of one word, with the two ways around."""
    stages = list(values["stages"])
    board = Board(BLOCK_STEP * len(stages) - 14, values)
    for r, name in enumerate(stages):
        y = 6 + BLOCK_STEP * r
        role = "weight" if name == "attention" else "input"
        css = "fig-strong" if name in LOUD else ""
        board.row(BLOCK_LEFT, y, f"stages.{name}.{FOCUS}", role, BLOCK_CELL, css)
        label = "fig-bold" if name in LOUD else "fig-muted"
        board.text(BLOCK_LEFT + 3 * BLOCK_CELL[0] + 12, y + 17.3, name, anchor="start", css=label)
        if r:
            board.arrow(BLOCK_MIDDLE, y - BLOCK_STEP + BLOCK_CELL[1] + 3, BLOCK_MIDDLE, y - 3)
    for first, last in ((0, stages.index("added")), (stages.index("added"), len(stages) - 1)):
        _around(board, 6 + BLOCK_STEP * first + 17, 6 + BLOCK_STEP * last + 9)
    _others(board, 6 + BLOCK_STEP * stages.index("attention"))
    return board


def _around(board: Board, start: float, end: float) -> None:
    """Draw the residual connection from one stage to the addition below."""
    board.line(BLOCK_LEFT - 2, start, BLOCK_AROUND, start)
    board.line(BLOCK_AROUND, start, BLOCK_AROUND, end)
    board.arrow(BLOCK_AROUND, end, BLOCK_LEFT - 3, end)
    board.text(BLOCK_AROUND + 22, end - 6, "+", size=18, css="fig-bold")


def _others(board: Board, y: float) -> None:
    """Show that here, and only here, the other words come in."""
    right = BLOCK_LEFT + 3 * BLOCK_CELL[0]
    board.text(right + 22, y - 12, "other words", anchor="start", size=SMALL, css="role-weight")
    for shift in (0.0, 14.0, 28.0):
        board.arrow(right - 22 + shift, y - 24, right - 46 + shift, y - 3, css="role-weight")


DRAWINGS: dict[str, Drawing] = {
    "who-sees-whom": Drawing("Who sees whom, under three masks", who_sees_whom),
    "cached": Drawing("Six steps of attention with a cache", cached),
    "block": Drawing("One word on its way through a transformer block", block),
}
