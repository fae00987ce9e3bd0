"""The figures of all pairs of words: raw scores, scores in roles, causal weights, several heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import Board, Panels
from figures.drawing import FOCUS, Drawing, heat_key, heat_map
from figures.values import no_values

if TYPE_CHECKING:
    from figures.values import Values

LEFT, CELL = 60.0, (49.0, 23.0)  # of a heat map: room for the words, one cell
TOP = 40.0  # room for a title and the words above a heat map


def journey(values: Values) -> Board:
    """One word in three roles, from its embedding to its context vector."""
    board = Board(462, values)
    board.text(180, 15, "journey, $x^{(2)}$", css="fig-bold")
    board.row(114, 22, f"inputs.{FOCUS}", "input", (44, 22))
    roles = (
        (62.0, "query", "queries", "what it looks for"),
        (180.0, "key", "keys", "how it is found"),
        (298.0, "value", "values", "what it passes on"),
    )
    for x, role, name, says in roles:
        board.arrow(180 + (x - 180) * 0.45, 47, x, 70)
        board.text(x, 85, f"× $W_{{{role[0]}}}$", css=f"role-{role} fig-bold")
        board.arrow(x, 93, x, 108)
        board.text(x, 123, f"{role} ${role[0]}^{{(2)}}$", css=f"role-{role} fig-bold")
        board.row(x - 46, 130, f"{name}.{FOCUS}", role, (46, 24), "fig-strong")
        board.note(x, 170, says)
    _asks(board)
    board.arrow(62, 176, 62, 190)
    board.arrow(298, 411, 298, 428)
    board.note(288, 425, "sum of the six rows", anchor="end")
    board.text(242, 450, "context vector $z^{(2)}$", anchor="end", css="fig-bold")
    board.row(252, 432, f"context_vecs.{FOCUS}", "input", (46, 26), "fig-strong")
    return board


def _asks(board: Board) -> None:
    """Draw the six scores that the query gets, and the weights made of them."""
    board.text(18, 205, "$q^{(2)}$ meets all six keys", anchor="start", css="role-query fig-bold")
    board.text(94, 229, "score", css="role-weight fig-bold")
    board.note(176, 229, "÷ $√d_{k}$, then softmax")
    board.text(266, 229, "weight", css="role-weight fig-bold")
    board.text(328, 229, "value", css="role-value fig-bold")
    scores = board.values["attn_scores"][FOCUS]
    board.words(62, 237, 28, FOCUS, 24)
    for r in range(6):
        y = 237 + 28 * r
        base = y + 16.3
        board.row(70, y, f"attn_scores.{FOCUS}.{r}", "weight", (48, 24))
        board.bar(122, y, 88 * scores[r] / max(scores), 24, "role-weight")
        board.arrow(214, y + 12, 238, y + 12)
        board.row(242, y, f"attn_weights.{FOCUS}.{r}", "weight", (48, 24))
        board.text(301, base, "×")
        board.text(330, base, f"$v^{{({r + 1})}}$", css="role-value")


def raw_attention(values: Values) -> Panels:
    """Scores and weights of the raw embeddings, all six tokens at once."""
    return Panels(
        pairs(values, "raw_scores", "scores $X X^{⊤}$"),
        pairs(values, "raw_weights", "weights: softmax on each row"),
    )


def pairs(values: Values, name: str, title: str, scale: str = "", *, masked: bool = False) -> Board:
    """Draw a matrix of all pairs of tokens, darker where larger, a number in every cell."""
    board = _labelled(values)
    heat_map(board, LEFT, TOP, name, CELL, scale=scale, masked=masked)
    heat_key(board, LEFT, TOP + 6 * CELL[1] + 14, scale or name)
    board.text(LEFT, 15, title, anchor="start", css="role-weight fig-bold")
    return board


def _labelled(values: Values) -> Board:
    """Return a board with the words on two sides of a matrix of all pairs."""
    board = Board(TOP + 6 * CELL[1] + 34, values)
    board.heads(LEFT, TOP - 6, CELL[0])
    board.words(LEFT - 6, TOP, CELL[1])
    return board


# Causal attention, and several heads ----------------------------------------------------

HEADS = ("query", "value")  # the colours of the two heads
WIDE, ROW = 46.0, 23.0  # a cell of the queries
SHORT = 4  # tokens of the sentence that is shorter than the mask


def causal(values: Values) -> Panels:
    """Attention weights without a mask and with one."""
    return Panels(
        pairs(values, "unmasked_weights", "without a mask", scale="causal_weights"),
        pairs(values, "causal_weights", "with the mask", masked=True),
    )


def next_token(values: Values) -> Board:
    """What each row of causal attention may use, and the token that it has to predict."""
    words, step = [*values["words"], "?"], 25.0
    board = Board(40 + 6 * step, values)
    board.text(12, 15, "a row may use", anchor="start", css="role-query fig-bold")
    board.text(348, 15, "it predicts", anchor="end", css="role-value fig-bold")
    for r in range(6):
        y = 40 + step * r
        board.text(12, y, " ".join(words[: r + 1]), anchor="start")
        board.arrow(256, y - 4, 284, y - 4)
        board.text(348, y, words[r + 1], anchor="end", css="role-value fig-bold")
    return board


def mask_corner(values: Values) -> Board:
    """The mask, and the corner of it that a shorter sentence takes."""
    board = _labelled(values)
    for r, row in enumerate(values["mask"]):
        for c, hidden in enumerate(row):
            x, y = LEFT + CELL[0] * c, TOP + CELL[1] * r
            board.shade(x, y, CELL, 0.4 * hidden, "weight")
            if hidden:
                board.text(x + CELL[0] / 2, y + CELL[1] / 2 + 4.3, "−∞")
    board.box(LEFT, TOP, CELL[0] * 6, CELL[1] * 6, "fig-frame role-weight")
    size = (CELL[0] * SHORT, CELL[1] * SHORT)
    board.box(LEFT, TOP, *size, "fig-frame role-query")
    board.text(
        LEFT, TOP + 6 * CELL[1] + 22, "mask[:4, :4]", anchor="start", css="role-query fig-bold"
    )
    return board


def split_heads(values: Values) -> Board:
    """The queries of two heads, split as they must be and cut as they must not."""
    board = Board(584, values)
    board.text(180, 15, "queries, 6 × 4", css="fig-bold")
    board.words(180 - 2 * WIDE - 8, 24, ROW)
    for r in range(6):
        for head, role in enumerate(HEADS):
            columns, x = (2 * head, 2 * head + 1), 180 + 2 * WIDE * (head - 1)
            board.row(x, 24 + ROW * r, f"joined.{r}", role, (WIDE, ROW), columns=columns)
    halves = (
        (100.0, "head", "view(6, 2, 2)", "transpose(0, 1)"),
        (290.0, "cut", "view(2, 6, 2)", "alone: wrong"),
    )
    for x, name, first, second in halves:
        board.arrow(180 + (x - 180) * 0.5, 168, x, 190)
        board.text(x, 207, first, css="fig-bold")
        board.text(x, 223, second, css="fig-bold" if name == "head" else "fig-muted")
        _heads(board, x - WIDE, name)
    return board


def _heads(board: Board, x: float, name: str) -> None:
    """Draw two matrices of six rows, one below the other, each row in its head's colour."""
    for number in (1, 2):
        top = 252 + 184 * (number - 1)
        board.note(x + WIDE, top - 8, f"“head {number}”" if name == "cut" else f"head {number}")
        for r in range(6):
            role = HEADS[r % 2] if name == "cut" else HEADS[number - 1]
            board.row(x, top + ROW * r, f"{name}_{number}.{r}", role, (WIDE, ROW))
            token = (6 * (number - 1) + r) // 2 if name == "cut" else r
            if name == "head" or r % 2 == 0:
                word = board.values["words"][token]
                board.note(x - 6, top + ROW * (r + 0.5) + 4.3, word, anchor="end")


DRAWINGS: dict[str, Drawing] = {
    "journey": Drawing("One word in three roles", journey),
    "raw-attention": Drawing("Attention without trainable weights", raw_attention),
    "causal": Drawing("Attention weights and a causal mask", causal),
    "next-token": Drawing("Each row predicts the next token", next_token, no_values),
    "mask-corner": Drawing("A mask and its corner", mask_corner),
    "split-heads": Drawing("Queries split into heads", split_heads),
}
