"""The figures of whole matrices: a row for each word that asks, darker where a weight is larger."""

from figures.board import SMALL, Board, Panels
from figures.drawing import Drawing, heat_key, heat_map, heat_row
from figures.values import Values

LEFT, CELL, TOP = 60.0, (49.0, 23.0), 40.0  # of a matrix of all pairs of words


def pairs(values: Values, name: str, title: str, scale: str = "", *, masked: bool = False) -> Board:
    """Draw a matrix of all pairs of words, a number in every cell."""
    board = _labelled(values)
    heat_map(board, LEFT, TOP, name, CELL, scale, masked=masked)
    heat_key(board, LEFT, TOP + 6 * CELL[1] + 14, scale or name)
    board.text(LEFT, 15, title, "role-weight fig-bold", "start")
    return board


def _labelled(values: Values) -> Board:
    board = Board(TOP + 6 * CELL[1] + 34, values)
    board.heads(LEFT, TOP - 6, CELL[0])
    board.words(LEFT - 6, TOP, CELL[1])
    return board


def raw_attention(values: Values) -> Panels:
    """Scores and weights of the raw embeddings, all six tokens at once."""
    return Panels(
        pairs(values, "raw_scores", "scores $X X^{⊤}$"),
        pairs(values, "raw_weights", "weights: softmax on each row"),
    )


def causal(values: Values) -> Panels:
    """Attention weights without a mask and with one."""
    scale = "causal_weights"
    return Panels(
        pairs(values, "unmasked_weights", "without a mask", scale),
        pairs(values, scale, "with the mask", scale, masked=True),
    )


def mask_corner(values: Values) -> Board:
    """The mask, and the corner of it that a shorter sentence takes."""
    board = _labelled(values)
    for r, row in enumerate(values["mask"]):
        for c, hidden in enumerate(row):
            x, y = LEFT + CELL[0] * c, TOP + CELL[1] * r
            board.shade(x, y, CELL, 0.4 * hidden, "weight")
            if hidden:
                board.text(x + CELL[0] / 2, y + CELL[1] / 2 + 4.3, "−∞")
    for side, role in ((6, "weight"), (4, "query")):
        board.box(LEFT, TOP, CELL[0] * side, CELL[1] * side, f"fig-frame role-{role}")
    board.text(LEFT, TOP + 6 * CELL[1] + 22, "mask[:4, :4]", "role-query fig-bold", "start")
    return board


def who_sees_whom(values: Values) -> Board:
    """Draw three tables, with a 1 where a row's word depends on a column's."""
    cell, top, words = 16.0, 26.0, values["words"]
    side = cell * len(words)
    board = Board(top + side + 8, values)
    for r, word in enumerate(words):
        board.note(46, top + cell * r + 12.3, word, "end")
    tables = (("free", "no mask"), ("right", "causal mask"), ("swapped", "swapped"))
    for place, (name, title) in enumerate(tables):
        left = 52 + place * (side + 6)
        board.text(left, 15, title, "fig-bold", "start")
        for r, row in enumerate(values[name]):
            for c, seen in enumerate(row):
                x, y = left + cell * c, top + cell * r
                if seen:
                    board.shade(x, y, (cell, cell), 0.5, "weight")
                css, path = "" if seen else "fig-muted", f"{name}.{r}.{c}"
                board.number(x + cell / 2, y + 12.3, path, css, size=SMALL, shown=str(seen))
        board.box(left, top, side, side, "fig-frame role-weight")
    return board


def cached(values: Values) -> Board:
    """The weights of each step, the new key outlined, and how many scores the step computes."""
    left, top, cell = 58.0, 44.0, (36.5, 27.0)
    board, floor = Board(245, values), top + 6 * cell[1]
    board.words(left - 6, top, cell[1])
    board.heads(left, top - 8, cell[0], 10)
    for r in range(6):
        y = top + cell[1] * r
        heat_row(board, left, y, f"steps.{r}", cell, values["steps"])
        board.box(left + cell[0] * r, y, *cell, "fig-frame role-key")
    board.text(323, 14, "scores, with", "fig-bold", size=SMALL)
    for name, x, title in (("kept", 304.0, "cache"), ("anew", 342.0, "none")):
        board.note(x, top - 8, title)
        for r, count in enumerate(values[name]):
            board.number(x, top + cell[1] * r + 17.8, f"{name}.{r}", shown=str(count))
        board.line(x - 14, floor + 4, x + 14, floor + 4)
        board.text(x, floor + 22, str(sum(values[name])), "fig-bold")
    return board


