"""The figures of Section 3.4, from one input to the whole layer."""

from collections.abc import Sequence

from figures.board import SMALL, WIDTH, Board
from figures.drawing import FOCUS, Drawing, heat_key, heat_map
from figures.values import Values, no_values

ROLES = {"query": "queries", "key": "keys", "value": "values"}


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
        y, here = 4 + 84 * place, number == "3.4"
        if place:
            board.arrow(WIDTH / 2, y - 22, WIDTH / 2, y - 2)
        css = "fig-box role-query fig-here" if here else "fig-box role-input"
        board.box(4, y, WIDTH - 8, 60, css)
        board.text(18, y + 35, number, "fig-bold", "start", 16)
        board.text(62, y + 25, name, "fig-bold", "start", 14)
        board.text(62, y + 45, note, "fig-muted", "start")
        if here:
            board.text(WIDTH - 14, y + 25, "you are here", "role-query fig-bold", "end")
    return board


def compared(values: Values) -> Board:
    """What happens to one word without trainable weights."""
    return _on_its_way(
        values,
        ("", "$x^{(2)}$", "x_2", "input"),
        ("1 compare with every word", "$ω_{2j}$", "scores_2", "weight"),
        ("2 make weights of the scores", "$α_{2j}$", "weights_2", "weight"),
        ("3 mix the six embeddings", "$z^{(2)}$", "mixed_2", "input"),
    )


def asked(values: Values) -> Board:
    """What happens to one word with queries, keys and values."""
    return _on_its_way(
        values,
        ("", "$x^{(2)}$", f"inputs.{FOCUS}", "input"),
        ("1 project", "$q^{(2)}$", f"queries.{FOCUS}", "query"),
        ("2 score: compare with every key", "$ω_{2j}$", f"attn_scores.{FOCUS}", "weight"),
        ("3 weigh: softmax of the scaled scores", "$α_{2j}$", f"attn_weights.{FOCUS}", "weight"),
        ("4 sum of the values", "$z^{(2)}$", f"context_vecs.{FOCUS}", "input"),
    )


def _on_its_way(values: Values, *rows: tuple[str, str, str, str]) -> Board:
    """Draw the embedding of one word, and the numbers that each step makes of it."""
    left, cell, y = 84.0, (45.0, 26.0), 8.0
    board = Board(0, values)
    for step, symbol, path, role in rows:
        if step:
            board.arrow(left + 22, y - 22, left + 22, y - 2)
            board.text(left + 36, y - 7, step, "fig-bold", "start")
        else:
            board.note(left - 40, y + 18, values["words"][FOCUS], "end")
        if len(values.at(path)) == len(values["words"]):
            y += 18
            board.heads(left, y - 5, cell[0])
        board.text(left - 10, y + 18, symbol, f"role-{role} fig-bold", "end")
        board.row(left, y, path, role, cell)
        y += cell[1] + 28
    board.height = y - 24
    return board


def projections(values: Values) -> Board:
    """One input through three weight matrices, then keys and values of all tokens."""
    board, cell = Board(454, values), (44.0, 22.0)
    board.text(52, 31, "$x^{(2)}$", "fig-bold", "end")
    board.note(52, 46, "journey", "end")
    board.row(146, 22, f"inputs.{FOCUS}", "input", cell)
    for place, (role, name) in enumerate(ROLES.items()):
        x, letter = 112 + 100 * place, role[0]
        board.arrow(177 + 35 * place, 46, x, 72)
        board.text(x, 88, f"$W_{{{letter}}}$", f"role-{role} fig-bold")
        board.matrix(x - 44, 96, f"W_{role}", role, cell)
        board.arrow(x, 164, x, 184)
        board.text(x, 200, f"${letter}^{{(2)}}$", f"role-{role} fig-bold")
        board.row(x - 44, 208, f"{name}.{FOCUS}", role, cell, "fig-strong")
        if role != "query":
            board.text(x, 274, name, f"role-{role} fig-bold")
            board.text(x, 292, f"$X W_{{{letter}}}$", f"role-{role}")
            board.matrix(x - 44, 300, name, role, (44, 24), FOCUS)
    board.note(58, 133, "times", "end")
    board.line(4, 248, WIDTH - 4, 248)
    board.text(4, 274, "every token", "fig-bold", "start")
    board.note(4, 291, "by the same", "start")
    board.note(4, 305, "two matrices", "start")
    board.words(160, 300, 24, FOCUS)
    return board


