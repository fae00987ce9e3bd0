"""Lines as Markdown, Python's parser and editors count them, which `str.splitlines` doesn't.

To `splitlines` a form feed, U+2028 and others end a line too. To these they are a character in it.
"""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n?|\n")

_SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_STAND_INS = "".join(chr(0x10F200 + place) for place in range(len(_SEPARATORS)))  # for private use
_HIDE = str.maketrans(_SEPARATORS, _STAND_INS)
_SHOW = str.maketrans(_STAND_INS, _SEPARATORS)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without their ends.

    Examples:
        >>> lines_of("one\r\ntwo\f\n\nfour\u2028\n")
        ['one', 'two\x0c', '', 'four\u2028']

    """
    lines = NEWLINE.split(text)
    return lines if lines[-1] else lines[:-1]


def hide_separators(text: str) -> str:
    """Return a text that `splitlines` splits as Markdown does, for those who use it."""
    return text.translate(_HIDE)


def show_separators(text: str) -> str:
    """Undo :func:`hide_separators`."""
    return text.translate(_SHOW)
