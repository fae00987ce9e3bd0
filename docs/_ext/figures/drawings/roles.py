"""The figures of the pages on raw embeddings and on queries, keys and values."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from figures.attention_trace import Matrix, Trace, attention_trace, rows
from figures.board import SMALL, Board, Panels
from figures.drawing import FOCUS, Drawing, heat_key, strength
from selfattn import attention_scores, context_vectors
from selfattn.examples import six_tokens


@dataclass(frozen=True)
class RolesTrace(Trace):
    """The trace with what the raw embeddings give, unscaled."""

    raw_scores: Matrix
    raw_weights: Matrix
    raw_context_vecs: Matrix


@functools.cache
def roles_trace() -> RolesTrace:
    """Compute both forms once for the whole build."""
    inputs = six_tokens().inputs
    scores = attention_scores(inputs, inputs)
    weights = scores.softmax(dim=-1)
    return RolesTrace(
        **vars(attention_trace()),
        raw_scores=rows(scores),
        raw_weights=rows(weights),
        raw_context_vecs=rows(context_vectors(weights, inputs)),
    )


# The drawings ---------------------------------------------------------------------------

LEFT, CELL = 60.0, (49.0, 23.0)  # of a heat map: room for the words, one cell
TOP = 40.0  # room for a title and the words above a heat map
MIRROR = ((4, 5), (5, 4))  # one and step, each asking the other


def journey(trace: Trace) -> Board:
    """One word in three roles, from its embedding to its context vector."""
    board = Board(462, trace)
    board.text(180, 15, "journey, $x^{(2)}$", css="fig-bold")
    board.row(114, 22, [f"inputs.{FOCUS}.{c}" for c in range(3)], "input", (44, 22))
    roles = (
        (62.0, "query", "queries", "what it looks for"),
        (180.0, "key", "keys", "how it is found"),
        (298.0, "value", "values", "what it hands over"),
    )
    for x, role, name, says in roles:
        board.arrow(180 + (x - 180) * 0.45, 47, x, 70)
        board.text(x, 85, f"× $W_{{{role[0]}}}$", css=f"role-{role} fig-bold")
        board.arrow(x, 93, x, 108)
        board.text(x, 123, f"{role} ${role[0]}^{{(2)}}$", css=f"role-{role} fig-bold")
        paths = [f"{name}.{FOCUS}.{c}" for c in range(2)]
        board.row(x - 46, 130, paths, role, (46, 24), "fig-strong")
        board.text(x, 170, says, size=SMALL, css="fig-muted")
    _asks(board)
    board.arrow(62, 176, 62, 190)
    board.arrow(298, 411, 298, 428)
    board.text(288, 425, "sum of the six rows", anchor="end", size=SMALL, css="fig-muted")
    board.text(242, 450, "context vector $z^{(2)}$", anchor="end", css="fig-bold")
    paths = [f"context_vecs.{FOCUS}.{c}" for c in range(2)]
    board.row(252, 432, paths, "input", (46, 26), "fig-strong")
    return board


def _asks(board: Board) -> None:
    """Draw the six scores that the query gets, and the weights made of them."""
    board.text(18, 205, "$q^{(2)}$ meets all six keys", anchor="start", css="role-query fig-bold")
    board.text(94, 229, "score", css="role-weight fig-bold")
    board.text(176, 229, "÷ $√d_{k}$, then softmax", size=SMALL, css="fig-muted")
    board.text(266, 229, "weight", css="role-weight fig-bold")
    board.text(328, 229, "value", css="role-value fig-bold")
    scores = board.trace.attn_scores[FOCUS]
    for r, word in enumerate(board.trace.words):
        y, css = 237 + 28 * r, "fig-bold" if r == FOCUS else "fig-muted"
        base = y + 16.3
        board.text(62, base, word, anchor="end", css=css)
        board.row(70, y, [f"attn_scores.{FOCUS}.{r}"], "weight", (48, 24))
        board.bar(122, y, 88 * scores[r] / max(scores), 24, "role-weight")
        board.arrow(214, y + 12, 238, y + 12)
        board.row(242, y, [f"attn_weights.{FOCUS}.{r}"], "weight", (48, 24))
        board.text(301, base, "×")
        board.text(330, base, f"$v^{{({r + 1})}}$", css="role-value")


def raw_attention(trace: RolesTrace) -> Panels:
    """Scores and weights of the raw embeddings, all six tokens at once."""
    return Panels(
        pairs(trace, "raw_scores", "scores $X X^{⊤}$"),
        pairs(trace, "raw_weights", "weights: softmax on each row"),
    )


def two_scores(trace: RolesTrace) -> Panels:
    """Scores of embeddings, equal both ways, beside scores of queries and keys, which are not."""
    boards = []
    for name, title in (("raw_scores", "embedding · embedding"), ("attn_scores", "query · key")):
        board = pairs(trace, name, title)
        for r, c in MIRROR:
            x, y = LEFT + CELL[0] * c, TOP + CELL[1] * r
            board.box(x + 1.5, y + 1.5, CELL[0] - 3, CELL[1] - 3, "fig-frame role-input")
        boards.append(board)
    return Panels(*boards)


def pairs(trace: Trace, name: str, title: str) -> Board:
    """Draw a matrix of all pairs of tokens, darker where larger, a number in every cell."""
    board = Board(TOP + 6 * CELL[1] + 34, trace)
    rows = getattr(trace, name)
    for c, word in enumerate(trace.words):
        board.text(LEFT + CELL[0] * (c + 0.5), TOP - 6, word, size=SMALL, css="fig-muted")
    board.words(LEFT - 6, TOP, CELL[1])
    for r, row in enumerate(rows):
        for c, number in enumerate(row):
            x, y = LEFT + CELL[0] * c, TOP + CELL[1] * r
            board.shade(x, y, CELL, strength(number, rows), "weight")
            board.number(x + CELL[0] / 2, y + CELL[1] / 2 + 4.3, f"{name}.{r}.{c}")
    board.box(LEFT, TOP, CELL[0] * len(rows), CELL[1] * len(rows), "fig-frame role-weight")
    heat_key(board, LEFT, TOP + 6 * CELL[1] + 14, name)
    board.text(LEFT, 15, title, anchor="start", css="role-weight fig-bold")
    return board


DRAWINGS: dict[str, Drawing] = {
    "journey": Drawing("One word in three roles", journey),
    "raw-attention": Drawing(
        "Attention without trainable weights", lambda _: raw_attention(roles_trace())
    ),
    "two-scores": Drawing(
        "Scores without and with projections", lambda _: two_scores(roles_trace())
    ),
}
