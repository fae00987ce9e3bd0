"""Find what a terminal shows in the end of lines that are written over, as progress bars do it."""

from __future__ import annotations

import re
from itertools import chain

from sphinx_drift.compare.lexer import ESCAPE

_ERASE = r"\x1b\[(?:[02]?K|0?J)"
_MOVES = re.compile(rf"[\r\b]|{_ERASE}|\x1b\[[01]?G")
_PIECE = re.compile(
    rf"(?P<erase>{_ERASE})|(?P<start>\r|\x1b\[[01]?G)|(?P<code>{ESCAPE})|[^\r\b\x1b]+|(?s:.)"
)
_UNSEEN = re.compile(rf"(?!\x1b\[[\d;]*m){ESCAPE}")
_ENDS = ("[m", "[0m", "[39m", "[49m")


def on_screen(text: str) -> str:
    r"""Return what a terminal shows of a text in the end.

    What moves to the first column, backspace and what erases a line, or the rest of it, are
    carried out; colours stay with their characters.

    Examples:
        >>> on_screen("50%\r100%\nab\bc")
        '100%\nac'
        >>> on_screen("downloading\r\x1b[Kdone")
        'done'

    """
    if _MOVES.search(text):
        text = "\n".join(map(_line_on_screen, text.replace("\r\n", "\n").split("\n")))
    return without_links(text)


def without_links(text: str) -> str:
    r"""Return a text without what a terminal carries out unseen; colours stay.

    Examples:
        >>> without_links("a \x1b]8;;http://x/99\x07link\x1b]8;;\x07")
        'a link'

    """
    return _UNSEEN.sub("", text)


def _line_on_screen(text: str) -> str:
    cells: list[list[str]] = []
    """Each character with the colour codes before it, then those that end a colour after it."""
    first = 0
    """The column of the first cell: an erased line is filled with spaces where it must be alone."""
    column = 0
    codes = ""
    """What waits for the next character."""
    for match in _PIECE.finditer(text):
        piece = match[0]
        if match["code"]:
            codes += piece
        elif match["erase"]:
            del cells[0 if "2" in piece else max(column - first, 0) :]
        elif piece == "\b":
            column = max(column - 1, 0)
        elif match["start"]:
            if codes.endswith(_ENDS) and cells:
                cells[-1].append(codes)
                codes = ""
            column = 0
        else:
            first = first if cells else column
            cells[:0] = [[" "] for _ in range(first - column)]
            first = min(first, column)
            cells += [[" "] for _ in range(column - first - len(cells))]
            written = [[codes + piece[0]], *([character] for character in piece[1:])]
            codes = ""
            cells[column - first : column - first + len(piece)] = written
            column += len(piece)
    return " " * first * bool(cells) + "".join(chain.from_iterable(cells)) + codes
