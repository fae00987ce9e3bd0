"""Excerpts of outputs: lines that are safe to print, with carets below what differs."""

import unicodedata

from sphinx_drift.compare.lexer import plain

WIDTH = 100
"""Columns that a report is readable in."""

_ROOM = WIDTH - 10
"""Columns of an output's line, after what precedes it."""
_MOST_CHARACTERS = 500
"""Characters of a line that are shown."""
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def safe_line(line: str) -> str:
    """Return a line that is safe to print: cut, and without what is unseen or turns text round.

    Such characters are replaced one for one, so that carets stay where they point. Spaces of every
    language stay, and what joins the letters of some and the parts of an emoji.
    """
    more = len(line) - _MOST_CHARACTERS
    if more > 0:
        line = f"{line[:_MOST_CHARACTERS]} [and {many(more, 'more character')}]"
    return "".join(c if _is_safe(c) else "\N{REPLACEMENT CHARACTER}" for c in line.expandtabs())


def _is_safe(character: str) -> bool:
    """Whether a character can be printed as it is."""
    is_space = unicodedata.category(character) == "Zs"
    return character.isprintable() or is_space or character in _JOINERS


def row_of(text: str, offset: int) -> int:
    """Return the number of a character's line, counted from 1."""
    return plain(text).count("\n", 0, offset) + 1


def shortened(text: str) -> str:
    """Return a short form of a text, in one line."""
    if not text:
        return "nothing"
    line = "".join(c if c.isprintable() else f"{c!a}"[1:-1] for c in " ".join(text.split()))
    return line if len(line) <= 40 else f"{line[:37]}..."  # noqa: PLR2004 - fits the width


def window(text: str, span: tuple[int, int]) -> tuple[str, str]:
    """Return the first line of a span, cut to the width, and a caret below it."""
    start, end = span
    first = text.rfind("\n", 0, start) + 1
    line, column = text[first:].partition("\n")[0], start - first
    length = max(1, min(end - start, len(line) - column))
    if len(line) > _ROOM:
        left = max(0, min(column - _ROOM // 2, len(line) - _ROOM))
        line, column = line[left : left + _ROOM], column - left
        length = min(length, _ROOM - column)
    return line, " " * column + "^" * max(length, 1)


def many(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