def provisional(values: Values) -> Board:
    """The weights of one query after each tile of keys, from the end, and their result."""
    left, right, top, cell = 56.0, 270.0, 42.0, (33.0, 27.0)
    board = Board(129, values)
    board.text(right + 44, 15, "context", "fig-bold")
    board.heads(left, top - 8, cell[0], 10)
    for r, weights in enumerate(values["provisional"]):
        x, y = left + cell[0] * (6 - len(weights)), top + cell[1] * r
        board.note(left - 8, y + 17.8, f"tile {r + 1}", "end")
        heat_row(board, x, y, f"provisional.{r}", cell, values["provisional"])
        board.row(right, y, f"results.{r}", "input", (44, cell[1]))
    return board


def sink(values: Values) -> Board:
    """A head's weights in a text of single characters, as a heat map."""
    tokens, left, cell = ["abcdefgh<^"[index] for index in values["tokens"]], 60.0, 18.0
    side = cell * len(tokens)
    board = Board(52 + side, values)
    for r, glyph in enumerate(tokens):
        css, y = "fig-bold" if glyph in "<^" else "fig-muted", 22 + cell * r
        board.text(left - 10, y + 13, glyph, css)
        board.text(left + cell * (r + 0.5), 15, glyph, css)
        for c, weight in enumerate(values["weights"][r][: r + 1]):
            board.shade(left + cell * c, y, (cell, cell), 0.9 * weight, "weight")
    board.box(left, 22, side, side, "fig-frame role-weight")
    board.note(left - 4, side + 43, "weight 0", "end")
    board.key(left, side + 34, [(0.225 * step, "weight") for step in range(5)])
    board.note(left + 94, side + 43, "1", "start")
    return board


def training(values: Values) -> Panels:
    """Heat maps of the match and of the values' matrix, before training and after it."""
    return Panels(*(_stage(values, stage) for stage in ("before", "after")))


def _stage(values: Values, stage: str) -> Board:
    """Draw two matrices: one color above 0, another below, and stronger where further from 0."""
    left, top, cell = 48.0, 62.0, (48.0, 21.0)
    rows = [row for each in (*values["before"], *values["after"]) for row in each]
    board, furthest = Board(285, values), max(abs(number) for row in rows for number in row)
    board.text(0, 16, f"{stage} training", "fig-bold", "start")
    entries = ("red", "green", "blue", "0", "1", "2", "red?", "green?", "blue?")
    for r, entry in enumerate(entries):
        board.note(left - 5, top + cell[1] * r + 14.8, entry, "end")
    for place, (role, title) in enumerate((("key", "match"), ("value", "$W_{v}$"))):
        x = left + 164 * place
        board.text(x + 72, top - 24, title, f"role-{role} fig-bold")
        for c, column in enumerate(zip(*values[stage][place], strict=True)):
            board.note(x + cell[0] * (c + 0.5), top - 7, entries[6 - 3 * place + c])
            for r, number in enumerate(column):
                board.shade(x + cell[0] * c, top + cell[1] * r, cell, *_color(number / furthest))
        for y in (top + 3 * cell[1], top + 6 * cell[1]):
            board.line(x, y, x + 144, y)
        board.box(x, top, 144, 189, f"fig-frame role-{role}")
    board.note(left + 44, 274.5, f"−{furthest:.2f}", "end")
    board.key(left + 51, 265, [_color(share / 3) for share in range(-3, 4)])
    board.note(left + 184, 274.5, f"{furthest:.2f}", "start")
    return board


def _color(share: float) -> tuple[float, str]:
    return 0.62 * abs(share), "positive" if share >= 0 else "negative"


DRAWINGS: dict[str, Drawing] = {
    "raw-attention": Drawing("Attention without trainable weights", raw_attention),
    "causal": Drawing("Attention weights and a causal mask", causal),
    "mask-corner": Drawing("A mask and its corner", mask_corner),
    "who-sees-whom": Drawing("Who sees whom, under three masks", who_sees_whom),
    "cached": Drawing("Six steps of attention with a cache", cached),
    "provisional": Drawing("Weights after each tile", provisional),
    "sink": Drawing("A head whose sink is the first token", sink),
    "training": Drawing("What training made of the matrices", training),
}
