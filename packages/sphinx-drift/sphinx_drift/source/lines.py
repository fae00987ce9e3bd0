"""Lines as Markdown, Python's parser and editors count them, which `str.splitlines` doesn't.

To `splitlines` a form feed, U+2028 and others end a line too. To these they are a character in it.
"""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n?|\n")


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without their ends.

    Examples:
        >>> lines_of("one\r\ntwo\f\n\nfour\u2028\n")
        ['one', 'two\x0c', '', 'four\u2028']

    """
    lines = NEWLINE.split(text)
    return lines if lines[-1] else lines[:-1]
