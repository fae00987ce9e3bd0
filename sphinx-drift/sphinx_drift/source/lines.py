"""Lines as Markdown, Python's parser and editors count them, which `str.splitlines` doesn't.

To `splitlines` a form feed, U+2028 and others end a line too. To these they are a character in it.
"""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n?|\n")

_SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_PRIVATE = range(0x100000, 0x10FFFE)  # that Unicode leaves to private use


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without their ends.

    Examples:
        >>> lines_of("one\r\ntwo\f\n\nfour\u2028\n")
        ['one', 'two\x0c', '', 'four\u2028']

    """
    lines = NEWLINE.split(text)
    return lines if lines[-1] else lines[:-1]


def stand_ins(text: str) -> dict[int, int]:
    """Return characters that a text doesn't have, for those that only `splitlines` splits at."""
    unused = (character for character in _PRIVATE if chr(character) not in text)
    return dict(zip(map(ord, _SEPARATORS), unused, strict=False))
