"""The figure of the page on masks: who sees whom, with and without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing
from figures.page_trace import page_trace

if TYPE_CHECKING:
    from figures.attention_trace import Trace
    from figures.page_trace import PageTrace

PANELS = (
    ("free", "no mask"),
    ("right", "causal mask"),
    ("swapped", "True and False swapped"),
    ("padded", "padding hidden"),
)
PANEL = (181.0, 176.0)  # two panels to a row
LEFT, TOP, CELL = 56.0, 28.0, 20.0  # of a table within its panel
WORDS = 3  # of the padded sentence; the other places are padding


def who_sees_whom(_: Trace) -> Board:
    """Four tables: a row for who looks, a column for who was changed."""
    trace = page_trace("masks", *(name for name, _ in PANELS))
    board = Board(2 * PANEL[1] - 8, trace)
    for place, (name, title) in enumerate(PANELS):
        corner = (PANEL[0] * (place % 2), PANEL[1] * (place // 2))
        _table(board, trace, name, corner)
        board.text(corner[0] + LEFT, corner[1] + 15, title, anchor="start", css="fig-bold")
    return board


def _table(board: Board, trace: PageTrace, name: str, corner: tuple[float, float]) -> None:
    left, top = corner[0] + LEFT, corner[1] + TOP
    for r, row in enumerate(trace.made[name]):
        word = trace.words[r] if name != "padded" or r < WORDS else "padding"
        base = top + CELL * (r + 0.5) + 4.3
        board.text(left - 6, base, word, anchor="end", size=SMALL, css="fig-muted")
        for c, seen in enumerate(row):
            css = "" if seen else "fig-muted"
            if seen:
                board.shade(left + CELL * c, top + CELL * r, (CELL, CELL), 0.5, "weight")
            x, path = left + CELL * (c + 0.5), f"{name}.{r}.{c}"
            board.number(x, base, path, str(seen), css=css, size=SMALL)
    board.box(left, top, 6 * CELL, 6 * CELL, "fig-frame role-weight")


DRAWINGS: dict[str, Drawing] = {
    "who-sees-whom": Drawing("Who sees whom, under four masks", who_sees_whom),
}
