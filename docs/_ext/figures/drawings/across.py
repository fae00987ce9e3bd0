"""The figure of the page on cross-attention: three words attend to six."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing, strength
from figures.page_trace import page_trace

if TYPE_CHECKING:
    from figures.attention_trace import Trace

LEFT, TOP, CELL = 66.0, 58.0, (34.0, 27.0)
CONTEXT = LEFT + 6 * CELL[0] + 18  # where the context vectors begin
WRITTEN = ("Ton", "voyage", "commence")


def across(_: Trace) -> Board:
    """Weights with a row for each written word, and the context vectors beside them."""
    trace = page_trace("cross-attention", "weights", "context_vecs")
    board = Board(TOP + 3 * CELL[1] + 30, trace)
    board.text(LEFT, 15, "keys and values of the source", anchor="start", css="role-key fig-bold")
    board.text(LEFT - 6, TOP - 30, "queries", anchor="end", css="role-query fig-bold")
    board.text(CONTEXT, 15, "context", anchor="start", css="fig-bold")
    for c, word in enumerate(trace.words):
        lower = 12 * (c % 2)  # longer words would touch their neighbours
        board.text(LEFT + CELL[0] * (c + 0.5), TOP - 20 + lower, word, size=SMALL, css="fig-muted")
    for r, weights in enumerate(trace.made["weights"]):
        y = TOP + CELL[1] * r
        board.text(LEFT - 6, y + 17.8, WRITTEN[r], anchor="end", size=SMALL, css="fig-muted")
        for c, weight in enumerate(weights):
            x = LEFT + CELL[0] * c
            board.shade(x, y, CELL, strength(weight, trace.made["weights"]), "weight")
            board.number(x + CELL[0] / 2, y + 17.8, f"weights.{r}.{c}")
        board.row(CONTEXT, y, [f"context_vecs.{r}.{c}" for c in range(2)], "input", CELL)
    board.box(LEFT, TOP, 6 * CELL[0], 3 * CELL[1], "fig-frame role-weight")
    floor = TOP + 3 * CELL[1] + 18
    board.text(LEFT + 3 * CELL[0], floor, "weights, 3 × 6", size=SMALL, css="role-weight")
    board.text(CONTEXT + CELL[0], floor, "3 × 2", size=SMALL, css="fig-muted")
    return board


DRAWINGS: dict[str, Drawing] = {
    "across": Drawing("Three words attend to six", across),
}
