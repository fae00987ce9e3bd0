"""Find what a terminal shows in the end of a text that moves its cursor, as progress bars do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sphinx_drift.compare.tokens import ESCAPE

_MOVES = re.compile(r"[\r\b]|\x1b\[\d*[A-DGJK]")
_PIECE = re.compile(rf"\x1b\[(?P<number>\d*)(?P<move>[A-DGJK])|(?P<code>{ESCAPE})|(?s:.)")
_FARTHEST = 1_000
"""How far a sequence may move the cursor: no terminal is larger, and memory is not endless."""
_CELLS_PER_CHARACTER = 10
"""How many cells of the screen a text may fill or erase for each of its characters."""
_ENDS = ("[m", "[0m", "[39m", "[49m")


def on_screen(text: str) -> str:
    r"""Return what a terminal shows of a text in the end.

    Carriage return, backspace and the sequences that move the cursor or erase a line are carried
    out, as a terminal and a notebook carry them out; colours stay with their characters. A text
    that fills a screen far larger than itself by moving the cursor is left as it is.

    Examples:
        >>> on_screen("50%\r100%\nab\bc")
        '100%\nac'
        >>> on_screen("downloading\r\x1b[Kdone")
        'done'

    """
    if not _MOVES.search(text):
        return text
    screen = _Screen()
    limit = _FARTHEST + _CELLS_PER_CHARACTER * len(text)
    for match in _PIECE.finditer(text.replace("\r\n", "\n")):
        if match["move"]:
            screen.move(match["move"], min(int(match["number"] or 0), _FARTHEST))
        elif match["code"]:
            screen.color.append(match["code"])
        else:
            screen.put(match[0])
        if screen.cells > limit:
            return text
    return screen.text()


@dataclass
class _Screen:
    """Lines of characters, each with the colour codes before it, and a cursor."""

    lines: list[list[str]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    color: list[str] = field(default_factory=list)
    """The codes that wait for the next character."""
    cells: int = 0
    """How many cells were filled or erased."""

    def put(self, character: str) -> None:
        if character == "\n":
            self._close_color()
            self._go(self.row + 1, 0)
        elif character == "\r":
            if self.color and self.color[-1].endswith(_ENDS):
                self._close_color()
            self.column = 0
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        else:
            self._write(character)
            self.column += 1

    def move(self, letter: str, number: int) -> None:
        """Carry out ``ESC [ number letter``."""
        steps = number or 1
        line = self.lines[self.row]
        if letter in "AB":
            self._go(max(self.row + (steps if letter == "B" else -steps), 0), self.column)
        elif letter == "G":
            self.column = steps - 1
        elif letter in "CD":
            self.column = max(self.column + (steps if letter == "C" else -steps), 0)
        elif number == 1:  # from the beginning to here
            erased = min(self.column + 1, len(line))
            line[:erased] = [" "] * erased
            self.cells += erased
        elif number:  # all of it
            line[:] = []
        else:  # from here on
            del line[self.column :]

    def text(self) -> str:
        self._close_color()
        return "\n".join("".join(line) for line in self.lines)

    def _go(self, row: int, column: int) -> None:
        added = max(row + 1 - len(self.lines), 0)
        self.lines += [[] for _ in range(added)]
        self.cells += added
        self.row, self.column = row, column

    def _write(self, character: str) -> None:
        line = self.lines[self.row]
        added = max(self.column + 1 - len(line), 0)
        line += [" "] * added
        self.cells += added
        line[self.column] = "".join(self.color) + character
        self.color = []

    def _close_color(self) -> None:
        """Put pending codes after the last character: most often they end a colour."""
        if self.color and self.lines[self.row]:
            self.lines[self.row][-1] += "".join(self.color)
            self.color = []
