"""The figure of the page on the KV cache: what each step makes, and what it finds in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing, strength
from figures.page_trace import page_trace

if TYPE_CHECKING:
    from figures.attention_trace import Trace

LEFT, TOP, CELL = 58.0, 44.0, (36.5, 27.0)
COUNTS = (("kept", 304.0, "cache"), ("anew", 342.0, "none"))  # name, where, title


def cached(_: Trace) -> Board:
    """The weights of each step, the new key outlined, and how many scores the step computes."""
    trace = page_trace("kv-cache", "steps", "kept", "anew")
    board = Board(TOP + 7 * CELL[1] + 12, trace)
    board.words(LEFT - 6, TOP, CELL[1])
    for c, word in enumerate(trace.words):
        board.text(LEFT + CELL[0] * (c + 0.5), TOP - 8, word, size=10, css="fig-muted")
    for r, weights in enumerate(trace.made["steps"]):
        y = TOP + CELL[1] * r
        for c, weight in enumerate(weights):
            x = LEFT + CELL[0] * c
            board.shade(x, y, CELL, strength(weight, trace.made["steps"]), "weight")
            board.number(x + CELL[0] / 2, y + CELL[1] / 2 + 4.3, f"steps.{r}.{c}")
        board.box(LEFT + CELL[0] * r, y, *CELL, "fig-frame role-key")
    board.text(323, 14, "scores, with", size=SMALL, css="fig-bold")
    for name, x, title in COUNTS:
        board.text(x, TOP - 8, title, size=SMALL, css="fig-muted")
        _counts(board, name, x, trace.made[name])
    return board


def _counts(board: Board, name: str, x: float, counts: tuple[int, ...]) -> None:
    """Write a column of whole numbers, and their sum below a rule."""
    for r, count in enumerate(counts):
        board.number(x, TOP + CELL[1] * (r + 0.5) + 4.3, f"{name}.{r}", str(count))
    floor = TOP + CELL[1] * len(counts)
    board.line(x - 14, floor + 4, x + 14, floor + 4)
    board.text(x, floor + 22, str(sum(counts)), css="fig-bold")


DRAWINGS: dict[str, Drawing] = {
    "cached": Drawing("Six steps of attention with a cache", cached),
}
