"""The figures of the pages that lead from a small GPT to a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board
from figures.drawing import Drawing, heat_row

if TYPE_CHECKING:
    from figures.values import Values

AXIS, FLOOR, HIGH, WIDE = 40.0, 240.0, 220.0, 300.0
LOWEST, HIGHEST, LONGEST = 1.6, 2.8, 16


def gpt_context(values: Values) -> Board:
    """Draw the loss by the number of characters that are seen, for attention and for counting."""
    board = Board(FLOOR + 40, values)
    board.text(4, 12, "loss on the new text", anchor="start", css="fig-bold")
    for tick in (1.8, 2.0, 2.2, 2.4, 2.6):
        board.line(AXIS - 5, _level(tick), AXIS, _level(tick))
        board.note(AXIS - 9, _level(tick) + 4, f"{tick}", anchor="end")
    for name, role, above in (("counting", "key", -14), ("attention", "query", -14)):
        losses = values[name]
        points = [(_along(n), _level(y)) for n, y in zip(values["sizes"], losses, strict=False)]
        board.curve(points, role, marked=True)
        x, y = points[-1]
        board.number(x, y + above, f"{name}.{len(losses) - 1}", css=f"role-{role} fig-bold")
        board.text(x - 20, y + above, name, anchor="end", css=f"role-{role}")
    lowest = min(range(len(values["counting"])), key=values["counting"].__getitem__)
    x, y = _along(values["sizes"][lowest]), _level(values["counting"][lowest])
    board.number(x - 2, y - 15, f"counting.{lowest}", css="role-key fig-bold", anchor="start")
    board.line(AXIS, FLOOR, AXIS + WIDE, FLOOR)
    board.line(AXIS, _level(HIGHEST), AXIS, FLOOR)
    for size in (1, 2, 4, 8, 12, 16):
        board.note(_along(size), FLOOR + 16, f"{size}")
    board.text(AXIS + WIDE / 2, FLOOR + 34, "characters seen", css="fig-muted")
    return board


def _along(size: int) -> float:
    return AXIS + 12 + (WIDE - 24) * (size - 1) / (LONGEST - 1)


def _level(loss: float) -> float:
    return FLOOR - HIGH * (loss - LOWEST) / (HIGHEST - LOWEST)


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
    "gpt-context": Drawing("Attention and counting, by the characters seen", gpt_context),
    "grouped-keys": Drawing("Heads that share keys and values", grouped_keys),
    "provisional": Drawing("Weights after each tile", provisional),
}
