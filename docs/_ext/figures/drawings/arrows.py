"""The figures of dot products and their sizes: arrows in the plane, dials, bars; two memories."""

import math

from figures.board import Board, Point
from figures.drawing import FOCUS, Drawing
from figures.values import Values, no_values


def arrows(values: Values) -> Board:
    """The arrow that asks, with four others, and their dot products."""
    board, query = Board(344, values), values["q"]
    for place, (name, arrow) in enumerate(values["arrows"].items()):
        left, top = 180 * (place % 2), 172 * (place // 2)
        origin = (left + 74, top + 112)
        board.text(left + 14, top + 18, name, "fig-bold", "start")
        board.line(left + 14, origin[1], left + 166, origin[1])
        board.line(origin[0], top + 40, origin[0], top + 142)
        near = arrow[0] * query[0] > 0
        _vector(board, origin, query, "query", 32, -3, (-8, -7))
        _vector(board, origin, arrow, "key", 32, 3 * near, (9, 13) if near else (-10, 5))
        _product(board, left + 14, top + 162, place)
    return board


def _vector(
    board: Board, origin: Point, arrow: Point, role: str, unit: float, aside: float,
    letter: Point,
) -> None:  # fmt: skip
    """Draw an arrow from the origin, a little to one side of its line, with its letter beside."""
    length = math.hypot(*arrow)
    x, y = origin[0] + aside * arrow[1] / length, origin[1] + aside * arrow[0] / length
    tip = (x + unit * arrow[0], y - unit * arrow[1])
    board.arrow(x, y, *tip, f"fig-vector role-{role}")
    board.text(tip[0] + letter[0], tip[1] + letter[1], f"${role[0]}$", f"role-{role}")


def _product(board: Board, x: float, y: float, place: int) -> None:
    board.text(x, y, "$q$ · $k$ =", "role-weight fig-bold", "start")
    board.number(x + 78, y, f"dots.{place}", "role-weight fig-bold", "end")


def turned(values: Values) -> Board:
    """A query and a key on four dials of twelve marks, and their dot products."""
    board = Board(380, values)
    longest = max(math.hypot(*arrow) for pair in values["arrows"] for arrow in pair)
    for place, name in enumerate(values["pairs"]):
        x, y = 90 + 180 * (place % 2), 92 + 190 * (place // 2)
        board.text(x, y - 76, name, "fig-bold")
        for mark in range(12):
            sin, cos = (f(math.pi * mark / 6) for f in (math.sin, math.cos))
            board.line(x + 59 * cos, y + 59 * sin, x + 64 * cos, y + 64 * sin)
        hands = values["arrows"][place]
        one, other = (math.atan2(down, right) for right, down in hands)
        between = (other - one + math.pi) % (2 * math.pi) - math.pi  # the short way round
        arc = [one + between * step / 12 for step in range(13)]
        points = [(x + 18 * math.cos(angle), y - 18 * math.sin(angle)) for angle in arc]
        board.curve(points, "weight")
        near = abs(between) < math.pi / 15  # the arrows would cover each other
        for hand, role, side in zip(hands, ("query", "key"), (-1, 1), strict=True):
            sin, cos = (10 * part / math.hypot(*hand) for part in (hand[1], hand[0]))
            away = 1 if near and side > 0 else -1
            letter = (away * sin, away * cos + 4)
            _vector(board, (x, y), hand, role, 56 / longest, 2.5 * side * near, letter)
        _product(board, x - 46, y + 84, place)
    return board


def saturated(values: Values) -> Board:
    """Scaled scores of the second word as bars, with the weights that softmax makes of them."""
    zero, unit = 178.0, 1.6
    board, weights = Board(352, values), values["attn_weights"]
    for x, symbol, name in (
        (zero, "$ω_{2j} / √d_{k}$", "scaled score"),
        (324, "$α_{2j}$", "weight"),
    ):
        board.text(x, 18, symbol, "role-weight fig-bold")
        board.note(x, 34, name)
    for r, (word, score) in enumerate(zip(values["words"], values["scaled_scores"], strict=True)):
        y, largest = 44 + 23.5 * r, weights[r] == max(weights)
        css = "fig-bold" if largest or r == FOCUS else "fig-muted"
        board.text(72, y + 14, word, css, "end")
        board.bar(zero + min(score, 0) * unit, y, abs(score) * unit, 18, "role-weight")
        beside = zero + score * unit + math.copysign(26, score)
        board.number(beside, y + 13.5, f"scaled_scores.{r}")
        shown = f"{weights[r]:.5f}" if weights[r] > 1e-4 else f"{weights[r]:.0e}"  # noqa: PLR2004
        css = "fig-bold" if largest else ""
        board.number(324, y + 13.5, f"attn_weights.{r}", css, shown=shown)
    board.line(zero, 40, zero, 350)
    return board


def hierarchy(values: Values) -> Board:
    """The scores' trips between a fast and a large memory, written out and in tiles."""
    board = Board(348, values)
    trips = ((86, 1), (114, -1), (166, 1), (194, -1), (250, 1), (278, -1))  # 1 is up
    panels = (("written out", "20 MB at 19 TB/s", trips),
              ("in tiles", "a tile of scores, used up here", (trips[0], trips[-1])))  # fmt: skip
    for top, (title, inside, ways) in zip((0, 176), panels, strict=True):
        board.text(4, top + 16, title, "fig-bold", "start")
        board.note(296, top + 16, "fast memory", "end")
        board.box(62, top + 24, 236, 36, "fig-box role-query")
        board.text(180, top + 47, inside)
        board.box(4, top + 118, 352, 36, "fig-box role-input")
        board.text(180, top + 141, "large memory: 40 GB at 1.5 TB/s")
        board.text(78, top + 94, "$q$, $k$, $v$", "", "end")
        board.text(286, top + 94, "context", "", "start")
        for x, up in ways:  # those between the first and the last move T times T numbers
            css = "" if x in {86, 278} else "role-weight"
            board.arrow(x, top + 89 + 25 * up, x, top + 89 - 25 * up, css)
    board.note(140, 94, "scores")
    board.note(222, 94, "weights")
    return board


DRAWINGS: dict[str, Drawing] = {
    "arrows": Drawing("The dot product of two arrows", arrows),
    "turned": Drawing("A query and a key, rotated by their positions", turned),
    "saturated": Drawing("One of thirteen words takes almost all the weight", saturated),
    "hierarchy": Drawing("Trips between two memories", hierarchy, no_values),
}
