"""The figures of the pages that lead from a small GPT to a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing, heat_row

if TYPE_CHECKING:
    from figures.values import Values

LETTER, LINE = 15.0, 30.0  # the width of a letter, and the height of a row


def merges(values: Values) -> Board:
    """Show a line of text as boxes, one row for each step of byte-pair encoding."""
    board = Board(LINE * len(values["pieces"]) + 24, values)
    board.note(358, 14, "tokens", anchor="end")
    before: tuple[str, ...] = values["pieces"][0]
    for r, pieces in enumerate(values["pieces"]):
        x, y = 2.0, 22 + LINE * r
        for piece in pieces:
            css = "role-input" if piece in before else "role-weight fig-strong"
            board.box(x, y, LETTER * len(piece), 24, f"fig-box {css}")
            for letter in piece.replace(" ", "␣"):
                board.text(x + LETTER / 2, y + 16.3, letter)
                x += LETTER
        board.number(358, y + 16.3, f"tokens.{r}", str(values["tokens"][r]), anchor="end")
        before = pieces
    return board


KINDS = (("4", "multi-head"), ("2", "grouped-query"), ("1", "multi-query"))
TALL = 96.0  # of one kind


def grouped_keys(values: Values) -> Board:
    """Draw four query heads, and lines to the keys and values that each of them uses."""
    board = Board(TALL * len(KINDS) + 4, values)
    board.note(358, 14, "cached", anchor="end")
    for place, (groups, title) in enumerate(KINDS):
        y = TALL * place
        board.text(2, y + 15, title, anchor="start", css="fig-bold")
        users = values["shared"][groups]
        for head in range(4):
            board.box(70 * head + 14, y + 24, 52, 22, "fig-box role-query")
            board.text(70 * head + 40, y + 39.3, "$q$")
        for group, uses in enumerate(users):
            middle = 280 * (group + 0.5) / len(users) + 5
            board.box(middle - 26, y + 68, 52, 22, "fig-box role-key")
            board.text(middle, y + 83.3, "$k$, $v$")
            for head, used in enumerate(uses):
                if used:
                    board.line(70 * head + 40, y + 46, middle, y + 68)
        number = str(values["cached"][groups])
        board.number(358, y + 83.3, f"cached.{groups}", number, anchor="end")
    return board


CELL = (33.0, 27.0)
TOP, LEFT, RIGHT = 42.0, 56.0, 270.0  # of the weights, and where the context vectors begin


def provisional(values: Values) -> Board:
    """Show the weights of one query after each tile of keys, from the end, and their result."""
    board = Board(TOP + 3 * CELL[1] + 6, values)
    board.text(RIGHT + 44, 15, "context", css="fig-bold")
    board.heads(LEFT, TOP - 8, CELL[0], size=10)
    for r, weights in enumerate(values["provisional"]):
        y = TOP + CELL[1] * r
        board.text(LEFT - 8, y + 17.8, f"tile {r + 1}", anchor="end", size=SMALL, css="fig-muted")
        heat_row(board, LEFT + CELL[0] * (6 - len(weights)), y, f"provisional.{r}", CELL)
        board.row(RIGHT, y, f"results.{r}", "input", (44, CELL[1]))
    return board


DRAWINGS: dict[str, Drawing] = {
    "merges": Drawing("Byte-pair encoding of one line", merges),
    "grouped-keys": Drawing("Heads that share keys and values", grouped_keys),
    "provisional": Drawing("Weights after each tile", provisional),
}
