"""Join streams, and find what a terminal is left showing of lines that progress bars write over."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import ESCAPE

if TYPE_CHECKING:  # a build starts its host without it
    from nbformat import NotebookNode

_ONCE = "Matplotlib is building the font cache; this may take a moment.\n"
"""What a slow machine writes on stderr for the first page that imports Matplotlib, and no other."""
_MOVES = r"(?P<start>\r|\x1b\[[01]?G|\x1b\[2K)|(?P<back>\x08)|(?P<erase>\x1b\[0?[JK])"
_UP = r"\x1b\[(?P<up>\d{0,4})[AF]"
_MOVES_UP = re.compile(rf"\n.*{_UP}")
_REWRITES = re.compile(rf"{_MOVES}|{_MOVES_UP.pattern}")
_BAR = re.compile(r"\[(?:\d+:)?\d\d:\d\d[<,]")
"""What a bar of tqdm has. Its length is the clock's, and so is what a shorter text would leave."""
_STEP = re.compile(
    rf"{_MOVES}|{_UP}|(?P<next>\n)|(?P<code>{ESCAPE.pattern})|[^\r\n\x08\x1b]+|(?s:.)"
)
_NO_COLOR = re.compile(rf"(?!\x1b\[[\d;]*m){ESCAPE.pattern}")


def on_screen(text: str) -> str:
    r"""Return what a terminal shows of a text in the end.

    Moves to the first column or up, backspaces and codes that erase a line, or the rest of it, are
    carried out; the lines they are in lose their colors, and all lines where one moves up. A bar
    of tqdm takes the whole of its line, and so does what is written over it.

    Examples:
        >>> on_screen("50%\r100%\nab\bc")
        '100%\nac'
        >>> on_screen("downloading\r\x1b[Kdone")
        'done'
        >>> on_screen("epoch 1\nbatch 1\x1b[A\repoch 2")
        'epoch 2\nbatch 1'

    """
    text = text.replace("\r\n", "\n")
    lines = [text] if _MOVES_UP.search(text) else text.split("\n")
    left = (_left_on_screen(line) if _REWRITES.search(line) else line for line in lines)
    return without_links("\n".join(left))


def without_links(text: str) -> str:
    r"""Return a text without what a terminal carries out unseen; colors stay.

    Examples:
        >>> without_links("a \x1b]8;;http://x/99\x07link\x1b]8;;\x07")
        'a link'

    """
    return _NO_COLOR.sub("", text)


class _Line(list[str]):
    """The characters of a line."""

    has_bar = False

    def write(self, text: str, column: int) -> int:
        """Write over what is there, or all of it if either is a bar; return the next column."""
        had_bar, is_bar = self.has_bar, bool(_BAR.search(text))
        if (had_bar or is_bar) and not column:
            self.clear()
            self.has_bar = False
            if had_bar and text.isspace():  # it is as long as the bar was
                return column
        self.has_bar = self.has_bar or is_bar
        self.extend(" " * (column - len(self)))
        self[column : column + len(text)] = text
        return column + len(text)


def _left_on_screen(text: str) -> str:
    """Return what is left of one line, or of several where one moves up."""
    lines = [_Line()]
    row = column = 0
    for match in _STEP.finditer(text):
        shown = lines[row]
        if match["start"]:
            column = 0
            if match["start"].endswith("K"):
                shown.clear()
        elif match["back"]:
            column = max(column - 1, 0)
        elif match["erase"]:
            del shown[column:]
        elif match["up"] is not None:
            row = max(row - int(match["up"] or 1), 0)
            column *= match[0].endswith("A")
        elif match["next"]:
            row, column = row + 1, 0
            if row == len(lines):
                lines.append(_Line())
        elif not match["code"]:
            column = shown.write(match[0], column)
    return "\n".join(map("".join, lines))


def joined(outputs: Iterable["NotebookNode"]) -> Iterator["NotebookNode"]:
    """Yield a cell's outputs with each stream whole between two displays, stdout before stderr.

    The clock alone decides how many pieces the two arrive in, and which comes first.
    """
    for is_stream, group in groupby(outputs, lambda output: output.output_type == "stream"):
        if not is_stream:
            yield from group
            continue
        for _, pieces in groupby(sorted(group, key=_is_stderr), _is_stderr):
            first, *rest = pieces
            text = "".join(piece.text for piece in (first, *rest))
            if (kept := text.replace(_ONCE, "")) or not text:
                yield type(first)(first, text=kept)


def _is_stderr(stream: "NotebookNode") -> bool:
    return bool(stream.name == "stderr")
