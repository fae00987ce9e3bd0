"""The figures of several heads: why one isn't enough, how they work at once, a trained pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.board import SMALL, Board, Panels
from figures.drawing import Drawing, strength
from figures.values import no_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from figures.values import Values

# Where the full stop looks ------------------------------------------------------------------

WORDS = ("who", "chased", "whom", ".")
STEP, TALL = 78.0, 106.0  # from word to word, and from head to head
THICKEST, GROUND = 10.0, 84.0


def full_stop(values: Values) -> Board:
    """What the full stop attends to: with one head, and with each of two."""
    board = Board(TALL * len(values["looks"]) - 4, values)
    for row, title in enumerate(("one head", "first of two", "second of two")):
        top = TALL * row
        board.text(0, top + 14, title, anchor="start", css="fig-bold")
        for place, word in enumerate(WORDS):
            x, path = 78 + STEP * place, f"looks.{row}.{place}"
            weight = values.number(path)
            _over(board, (78 + STEP * 3, x), top + GROUND - 18, THICKEST * weight)
            board.text(x, top + GROUND, word, css="fig-bold" if word == "." else "")
            css = "role-weight fig-bold" if weight > MOST else "fig-muted"
            board.number(x, top + GROUND + 15, path, css=css)
    return board


def _over(board: Board, ends: tuple[float, float], y: float, thickness: float) -> None:
    """Draw a bow above words, from one to another, or a loop where both are the same."""
    start, end = ends
    if start == end:
        bow = f"{start - 6:g} {y:g}C{start - 22:g} {y - 26:g} {start + 22:g} {y - 26:g} {end + 6:g}"
    else:
        rise = 14 + 0.2 * (start - end)
        bow = f"{start - 8:g} {y:g}Q{(start + end) / 2:g} {y - 2 * rise + 14:g} {end:g}"
    board.parts.append(
        f'<path class="fig-bow role-weight" stroke-width="{thickness:.2f}" d="M{bow} {y:g}"/>'
    )


def two_questions(values: Values) -> Board:
    """A sentence, and what is asked at its full stop."""
    board = Board(112, values)
    stop = 330
    for x, word in ((30, "Ann"), (110, "chased"), (190, "Ben"), (stop, ".")):
        board.text(x, 104, word, size=14.5, css="fig-bold" if word == "." else "")
    for x, question, y in ((30, "who?", 34), (190, "whom?", 74)):
        _over(board, (stop, x), 86, 3)
        board.text((stop + x) / 2, y, question, css="role-weight fig-bold")
    return board


# All heads at once --------------------------------------------------------------------------

HEADS = ("query", "value")  # the colors of the two heads
SIZE, CELL = (38.0, 18.0), (25.0, 20.0)  # a number of a head, a weight
LEFTS = (54.0, 209.0)  # of the two maps
MAPS, BELOW = 208.0, 402.0  # where the maps begin, and the joined vectors


def heads(values: Values) -> Board:
    """Projections split into two heads, their weights, and how their results are joined."""
    board = Board(BELOW + 6 * CELL[1] + 4, values)
    board.words(LEFTS[0] - 6, 36, SIZE[1])
    for place, name in enumerate(("queries", "keys", "values")):
        x = LEFTS[0] + 108 * place
        board.text(x + SIZE[0], 28, name, css="fig-bold")
        _halves(board, x, 36, f"split_{name}", SIZE)
    board.note(207, 12, "one product each; a column for each head")
    for head, left in enumerate(LEFTS):
        middle = left + 3 * CELL[0]
        board.arrow(middle, 152, middle, 176, f"role-{HEADS[head]}")
        board.text(middle, MAPS - 10, f"weights of head {head + 1}", css=f"role-{HEADS[head]}")
        _map(board, left, head)
        board.arrow(middle, MAPS + 147, 76 + 60 * head, BELOW - 22, f"role-{HEADS[head]}")
    board.words(LEFTS[0] - 6, MAPS, CELL[1])
    board.text(98, BELOW - 8, "context, joined", css="fig-bold")
    _halves(board, LEFTS[0], BELOW, "joined_context", (44.0, CELL[1]))
    board.words(LEFTS[0] - 6, BELOW, CELL[1])
    board.arrow(150, BELOW + 60, 256, BELOW + 60)
    board.text(203, BELOW + 50, "out_proj", css="fig-bold")
    board.text(308, BELOW - 8, "projected", css="fig-bold")
    board.matrix(264, BELOW, "projected", "input", (44.0, CELL[1]))
    return board


def _halves(board: Board, x: float, y: float, name: str, cell: tuple[float, float]) -> None:
    """Draw a matrix of two columns, each in the color of its head."""
    for r in range(6):
        for head, role in enumerate(HEADS):
            left, top = x + cell[0] * head, y + cell[1] * r
            board.row(left, top, f"{name}.{r}", role, cell, columns=[head])


def _map(board: Board, left: float, head: int) -> None:
    """Draw a head's causal weights on a scale of their own; what is masked stays empty."""
    rows = board.values["maps"][head]
    seen = {f"maps.{head}.{r}.{c}": rows[r][c] for r in range(6) for c in range(r + 1)}
    scale = [[min(seen.values()), max(seen.values())]]
    for path, weight in seen.items():
        r, c = map(int, path.split(".")[2:])
        x, y = left + CELL[0] * c, MAPS + CELL[1] * r
        board.shade(x, y, CELL, strength(weight, scale), HEADS[head])
        board.number(x + CELL[0] / 2, y + 14, path, size=10.5)
    board.box(left, MAPS, 6 * CELL[0], 6 * CELL[1], f"fig-frame role-{HEADS[head]}")
    y = MAPS + 6 * CELL[1] + 8
    lowest, highest = min(seen, key=seen.__getitem__), max(seen, key=seen.__getitem__)
    board.number(left + 27, y + 9.5, lowest, size=SMALL, anchor="end", css="fig-muted")
    board.key(left + 31, y, [(0.06 + 0.125 * step, HEADS[head]) for step in range(5)])
    board.number(left + 149, y + 9.5, highest, size=SMALL, anchor="end", css="fig-muted")


