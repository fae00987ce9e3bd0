"""The figures that are plots: losses, gradients, time and memory."""

import math

from figures.board import SMALL, Board
from figures.drawing import Drawing
from figures.plot import Axis, Plot, sample
from figures.values import Values, benchmark


def gpt_context(values: Values) -> Board:
    """The loss by the number of characters that are seen, for attention and for counting."""
    board = Board(280, values)
    plot = Plot(board, 40, 240, 300, 215, Axis(0.35, 16.65), Axis(1.6, 2.8))
    ticks = (1.8, 2.0, 2.2, 2.4, 2.6)
    plot.axes((1, 2, 4, 8, 12, 16), ticks, "loss on the new text", "characters seen")
    sizes, counting = values["sizes"], values["counting"]
    for name, role in (("counting", "key"), ("attention", "query")):
        x, y = plot.line(sizes, values[name], role, marked=True)
        board.number(x, y - 14, f"{name}.{len(values[name]) - 1}", f"role-{role} fig-bold")
        board.text(x - 20, y - 14, name, f"role-{role}", "end")
    lowest = counting.index(min(counting))
    x, y = plot.at(sizes[lowest], counting[lowest])
    board.number(x - 2, y - 15, f"counting.{lowest}", "role-key fig-bold", "start")
    return board


METHODS = (  # curve, role, dashes, how far its label is below its end
    ("interpolated", "value", "", 0.0),
    ("ReRoPE", "weight", "6 4", 3.0),
    ("as trained", "query", "", -4.0),
    ("no positions", "input", "1 3", -3.0),
    ("window", "key", "2 4", 4.0),
)


def long_texts(values: Values) -> Board:
    """The right answers by how far back the card is, as means and bands of the seeds."""
    board = Board(254, values)
    plot = Plot(board, 44, 214, 230, 188, Axis(0, 96), Axis(0, 100))
    plot.axes((0, 32, 64, 96), (0, 50, 100), "right answers, %", "how many cards back")
    edge, _ = plot.at(32, 0)
    board.line(edge, 26, edge, 214)
    board.note(edge + 5, 54, "further than in training", "start")
    across = range(8, 96, 16)
    for name, role, dashes, shift in METHODS:
        seeds = [[100 * part for part in seed] for seed in values["curves"][name]]
        lowest, highest = (
            [plot.at(*point) for point in zip(across, seed, strict=True)]
            for seed in (seeds[0], seeds[-1])  # they are sorted at each distance
        )
        board.band(lowest, highest, role)
        means = [sum(each) / len(seeds) for each in zip(*seeds, strict=True)]
        x, y = plot.line(across, means, role, dashes)
        board.text(x + 7, y + shift + 4, name, f"role-{role}", "start", SMALL)
    return board


FORMS = (("written-out", "written out", "input", "5 3"), ("one-call", "one call", "query", ""))


def cost(values: Values) -> Board:
    """Two panels with two curves each, both axes logarithmic."""
    board = Board(482, values)
    for place, (_, label, role, dashes) in enumerate(FORMS):
        sample(board, 50 + 142 * place, 14, label, role, dashes, marked=True)
    lengths = sorted(map(int, values["one-call"]))
    across = Axis(lengths[0], lengths[-1], log=True)
    panels = (("time", "ms", "time of one call, ms"), ("memory", "MB", "memory at the peak, MB"))
    for place, (what, unit, title) in enumerate(panels):
        measured = {
            form: [values.number(f"{form}.{length}.{what}") for length in lengths]
            for form, *_ in FORMS
        }
        powers = [math.log10(number) for each in measured.values() for number in each]
        ticks = [10.0**n for n in range(math.floor(min(powers)), math.ceil(max(powers)) + 1)]
        up = Axis(ticks[0], ticks[-1], log=True)
        plot = Plot(board, 50, 212 + 216 * place, 238, 150, across, up)
        plot.axes(lengths, ticks, title, "$T$, the number of tokens" if place else "")
        for form, _, role, dashes in FORMS:
            x, y = plot.line(lengths, measured[form], role, dashes, marked=True)
            shown = f"{rounded(measured[form][-1])} {unit}"
            path = f"{form}.{lengths[-1]}.{what}"
            board.number(x + 9, y + 4.3, path, f"fig-bold role-{role}", "start", shown=shown)
    return board


