"""The figures of models that were trained: their heads in a sentence, and a small GPT's loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import WIDTH, Board, Panels
from figures.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from figures.board import Anchor
    from figures.values import Values

# Shares of one word -----------------------------------------------------------------------

COLUMN = WIDTH / 6
BASE = 74.0  # of the words
TALLEST = 34.0  # bar
LAST = 5  # the word that asks: what follows it is what the model has to predict


def sentence(values: Values) -> Panels:
    """What the last word attends to in two sentences, after a plural and after a singular."""
    return Panels(
        shares(values, "start", "plural"),
        shares(values, "at_singular", "singular", words="singular_words"),
    )


def shares(values: Values, name: str, title: str = "", words: str = "words") -> Board:
    """Six words, joined to the last one by lines as thick as the weights that it gives them."""
    board = Board(138, values)
    weights = values[name][LAST]
    for place, (word, weight) in enumerate(zip(values[words], weights, strict=True)):
        x = COLUMN * (place + 0.5)
        _arc(board, COLUMN * (LAST + 0.5), x, 12 * weight)
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


def averaging(values: Values) -> Panels:
    """The same weights for all six words, and those of a trained head, for two sentences."""
    return Panels(
        shares(values, "averaged", "averaging"),
        shares(values, "start", "a trained head, plural"),
        shares(values, "at_singular", "the same head, singular", words="singular_words"),
    )


# Two heads ----------------------------------------------------------------------------------

ROW = 25.0
TOP = 40.0  # of the words, below the names of the heads
MIDDLE, ASIDE = 180.0, 34.0  # of the words, and how far from there the bows begin
THICKEST = 9.0
MOST = 0.5  # a larger share is set off
HEADS = (("first_head", 8, -1), ("second_head", 5, 1))  # the place that asks, and its side


def both_heads(values: Values) -> Board:
    """A sentence from top to bottom, with what one head attends to on each side."""
    asking = {place for _, place, _ in HEADS}
    board = _sentence(values, values["sentence"], asking)
    for name, place, side in HEADS:
        title = f"{name.partition('_')[0]} head, at “{values['sentence'][place]}”"
        board.text(MIDDLE + 172 * side, 16, title, anchor=_end(side), css="fig-bold")
        _attends(board, (name, place, side), place + 1)
    return board


def _sentence(values: Values, words: Sequence[str], asking: set[int]) -> Board:
    board = Board(TOP + ROW * len(words) + 6, values)
    for place, word in enumerate(words):
        css = "fig-bold" if place in asking else ""
        css += " role-weight fig-bold" if place - 1 in asking else ""
        board.text(MIDDLE, _base(place), word, size=14.5, css=css)
    return board


def _attends(board: Board, which: tuple[str, int, int], seen: int) -> None:
    """Draw the bows of one place to the words that it sees, and their weights."""
    name, place, side = which
    for other in range(seen):
        weight = board.values[name][place][other]
        _bow(board, place, other, side, THICKEST * weight)
        css = "role-weight fig-bold" if weight > MOST else "fig-muted"
        path = f"{name}.{place}.{other}"
        board.number(MIDDLE + 172 * side, _base(other), path, css=css, anchor=_end(side))


def _end(side: int) -> Anchor:
    return "start" if side < 0 else "end"


def _base(place: int) -> float:
    return TOP + ROW * (place + 0.5) + 4.5


def _bow(board: Board, start: int, end: int, side: int, thickness: float) -> None:
    """Draw a bow beside the words, or a loop where a word attends to itself."""
    x = MIDDLE + ASIDE * side
    y1, y2 = _base(start) - 4.5, _base(end) - 4.5
    bulge = x + side * (24 + 6 * abs(start - end))
    if start == end:
        y1, y2 = y1 - 5, y2 + 5
    board.parts.append(
        f'<path class="fig-bow role-weight" stroke-width="{thickness:.2f}"'
        f' d="M{x:.1f} {y1:.1f}C{bulge:.1f} {y1:.1f} {bulge:.1f} {y2:.1f} {x:.1f} {y2:.1f}"/>'
    )


# The small GPT ---------------------------------------------------------------------------

DRAWINGS: dict[str, Drawing] = {
    "sentence": Drawing(
        "Which words a trained head attends to", sentence, page="self-attention/what-for"
    ),
    "averaging": Drawing("Averaging, and a trained head for a plural and a singular", averaging),
    "both-heads": Drawing(
        "What two trained heads attend to", both_heads, page="self-attention/training"
    ),
}
