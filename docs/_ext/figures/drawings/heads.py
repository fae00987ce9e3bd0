"""The figures of several heads and of what is built of them: splits, shared keys, a block."""

from figures.board import SMALL, Board
from figures.drawing import FOCUS, Drawing, heat_key, heat_map
from figures.values import Values

HEADS = ("query", "value")  # the colors of the two heads


def split_heads(values: Values) -> Board:
    """The queries of two heads, split as they must be and cut as they must not."""
    board, cell = Board(584, values), (46.0, 23.0)
    board.text(180, 15, "queries, 6 × 4", "fig-bold")
    board.words(80, 24, 23)
    for r in range(6):
        for head, role in enumerate(HEADS):
            columns = (2 * head, 2 * head + 1)
            board.row(88 + 92 * head, 24 + 23 * r, f"joined.{r}", role, cell, columns=columns)
    for x, first, second in (
        (100.0, "view(6, 2, 2)", "transpose(0, 1)"),
        (290.0, "view(2, 6, 2)", "alone: wrong"),
    ):
        board.arrow(90 + 0.5 * x, 168, x, 190)
        board.text(x, 207, first, "fig-bold")
        board.text(x, 223, second, "fig-muted" if "wrong" in second else "fig-bold")
    for n in range(12):
        half, r = divmod(n, 6)
        y = 252 + 184 * half + 23 * r
        board.row(54, y, f"head_{half + 1}.{r}", HEADS[half], cell)
        board.note(48, y + 15.8, values["words"][r], "end")
        board.row(244, y, f"cut_{half + 1}.{r}", HEADS[r % 2], cell)
        if r % 2 == 0:
            board.note(238, y + 15.8, values["words"][n // 2], "end")
        if r == 0:
            board.note(100, y - 8, f"head {half + 1}")
            board.note(290, y - 8, f"“head {half + 1}”")
    return board


def heads(values: Values) -> Board:
    """Projections split into two heads, their weights, and how their results are joined."""
    maps, below, cell = 216.0, 424.0, (25.0, 20.0)
    board = Board(548, values)
    board.note(207, 12, "one product each; a column for each head")
    for place, name in enumerate(("queries", "keys", "values")):
        x = 54 + 108 * place
        board.text(x + 38, 28, name, "fig-bold")
        _halves(board, x, 36, f"split_{name}", (38.0, 18.0))
    for head, left in enumerate((54.0, 209.0)):
        middle, role = left + 75, f"role-{HEADS[head]}"
        for x in (92, 200):  # queries and keys
            board.arrow(x, 150, middle, 186, role)
        board.text(middle, maps - 10, f"weights of head {head + 1}", role)
        name, color = f"maps.{head}", HEADS[head]
        heat_map(board, left, maps, name, cell, role=color, size=10.5, masked=True)
        heat_key(board, left - 24 + 10 * head, maps + 128, name, color, masked=True)
        board.arrow(middle, maps + 147, 76 + 44 * head, below - 22, role)
    board.note(172, maps + 158, "times values")
    for y, step in ((36, 18), (maps, 20), (below, 20)):
        board.words(48, y, step)
    board.text(98, below - 8, "context, joined", "fig-bold")
    _halves(board, 54, below, "joined_context", (44.0, 20.0))
    board.arrow(150, below + 60, 256, below + 60)
    board.text(203, below + 50, "out_proj", "fig-bold")
    board.text(308, below - 8, "projected", "fig-bold")
    board.matrix(264, below, "projected", "input", (44.0, 20.0))
    return board


def _halves(board: Board, x: float, y: float, name: str, cell: tuple[float, float]) -> None:
    """Draw a matrix of two columns, each in the color of its head."""
    for n in range(12):
        r, head = divmod(n, 2)
        place = (x + cell[0] * head, y + cell[1] * r)
        board.row(*place, f"{name}.{r}", HEADS[head], cell, columns=[head])


def grouped_keys(values: Values) -> Board:
    """Four query heads, and lines to the keys and values that each of them uses."""
    board = Board(292, values)
    board.note(358, 14, "cached", "end")
    kinds = (("4", "multi-head"), ("2", "grouped-query"), ("1", "multi-query"))
    for place, (groups, title) in enumerate(kinds):
        y, users = 96 * place, values["shared"][groups]
        board.text(2, y + 15, title, "fig-bold", "start")
        for head in range(4):
            board.box(70 * head + 14, y + 24, 52, 22, "fig-box role-query")
            board.text(70 * head + 40, y + 39.3, "$q$")
        for group, uses in enumerate(users):
            middle = 280 * (group + 0.5) / len(users) + 5
            board.box(middle - 26, y + 68, 52, 22, "fig-box role-key")
            board.text(middle, y + 83.3, "$k$, $v$")
            for head in (head for head, used in enumerate(uses) if used):
                board.line(70 * head + 40, y + 46, middle, y + 68)
        shown = str(values["cached"][groups])
        board.number(358, y + 83.3, f"cached.{groups}", "", "end", shown=shown)
    return board


def block(values: Values) -> Board:
    """Seven stages of one word, with the two ways around."""
    left, step, cell, around = 96.0, 56.0, (46.0, 26.0), 44.0
    middle, right = left + 1.5 * cell[0], left + 3 * cell[0]
    stages = list(values["stages"])
    board = Board(step * len(stages) - 14, values)
    for r, name in enumerate(stages):
        y, loud = 6 + step * r, name in {"attention", "added", "out"}
        role = "weight" if name == "attention" else "input"
        path = f"stages.{name}.{FOCUS}"
        board.row(left, y, path, role, cell, "fig-strong" if loud else "")
        board.text(right + 12, y + 17.3, name, "fig-bold" if loud else "fig-muted", "start")
        if r:
            board.arrow(middle, y - step + cell[1] + 3, middle, y - 3)
        if name in {"added", "out"}:  # what goes around is added here
            first = 0 if name == "added" else stages.index("added")
            start, end = 23 + step * first, y + 9
            board.line(left - 2, start, around, start)
            board.line(around, start, around, end)
            board.arrow(around, end, left - 3, end)
            board.text(around + 22, end - 6, "+", "fig-bold", size=18)
    y = 6 + step * stages.index("attention")  # here, and only here, the other words come in
    board.text(right + 22, y - 12, "other words", "role-weight", "start", SMALL)
    for x in (right - 22, right - 8, right + 6):
        board.arrow(x, y - 24, x - 24, y - 3, "role-weight")
    return board


DRAWINGS: dict[str, Drawing] = {
    "split-heads": Drawing("Queries split into heads", split_heads),
    "heads": Drawing("Two heads, split and joined", heads),
    "grouped-keys": Drawing("Heads that share keys and values", grouped_keys),
    "block": Drawing("One word on its way through a transformer block", block),
}
