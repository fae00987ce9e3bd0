"""The pictures of the first page: the sentence with its weights, and a small one to each card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import WIDTH, Board
from figures.drawing import Drawing, strength
from figures.values import two_heads

if TYPE_CHECKING:
    from figures.values import Values

COLUMN = WIDTH / 6
BASE = 74.0  # of the words
TALLEST = 34.0  # bar
THICKEST = 12.0  # bow
LAST = 5  # the word that asks: what follows it is what the model has to predict
SIZE = (96.0, 60.0)  # of a small picture


def sentence(values: Values) -> Board:
    """Six words of the trained model, joined to the last by lines as thick as its weights."""
    return shares(values, "start")


def shares(values: Values, name: str, title: str = "") -> Board:
    """Six words, joined to the last one by lines as thick as the weights that it gives them."""
    board = Board(138, values)
    weights = values[name][LAST]
    for place, (word, weight) in enumerate(zip(values["words"], weights, strict=True)):
        x = COLUMN * (place + 0.5)
        _arc(board, COLUMN * (LAST + 0.5), x, THICKEST * weight)
        css = "fig-bold" if place == LAST else ""
        board.text(x, BASE, word, size=14.5, css=css)
        board.bar(x - 15, BASE + 10, 30, TALLEST * weight, "role-weight")
        beside = BASE + 25 + TALLEST * weight
        board.number(x, beside, f"{name}.{LAST}.{place}", css="role-weight fig-bold")
    if title:
        board.text(0, 13, title, anchor="start", css="fig-bold")
    return board


def _arc(board: Board, start: float, end: float, thickness: float) -> None:
    """Draw a bow from one word to another, or a loop where both are the same."""
    floor = BASE - 18
    if start == end:
        bow = f"C{start - 26:.1f} 26 {start + 26:.1f} 26 {start + 7:.1f} {floor}"
        start -= 7
    else:
        rise = 18 + 0.08 * abs(end - start)
        bow = f"Q{(start + end) / 2:.1f} {floor - 2 * rise:.1f} {end:.1f} {floor}"
    board.parts.append(
        f'<path class="fig-bow role-weight" stroke-width="{thickness:.2f}"'
        f' d="M{start:.1f} {floor}{bow}"/>'
    )


# Small pictures ------------------------------------------------------------------------


def _compare(values: Values) -> Board:
    board = Board(SIZE[1], values, SIZE[0])
    for arrow, role in ((values["q"], "query"), (values["arrows"]["right angle"], "key")):
        board.arrow(38, 52, 38 + 22 * arrow[0], 52 - 22 * arrow[1], css=f"fig-vector role-{role}")
    return board


def _weigh(values: Values) -> Board:
    board = Board(SIZE[1], values, SIZE[0])
    rows = values["attn_weights"]
    for r, row in enumerate(rows):
        for c, weight in enumerate(row):
            board.shade(20 + 9.5 * c, 2 + 9.5 * r, (9, 9), 1.6 * strength(weight, rows), "weight")
    return board


def _spread(values: Values) -> Board:
    board = Board(SIZE[1], values, SIZE[0])
    for series, role in ((values["scaled"], "weight"), (values["plain"], "input")):
        points = [(6 + 9.3 * p, 56 - 13 * bits) for p, bits in enumerate(series["entropy"])]
        board.curve(points, role, marked=False)
    return board


def _learn(values: Values) -> Board:
    board = Board(SIZE[1], values, SIZE[0])
    points = [(6 + 0.42 * p, 55 - 44 * seen) for p, (seen, _) in enumerate(values["losses"])]
    board.curve(points, "query", marked=False)
    return board


PICTOGRAMS: dict[str, Drawing] = {
    "compare": Drawing("", _compare, page="companions/without-weights"),
    "weigh": Drawing("", _weigh),
    "spread": Drawing("", _spread, page="companions/why-scale"),
    "learn": Drawing("", _learn, page="companions/training"),
}
DRAWINGS: dict[str, Drawing] = {
    "sentence": Drawing("Which words a trained head attends to", sentence, two_heads),
}
