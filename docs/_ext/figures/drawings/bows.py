"""The figures of sentences: bows as thick as the weights that a word gives to others."""

from collections.abc import Sequence

from figures.board import WIDTH, Board, Panels
from figures.drawing import Drawing
from figures.values import Values, no_values


def sentence(values: Values) -> Panels:
    """What the last word attends to in two sentences, after a plural and after a singular."""
    return Panels(
        across(values, "start", "plural"),
        across(values, "at_singular", "singular", "singular_words"),
    )


def averaging(values: Values) -> Panels:
    """The same weights for all six words, and those of a trained head, for two sentences."""
    return Panels(
        across(values, "averaged", "averaging"),
        across(values, "start", "a trained head, plural"),
        across(values, "at_singular", "the same head, singular", "singular_words"),
    )


def across(values: Values, name: str, title: str, words: str = "words") -> Board:
    """Six words, joined to the last one by lines as thick as the weights that it gives them."""
    board, last = Board(138, values), len(values[words]) - 1
    step = WIDTH / (last + 1)
    for place, (word, weight) in enumerate(zip(values[words], values[name][last], strict=True)):
        x, end = step * (place + 0.5), step * (last + 0.5)
        rise = 22 if place == last else 24 + 0.1 * (end - x)
        board.bow((end, 56), (x, 56), (0, -rise), 12 * weight)
        board.text(x, 74, word, "fig-bold" if place == last else "", size=14.5)
        board.bar(x - 15, 84, 30, 34 * weight, "role-weight")
        board.number(x, 99 + 34 * weight, f"{name}.{last}.{place}", "role-weight fig-bold")
    board.text(0, 13, title, "fig-bold", "start")
    return board


def full_stop(values: Values) -> Board:
    """What the full stop attends to: with one head, and with each of two."""
    board = Board(314, values)
    for row, title in enumerate(("one head", "first of two", "second of two")):
        top = 106 * row
        board.text(0, top + 14, title, "fig-bold", "start")
        for place, word in enumerate(("who", "chased", "whom", ".")):
            x, path = 78 + 78 * place, f"looks.{row}.{place}"
            weight, stop = values.number(path), 312
            board.bow((stop, top + 66), (x, top + 66), (0, -16 - 0.22 * (stop - x)), 10 * weight)
            board.text(x, top + 84, word, "fig-bold" if x == stop else "")
            board.number(x, top + 99, path, _strength(weight))
    return board


def two_questions(values: Values) -> Board:
    """A sentence, and what is asked at its full stop."""
    board, stop = Board(112, values), 330
    for x, word in ((30, "Ann"), (110, "chased"), (190, "Ben"), (stop, ".")):
        board.text(x, 104, word, "fig-bold" if word == "." else "", size=14.5)
    for x, question, y in ((30, "who?", 22), (190, "whom?", 74)):
        board.bow((stop, 86), (x, 86), (0, -16 - 0.2 * (stop - x)), 3)
        board.text((stop + x) / 2, y, question, "role-weight fig-bold")
    return board


def opened(values: Values) -> Panels:
    """What each head attends to: where the word that it looks for is there, and where it isn't."""
    return Panels(
        _pair(values, "second head, from “now”", ("plural", "singular"), ""),
        _pair(values, "first head, from “and”", ("woman", "man"), "’s name"),
    )


def _pair(values: Values, title: str, names: Sequence[str], what: str) -> Board:
    """Draw two sentences from top to bottom, with bows from the last word to those before."""
    last = len(values[f"{names[0]}_words"]) - 1
    top, end = 56, 56 + 24 * last
    board = Board(end + 12, values)
    board.text(0, 14, title, "fig-bold", "start")
    for place, name in enumerate(names):
        x = 185 * place
        board.note(x + 70, 36, name + what, "start")
        for r, word in enumerate(values[f"{name}_words"]):
            y, path = top + 24 * r, f"{name}_weights.{r}"
            weight = values.number(path)
            board.bow((x + 62, end), (x + 62, y), (-20 - 0.27 * (end - y), 0), 10 * weight)
            board.text(x + 70, y + 4.3, word, "fig-bold" if r == last else "", "start")
            board.number(x + 166, y + 4.3, path, _strength(weight), "end")
    return board


def _strength(weight: float) -> str:
    """Set a large weight off."""
    return "role-weight fig-bold" if weight > 0.4 else "fig-muted"  # noqa: PLR2004 - to look at


DRAWINGS: dict[str, Drawing] = {
    "sentence": Drawing(
        "Which words a trained head attends to", sentence, page="self-attention/what-for"
    ),
    "averaging": Drawing("Averaging, and a trained head for a plural and a singular", averaging),
    "two-questions": Drawing("Two questions at one position", two_questions, no_values),
    "full-stop": Drawing("Where the full stop looks", full_stop),
    "opened": Drawing("What two trained heads attend to", opened),
}