# A trained pair -----------------------------------------------------------------------------

LINE, TOP, MOST = 24.0, 30.0, 0.4  # from word to word; a larger weight is set off


def opened(values: Values) -> Panels:
    """What each head attends to: where the word that it looks for is there, and where it isn't."""
    return Panels(
        _pair(values, "second head, from “now”", ("plural", "singular")),
        _pair(values, "first head, from “and”", ("woman", "man")),
    )


def _pair(values: Values, title: str, names: Sequence[str]) -> Board:
    """Draw two sentences from top to bottom, with bows from the last word to those before."""
    last = len(values[f"{names[0]}_words"]) - 1
    board = Board(TOP + LINE * (last + 1), values)
    board.text(0, 14, title, anchor="start", css="fig-bold")
    for place, name in enumerate(names):
        x = 185 * place
        for r, word in enumerate(values[f"{name}_words"]):
            y, path = TOP + LINE * (r + 0.5), f"{name}_weights.{r}"
            weight = values.number(path)
            _beside(board, x + 62, (TOP + LINE * (last + 0.5), y), THICKEST * weight)
            board.text(x + 70, y + 4.3, word, anchor="start", css="fig-bold" if r == last else "")
            css = "role-weight fig-bold" if weight > MOST else "fig-muted"
            board.number(x + 166, y + 4.3, path, css=css, anchor="end")
    return board


def _beside(board: Board, x: float, ends: tuple[float, float], thickness: float) -> None:
    """Draw a bow to the left of words, from one to another, or a loop."""
    start, end = ends
    bulge = x - 14 - 0.3 * (start - end)
    if start == end:
        start, end = start + 5, end - 5
    board.parts.append(
        f'<path class="fig-bow role-weight" stroke-width="{thickness:.2f}"'
        f' d="M{x:g} {start:g}C{bulge:.1f} {start:g} {bulge:.1f} {end:g} {x:g} {end:g}"/>'
    )


# While it learns ----------------------------------------------------------------------------

AXIS, WIDE, UNTIL = 40.0, 300.0, 300  # steps
LOSS, RIGHT = (130.0, 100.0, 4.0), (270.0, 100.0, 1.0)  # the ground, the height, the highest number
ANSWERS = (("verb", "query", ""), ("pronoun", "key", "5 4"))


def fitted(values: Values) -> Board:
    """The loss while the model trains, and below it the answers that are right."""
    board = Board(306, values)
    losses = values["losses"]
    points = [[step, sum(losses[step : step + 10]) / 10] for step in range(0, UNTIL + 1, 10)]
    _plot(board, LOSS, ("0", "2", "4"), "loss")
    _curve(board, LOSS, points, "input")
    _plot(board, RIGHT, ("0", "0.5", "1"), "held-out answers that are right")
    for which, (name, role, dashes) in enumerate(
        (("verb", "query", ""), ("pronoun", "key", "5 4"))
    ):
        shown = [[row[0], row[1 + which]] for row in values["answered"] if row[0] <= UNTIL]
        _curve(board, RIGHT, shown, role, dashes)
        y = RIGHT[0] - 34 + 20 * which
        board.curve([(AXIS + 190, y), (AXIS + 218, y)], role, dashes, marked=False)
        board.text(AXIS + 225, y + 4, name, anchor="start", size=SMALL, css=f"role-{role}")
    for step in range(0, UNTIL + 1, 50):
        board.note(AXIS + WIDE * step / UNTIL, RIGHT[0] + 16, f"{step}")
    board.text(AXIS + WIDE / 2, RIGHT[0] + 33, "step of training", css="fig-muted")
    return board


def _plot(
    board: Board, scale: tuple[float, float, float], ticks: Sequence[str], title: str
) -> None:
    """Draw the axes of one plot."""
    ground, height, highest = scale
    board.text(AXIS + WIDE, ground - height - 8, title, anchor="end", css="fig-bold")
    for tick in ticks:
        y = ground - height * float(tick) / highest
        board.line(AXIS - 5, y, AXIS, y)
        board.note(AXIS - 9, y + 4, tick, anchor="end")
    board.line(AXIS, ground, AXIS + WIDE, ground)
    board.line(AXIS, ground - height, AXIS, ground)


def _curve(
    board: Board,
    scale: tuple[float, float, float],
    rows: Sequence[Sequence[float]],
    role: str,
    dashes: str = "",
) -> None:
    ground, height, highest = scale
    points = [
        (AXIS + WIDE * step / UNTIL, ground - height * number / highest) for step, number in rows
    ]
    board.curve(points, role, dashes, marked=False)


DRAWINGS: dict[str, Drawing] = {
    "two-questions": Drawing("Two questions at one position", two_questions, no_values),
    "full-stop": Drawing("Where the full stop looks", full_stop),
    "heads": Drawing("Two heads, split and joined", heads),
    "opened": Drawing("What two trained heads attend to", opened),
    "fitted": Drawing("The loss and the right answers", fitted),
}