def scores(values: Values) -> Board:
    """The second query meets every key."""
    board, cell = Board(292, values), (42.0, 26.0)
    board.text(64, 40, "$q^{(2)}$", "role-query fig-bold", "end")
    board.row(72, 22, f"queries.{FOCUS}", "query", cell, "fig-strong")
    board.note(166, 40, "meets each key in a dot product", "start")
    board.arrow(114, 52, 114, 70)
    board.text(114, 84, "keys", "role-key fig-bold")
    board.text(318, 84, "scores", "role-weight fig-bold")
    board.words(62, 92, 33, FOCUS, 26)
    for r in range(6):
        y = 92 + 33 * r
        board.row(72, y, f"keys.{r}", "key", cell)
        board.text(190, y + 17.3, f"$k^{{({r + 1})}}$", "role-key", "end")
        board.text(193, y + 17.3, "· $q^{(2)}$", "role-query", "start")
        board.arrow(232, y + 13, 254, y + 13)
        board.text(288, y + 17.3, f"$ω_{{2{r + 1}}}$", "role-weight fig-bold", "end")
        board.row(294, y, f"attn_scores.{FOCUS}.{r}", "weight", (48, 26))
    return board


def weights(values: Values) -> Board:
    """Scores, divided by the root of the key size, through softmax."""
    board, cell = Board(284, values), (48.0, 24.0)
    columns = ((94, "$ω_{2j}$", "score"), (174, "$ω_{2j} / √d_{k}$", "scaled"),
               (286, "$α_{2j}$", "softmax: weight"))  # fmt: skip
    for x, symbol, name in columns:
        board.text(x, 20, symbol, "role-weight fig-bold")
        board.note(x, 38, name)
    board.words(60, 52, 32, FOCUS, 24)
    shares = values["attn_weights"][FOCUS]
    for r, share in enumerate(shares):
        y = 52 + 32 * r
        board.row(70, y, f"attn_scores.{FOCUS}.{r}", "weight", cell)
        board.arrow(122, y + 12, 146, y + 12)
        board.row(150, y, f"scaled_scores.{FOCUS}.{r}", "weight", cell)
        board.arrow(202, y + 12, 222, y + 12)
        board.bar(228, y, 84 * share / max(shares), 24, "role-weight")
        board.number(334, y + 16.3, f"attn_weights.{FOCUS}.{r}", "fig-bold")
    board.line(228, 250, 356, 250)
    board.text(308, 270, "sum", "fig-muted", "end")
    board.number(334, 270, "weights_sum_2", "fig-bold")
    return board


def context(values: Values) -> Board:
    """Values times weights, summed to the context vector."""
    board, cell = Board(312, values), (44.0, 26.0)
    board.text(86, 20, "$α_{2j}$", "role-weight fig-bold")
    board.text(182, 20, "$v^{(j)}$", "role-value fig-bold")
    board.text(304, 20, "$α_{2j} v^{(j)}$", "fig-bold")
    board.words(58, 34, 33, FOCUS, 26)
    for r in range(6):
        y = 34 + 33 * r
        board.row(66, y, f"attn_weights.{FOCUS}.{r}", "weight", (40, 26))
        board.text(122, y + 17.3, "×")
        board.row(138, y, f"values.{r}", "value", cell)
        board.text(243, y + 17.3, "=")
        board.row(260, y, f"weighted_values_2.{r}", "input", cell)
    _sum(board, 230, (304, 292))
    board.text(250, 286, "$z^{(2)}$", "fig-bold", "end")
    board.row(260, 266, f"context_vecs.{FOCUS}", "input", (44, 30), "fig-strong")
    return board


def _sum(board: Board, y: float, xs: tuple[float, float]) -> None:
    board.arrow(xs[0], y, xs[0], y + 32)
    board.note(xs[1], y + 20, "sum of the six rows", "end")


def overview(values: Values) -> Board:
    """The whole layer as matrices."""
    board, cell, heat = Board(548, values), (42.0, 20.0), (34.5, 22.0)
    board.text(200, 16, "$X$  inputs, 6 × 3", "fig-bold")
    board.matrix(137, 24, "inputs", "input", cell)
    board.words(128, 24, 20)
    for x, (role, name) in zip((70, 200, 312), ROLES.items(), strict=True):
        letter = role[0]
        board.arrow(110 + 0.45 * x, 147, x, 170)
        board.text(x, 186, f"${letter.upper()} = X W_{{{letter}}}$", f"role-{role} fig-bold")
        board.matrix(x - 42, 194, name, role, cell)
    for start, end in ((96, 126), (192, 166), (318, 322)):
        board.arrow(start, 317, end, 338)
    title = "weights $A = softmax(Q K^{⊤} / √d_{k})$"
    board.text(268, 354, title, "role-weight fig-bold", "end")
    board.words(49, 384, 22)
    heat_map(board, 54, 384, "attn_weights", heat)
    for c in range(6):
        board.text(71.25 + 34.5 * c, 378, f"$k^{{({c + 1})}}$", "role-key", size=SMALL)
    board.text(274, 454, "· $V$", "role-value fig-bold")
    board.text(324, 356, "$Z$, 6 × 2", "fig-bold")
    board.matrix(291, 384, "context_vecs", "input", (33, 22))
    heat_key(board, 54, 530, "attn_weights")
    return board


