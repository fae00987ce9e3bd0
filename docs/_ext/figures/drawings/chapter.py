"""The figures of Section 3.4, from one input to the whole layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, WIDTH, Board
from figures.drawing import FOCUS, Drawing, heat_key, heat_map
from figures.values import no_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from figures.values import Values

ROW = 22.0  # height of a matrix row
COMPARED = (  # in Section 3.3: what leads to a row of numbers, its symbol, where it is, its role
    ("", "$x^{(2)}$", "x_2", "input"),
    ("1 compare with every word", "$ω_{2j}$", "scores_2", "weight"),
    ("2 make weights of the scores", "$α_{2j}$", "weights_2", "weight"),
    ("3 mix the six embeddings", "$z^{(2)}$", "mixed_2", "input"),
)
ASKED = (  # in Section 3.4
    ("", "$x^{(2)}$", f"inputs.{FOCUS}", "input"),
    ("1 project", "$q^{(2)}$", f"queries.{FOCUS}", "query"),
    ("2 score: compare with every key", "$ω_{2j}$", f"attn_scores.{FOCUS}", "weight"),
    ("3 weigh: softmax of the scaled scores", "$α_{2j}$", f"attn_weights.{FOCUS}", "weight"),
    ("4 sum of the values", "$z^{(2)}$", f"context_vecs.{FOCUS}", "input"),
)


def roadmap(values: Values) -> Board:
    """Where the section stands between its neighbours."""
    stops = (
        ("3.3", "Simplified self-attention", "no weights to learn: the idea alone"),
        ("3.4", "Self-attention", "trainable weights $W_{q}$, $W_{k}$, $W_{v}$"),
        ("3.5", "Causal attention", "each token sees itself and what came before"),
        ("3.6", "Multi-head attention", "several attentions side by side"),
    )
    board = Board(336, values)
    for place, (number, name, note) in enumerate(stops):
        y = 4 + 84 * place
        here = number == "3.4"
        board.box(
            4, y, WIDTH - 8, 60, "fig-box role-query fig-here" if here else "fig-box role-input"
        )
        board.text(18, y + 35, number, anchor="start", size=16, css="fig-bold")
        board.text(62, y + 25, name, anchor="start", size=14, css="fig-bold")
        board.text(62, y + 45, note, anchor="start", css="fig-muted")
        if here:
            board.text(WIDTH - 14, y + 25, "you are here", anchor="end", css="role-query fig-bold")
        if place < len(stops) - 1:
            board.arrow(WIDTH / 2, y + 62, WIDTH / 2, y + 82)
    return board


def compared(values: Values) -> Board:
    """What happens to one word without trainable weights."""
    return _on_its_way(values, COMPARED)


def asked(values: Values) -> Board:
    """What happens to one word with queries, keys and values."""
    return _on_its_way(values, ASKED)


def _on_its_way(values: Values, rows: Sequence[tuple[str, str, str, str]]) -> Board:
    """Draw the embedding of one word, and the numbers that each step makes of it."""
    left, cell = 84.0, (45.0, 26.0)
    y = 8.0
    board = Board(0, values)
    for step, symbol, path, role in rows:
        size = len(values.at(path))
        if step:
            board.arrow(left + 22, y - 22, left + 22, y - 2)
            board.text(left + 36, y - 7, step, anchor="start", css="fig-bold")
        if size == len(values["words"]):
            y += 14
            board.heads(left, y - 1, cell[0])
            y += 4
        board.text(left - 10, y + 18, symbol, anchor="end", css=f"role-{role} fig-bold")
        if not step:
            board.note(left - 40, y + 18, values["words"][FOCUS], anchor="end")
        board.row(left, y, path, role, cell)
        y += cell[1] + 28
    board.height = y - 24
    return board


def projections(values: Values) -> Board:
    """One input through three weight matrices, then keys and values of all tokens."""
    board = Board(454, values)
    centres = {"query": 112.0, "key": 212.0, "value": 312.0}
    cell = (44.0, ROW)
    middle = centres["key"]
    board.text(52, 31, "$x^{(2)}$", anchor="end", css="fig-bold")
    board.note(52, 46, "journey", anchor="end")
    board.row(middle - 66, 22, f"inputs.{FOCUS}", "input", cell)
    for role, x in centres.items():
        letter, left = role[0], x - cell[0]
        board.arrow(middle + (x - middle) * 0.35, 46, x, 72)
        board.text(x, 88, f"$W_{{{letter}}}$", css=f"role-{role} fig-bold")
        board.matrix(left, 96, f"W_{role}", role, cell)
        board.arrow(x, 164, x, 184)
        name = {"query": "queries", "key": "keys", "value": "values"}[role]
        board.text(x, 200, f"${letter}^{{(2)}}$", css=f"role-{role} fig-bold")
        board.row(left, 208, f"{name}.{FOCUS}", role, cell, "fig-strong")
    board.note(58, 133, "times", anchor="end")
    board.line(4, 248, WIDTH - 4, 248)
    board.text(4, 274, "every token", anchor="start", css="fig-bold")
    board.note(4, 291, "by the same", anchor="start")
    board.note(4, 305, "two matrices", anchor="start")
    for role, name in (("key", "keys"), ("value", "values")):
        board.text(centres[role], 274, name, css=f"role-{role} fig-bold")
        board.text(centres[role], 292, f"$X W_{{{role[0]}}}$", css=f"role-{role}")
        board.matrix(centres[role] - cell[0], 300, name, role, (cell[0], ROW + 2), strong=FOCUS)
    board.words(160, 300, ROW + 2, strong=FOCUS)
    return board


def scores(values: Values) -> Board:
    """The second query meets every key."""
    board = Board(292, values)
    cell, top, step = (42.0, 26.0), 92.0, 33.0
    board.text(64, 40, "$q^{(2)}$", anchor="end", css="role-query fig-bold")
    board.row(72, 22, f"queries.{FOCUS}", "query", cell, "fig-strong")
    board.note(166, 40, "meets each key in a dot product", anchor="start")
    board.arrow(114, 52, 114, 70)
    board.text(114, 84, "keys", css="role-key fig-bold")
    board.text(318, 84, "scores", css="role-weight fig-bold")
    board.words(62, top, step, FOCUS, cell[1])
    for r in range(6):
        y = top + step * r
        base = y + 17.3
        board.row(72, y, f"keys.{r}", "key", cell)
        board.text(190, base, f"$k^{{({r + 1})}}$", anchor="end", css="role-key")
        board.text(193, base, "· $q^{(2)}$", anchor="start", css="role-query")
        board.arrow(232, y + 13, 254, y + 13)
        board.text(288, base, f"$ω_{{2{r + 1}}}$", anchor="end", css="role-weight fig-bold")
        board.row(294, y, f"attn_scores.{FOCUS}.{r}", "weight", (48, cell[1]))
    return board


def weights(values: Values) -> Board:
    """Scores, divided by the root of the key size, through softmax."""
    board = Board(284, values)
    top, step, height = 52.0, 32.0, 24.0
    board.text(94, 20, "$ω_{2j}$", css="role-weight fig-bold")
    board.note(94, 38, "score")
    board.text(174, 20, "$ω_{2j} / √d_{k}$", css="role-weight fig-bold")
    board.note(174, 38, "scaled")
    board.text(286, 20, "$α_{2j}$", css="role-weight fig-bold")
    board.note(286, 38, "softmax: weight")
    longest = max(values["attn_weights"][FOCUS])
    board.words(60, top, step, FOCUS, height)
    for r in range(6):
        y = top + step * r
        board.row(70, y, f"attn_scores.{FOCUS}.{r}", "weight", (48, height))
        board.arrow(122, y + 12, 146, y + 12)
        board.row(150, y, f"scaled_scores.{FOCUS}.{r}", "weight", (48, height))
        board.arrow(202, y + 12, 222, y + 12)
        width = 84 * values["attn_weights"][FOCUS][r] / longest
        board.bar(228, y, width, height, "role-weight")
        board.number(334, y + 16.3, f"attn_weights.{FOCUS}.{r}", css="fig-bold")
    board.line(228, 250, 356, 250)
    board.text(308, 270, "sum", anchor="end", css="fig-muted")
    board.number(334, 270, "weights_sum_2", css="fig-bold")
    return board


def context(values: Values) -> Board:
    """Values times weights, summed to the context vector."""
    board = Board(312, values)
    cell, top, step = (44.0, 26.0), 34.0, 33.0
    board.text(86, 20, "$α_{2j}$", css="role-weight fig-bold")
    board.text(182, 20, "$v^{(j)}$", css="role-value fig-bold")
    board.text(304, 20, "$α_{2j} v^{(j)}$", css="fig-bold")
    board.words(58, top, step, FOCUS, cell[1])
    for r in range(6):
        y = top + step * r
        base = y + 17.3
        board.row(66, y, f"attn_weights.{FOCUS}.{r}", "weight", (40, cell[1]))
        board.text(122, base, "×")
        board.row(138, y, f"values.{r}", "value", cell)
        board.text(243, base, "=")
        board.row(260, y, f"weighted_values_2.{r}", "input", cell)
    board.arrow(304, 230, 304, 262)
    board.note(292, 250, "sum of the six rows", anchor="end")
    board.text(250, 286, "$z^{(2)}$", anchor="end", css="fig-bold")
    board.row(260, 266, f"context_vecs.{FOCUS}", "input", (cell[0], 30), "fig-strong")
    return board


def overview(values: Values) -> Board:
    """The whole layer as matrices."""
    board = Board(548, values)
    wide, step = (42.0, 20.0), 20.0
    board.text(200, 16, "$X$  inputs, 6 × 3", css="fig-bold")
    board.matrix(137, 24, "inputs", "input", wide)
    board.words(128, 24, step)
    for x, name, role, letter in (
        (70, "queries", "query", "Q"),
        (200, "keys", "key", "K"),
        (312, "values", "value", "V"),
    ):
        board.arrow(200 + (x - 200) * 0.45, 147, x, 170)
        board.text(x, 186, f"${letter} = X W_{{{role[0]}}}$", css=f"role-{role} fig-bold")
        board.matrix(x - wide[0], 194, name, role, wide)
    board.arrow(96, 317, 126, 338)
    board.arrow(192, 317, 166, 338)
    board.arrow(318, 317, 322, 338)
    heat, left, top = (34.5, 22.0), 54.0, 384.0
    board.text(
        268,
        354,
        "weights $A = softmax(Q K^{⊤} / √d_{k})$",
        anchor="end",
        css="role-weight fig-bold",
    )
    board.words(left - 5, top, heat[1])
    heat_map(board, left, top, "attn_weights", heat, below=4)
    for c in range(6):
        middle, key = left + heat[0] * (c + 0.5), f"$k^{{({c + 1})}}$"
        board.text(middle, top - 6, key, size=SMALL, css="role-key")
    board.text(274, top + 70, "· $V$", css="role-value fig-bold")
    board.text(324, 356, "$Z$, 6 × 2", css="fig-bold")
    board.matrix(291, top, "context_vecs", "input", (33, heat[1]))
    heat_key(board, left, top + 6 * heat[1] + 14, "attn_weights")
    return board


def two_outputs(values: Values) -> Board:
    """What the two classes make of the same six words."""
    board = Board(176, values)
    board.words(70, 36, ROW)
    for x, version in ((150.0, "v1"), (290.0, "v2")):
        board.text(x, 20, f"SelfAttention_{version}", css="fig-bold")
        board.matrix(x - 52, 36, f"out_{version}", "input", (52, ROW))
    return board


DRAWINGS: dict[str, Drawing] = {
    "compared": Drawing("One word takes from its neighbors, in three steps", compared),
    "asked": Drawing("One word through self-attention, in four steps", asked),
    "roadmap": Drawing("Four steps to multi-head attention", roadmap, no_values),
    "projections": Drawing("From one input to query, key and value", projections),
    "scores": Drawing("Attention scores of the second token", scores),
    "weights": Drawing("From scores to attention weights", weights),
    "context": Drawing("The context vector as a weighted sum", context),
    "two-outputs": Drawing("The outputs of two classes", two_outputs),
    "overview": Drawing(
        "Self-attention as matrices", overview, page="self-attention/compact-class"
    ),
}
