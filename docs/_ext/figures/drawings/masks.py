"""The figures of the pages on masks and on padding: who sees whom, with and without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing
from figures.page_trace import page_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from figures.attention_trace import Trace
    from figures.page_trace import PageTrace

MASKS = (("free", "no mask"), ("right", "causal mask"), ("swapped", "swapped"))
PADDING = (("unmasked", "no mask"), ("masked", "padding hidden"))
LEFT, TOP, CELL, GAP = 52.0, 26.0, 16.0, 6.0  # of the first table, and between two


def who_sees_whom(_: Trace) -> Board:
    """Three tables: a row for who looks, a column for who was changed."""
    trace = page_trace("masks", *(name for name, _ in MASKS))
    return _tables(trace, MASKS, trace.words)


def padding_seen(_: Trace) -> Board:
    """Two such tables for a sentence of three words, filled up with padding."""
    trace = page_trace("padding", *(name for name, _ in PADDING))
    return _tables(trace, PADDING, (*trace.words[:3], *3 * ("padding",)))


def _tables(trace: PageTrace, tables: Sequence[tuple[str, str]], labels: Sequence[str]) -> Board:
    side = len(labels) * CELL
    board = Board(TOP + side + 8, trace)
    for r, label in enumerate(labels):
        board.text(LEFT - 6, _base(r), label, anchor="end", size=SMALL, css="fig-muted")
    for place, (name, title) in enumerate(tables):
        left = LEFT + place * (side + GAP)
        board.text(left, 15, title, anchor="start", css="fig-bold")
        _table(board, trace, name, left)
    return board


def _base(row: int) -> float:
    return TOP + CELL * (row + 0.5) + 4.3


def _table(board: Board, trace: PageTrace, name: str, left: float) -> None:
    for r, row in enumerate(trace.made[name]):
        for c, seen in enumerate(row):
            css = "" if seen else "fig-muted"
            if seen:
                board.shade(left + CELL * c, TOP + CELL * r, (CELL, CELL), 0.5, "weight")
            x, path = left + CELL * (c + 0.5), f"{name}.{r}.{c}"
            board.number(x, _base(r), path, str(seen), css=css, size=SMALL)
    side = len(trace.made[name]) * CELL
    board.box(left, TOP, side, side, "fig-frame role-weight")


DRAWINGS: dict[str, Drawing] = {
    "who-sees-whom": Drawing("Who sees whom, under three masks", who_sees_whom),
    "padding-seen": Drawing("Who sees the padding, with and without a mask", padding_seen),
}