def two_outputs(values: Values) -> Board:
    """What the two classes make of the same six words."""
    board = Board(176, values)
    board.words(70, 36, 22)
    for x, version in ((150.0, "v1"), (290.0, "v2")):
        board.text(x, 20, f"SelfAttention_{version}", "fig-bold")
        board.matrix(x - 52, 36, f"out_{version}", "input", (52, 22))
    return board


def journey(values: Values) -> Board:
    """One word in three roles, from its embedding to its context vector."""
    board = Board(462, values)
    board.text(180, 15, "journey, $x^{(2)}$", "fig-bold")
    board.row(114, 22, f"inputs.{FOCUS}", "input", (44, 22))
    says = ("what it looks for", "how it is found", "what it passes on")
    for place, (role, name) in enumerate(ROLES.items()):
        x, css = 62 + 118 * place, f"role-{role} fig-bold"
        board.arrow(127 + 53 * place, 47, x, 70)
        board.text(x, 85, f"× $W_{{{role[0]}}}$", css)
        board.arrow(x, 93, x, 108)
        board.text(x, 123, f"{role} ${role[0]}^{{(2)}}$", css)
        board.row(x - 46, 130, f"{name}.{FOCUS}", role, (46, 24), "fig-strong")
        board.note(x, 170, says[place])
    board.arrow(62, 176, 62, 190)
    board.text(18, 205, "$q^{(2)}$ meets all six keys", "role-query fig-bold", "start")
    board.note(176, 229, "÷ $√d_{k}$, then softmax")
    for x, name, role in (
        (94, "score", "weight"),
        (266, "weight", "weight"),
        (328, "value", "value"),
    ):
        board.text(x, 229, name, f"role-{role} fig-bold")
    board.words(62, 237, 28, FOCUS, 24)
    scores = values["attn_scores"][FOCUS]
    for r, score in enumerate(scores):
        y = 237 + 28 * r
        board.row(70, y, f"attn_scores.{FOCUS}.{r}", "weight", (48, 24))
        board.bar(122, y, 88 * score / max(scores), 24, "role-weight")
        board.arrow(214, y + 12, 238, y + 12)
        board.row(242, y, f"attn_weights.{FOCUS}.{r}", "weight", (48, 24))
        board.text(301, y + 16.3, "×")
        board.text(330, y + 16.3, f"$v^{{({r + 1})}}$", "role-value")
    _sum(board, 406, (298, 288))
    board.text(242, 456, "context vector $z^{(2)}$", "fig-bold", "end")
    board.row(252, 438, f"context_vecs.{FOCUS}", "input", (46, 26), "fig-strong")
    board.height = 468
    return board


def next_token(values: Values) -> Board:
    """What each row of causal attention may use, and the token that it has to predict."""
    words: Sequence[str] = [*values["words"], "?"]
    board = Board(190, values)
    board.text(12, 15, "a row may use", "role-query fig-bold", "start")
    board.text(348, 15, "it predicts", "role-value fig-bold", "end")
    for r in range(6):
        y = 40 + 25 * r
        board.text(12, y, " ".join(words[: r + 1]), "", "start")
        board.arrow(256, y - 4, 284, y - 4)
        board.text(348, y, words[r + 1], "role-value fig-bold", "end")
    return board


DRAWINGS: dict[str, Drawing] = {
    "roadmap": Drawing("Four steps to multi-head attention", roadmap, no_values),
    "compared": Drawing("One word takes from its neighbors, in three steps", compared),
    "asked": Drawing("One word through self-attention, in four steps", asked),
    "projections": Drawing("From one input to query, key and value", projections),
    "scores": Drawing("Attention scores of the second token", scores),
    "weights": Drawing("From scores to attention weights", weights),
    "context": Drawing("The context vector as a weighted sum", context),
    "overview": Drawing(
        "Self-attention as matrices", overview, page="self-attention/compact-class"
    ),
    "two-outputs": Drawing("The outputs of two classes", two_outputs),
    "journey": Drawing("One word in three roles", journey),
    "next-token": Drawing("Each row predicts the next token", next_token, no_values),
}