def rounded(number: float) -> str:
    """Write a number with three significant digits, and never with an exponent."""
    digits = 2 - math.floor(math.log10(abs(number))) if number else 0
    return f"{round(number, digits):.{max(digits, 0)}f}"


def fitted(values: Values) -> Board:
    """The loss while the model trains, and below it the answers that are right."""
    board, across = Board(306, values), Axis(0, 300)
    plot = Plot(board, 40, 130, 300, 100, across, Axis(0, 4))
    plot.axes((), (0, 2, 4), "loss")
    steps = range(0, 301, 10)
    plot.line(steps, [sum(values["losses"][step : step + 10]) / 10 for step in steps], "input")
    plot = Plot(board, 40, 270, 300, 100, across, Axis(0, 1))
    plot.axes(range(0, 301, 50), (0, 0.5, 1), "held-out answers that are right", "step of training")
    shown = [row for row in values["answered"] if row[0] <= across.high]
    for which, (name, role, dashes) in enumerate(
        (("verb", "query", ""), ("pronoun", "key", "5 4"))
    ):
        plot.line([row[0] for row in shown], [row[1 + which] for row in shown], role, dashes)
        sample(board, 230, 236 + 20 * which, name, role, dashes)
    return board


MEASURED = (  # name, title, ticks
    ("variance", "variance of softmax's input", (1, 4, 16, 64, 256, 1024)),
    ("few", "gradient at the query, 16 keys", (0.001, 0.01, 0.1, 1, 10)),
    ("many", "gradient at the query, 1,024 keys", (0.001, 0.01, 0.1, 1, 10)),
)


def scaling(values: Values) -> Board:
    """The variance of the scores, and the gradient at the query for few and for many keys."""
    board, sizes = Board(560, values), values["sizes"]
    hows = (
        ("unscaled", "not divided", "input", "5 3"),
        ("scaled", "divided by $√d_{k}$", "weight", ""),
    )
    for place, (_, label, role, dashes) in enumerate(reversed(hows)):
        sample(board, 44 + 160 * place, 14, label, role, dashes, marked=True)
    for place, (name, title, ticks) in enumerate(MEASURED):
        up = Axis(1, 1200, log=True) if name == "variance" else Axis(0.0004, 20, log=True)
        across = Axis(sizes[0], sizes[-1], log=True)
        plot = Plot(board, 44, 176 + 164 * place, 244, 112, across, up)
        below = "$d_{k}$, the number of entries in a key" if place + 1 == len(MEASURED) else ""
        plot.axes([sizes[n] for n in (0, 2, 4, 6, 9)], ticks, title, below)
        for how, _, role, dashes in hows:
            lines = values[name][how]  # one, or those of 10 %, 50 % and 90 % of the queries
            middle = len(lines) // 2
            edges = [[plot.at(*each) for each in zip(sizes, line, strict=True)] for line in lines]
            if middle:
                board.band(edges[0], edges[-1], role)
            x, y = plot.line(sizes, lines[middle], role, dashes, marked=True)
            path = f"{name}.{how}.{middle}.{len(sizes) - 1}"
            number = values.number(path)
            digits = 1 if number >= 100 else 2 if number >= 0.005 else 4  # noqa: PLR2004 - sizes
            css = f"fig-bold role-{role}"
            board.number(x + 12, y + 4.3, path, css, "start", shown=f"{number:.{digits}f}")
    return board


DRAWINGS: dict[str, Drawing] = {
    "gpt-context": Drawing("Attention and counting, by the characters seen", gpt_context),
    "long-texts": Drawing("Right answers beyond the trained length", long_texts),
    "cost": Drawing("Time and memory of two ways to compute attention", cost, benchmark),
    "fitted": Drawing("The loss and the right answers", fitted),
    "scaling": Drawing("Scores and gradients with and without scaling", scaling),
}
