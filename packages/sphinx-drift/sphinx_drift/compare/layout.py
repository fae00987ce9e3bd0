"""Leave out white space without a meaning: in tensors, arrays, and lists of numbers.

There, line breaks and padding depend on the width of a terminal and of the widest number. In
a table, in indented text, in a formula that takes two lines or between quotation marks they
say what belongs to what.

What two brackets hold is spelled with a letter for each token, and is data if a regular
expression knows the spelling: ``[1, 'a']`` is ``v,q``, ``(dtype=torch.int8)`` is ``n=n.n``.

====== ==========================================
``v``  a number or a constant
``q``  a text in quotation marks
``n``  a name
``b``  a pair of brackets that holds data
``c``  the same after a name: a call's arguments
``?``  anything else, which makes it no data
====== ==========================================

The signs ``. , =`` spell themselves, and ``:`` does in braces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sphinx_drift.compare.brackets import OPENING, partners
from sphinx_drift.compare.lexer import TokenKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sphinx_drift.compare.lexer import Token

_CONSTANTS = frozenset({"True", "False", "None", "NaN", "NaT"})
_QUOTES = frozenset("'\"")
_NAME = r"n(?:\.n)*"
_VALUE = rf"(?:v|b|n?q|{_NAME}c)"
"""A number or a constant, what is in brackets or in quotation marks, a call."""
_KEY = rf"(?:{_NAME}=|(?:{_VALUE}|{_NAME}):)"
_DATA = re.compile(rf"(?=.*[vqbc]|\Z)(?:{_KEY}*(?:{_VALUE}[vqb]*|{_NAME})(?:,|\Z))*")
"""Values with their names or keys, between commas, or values alone between spaces.

It looks ahead for a value first: names alone may be words.
"""


def without_layout(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens without the line breaks and the padding that have no meaning."""
    data, quoted = _data(tokens, partners(tokens))
    end = -1  # of the brackets of data around a token
    before = ""
    for place, token in enumerate(tokens):
        gap = token.gap
        if place <= end and place not in quoted:
            if token.is_line:
                continue
            is_apart = gap or tokens[place - 1].is_line
            is_tight = before in OPENING or token.kind is TokenKind.CLOSE or token.text == ","
            gap = " " if is_apart and not is_tight else ""
        yield token if gap == token.gap else token._replace(gap=gap)
        before = token.text
        end = max(end, data.get(place, -1))


def _data(tokens: Sequence[Token], pairs: Mapping[int, int]) -> tuple[dict[int, int], set[int]]:
    """Return which token closes each bracket of data, and which tokens a quotation holds.

    A pair is spelled when it closes, and is then one letter of the spelling around it.
    """
    data: dict[int, int] = {}
    quoted: set[int] = set()
    unclosed: list[tuple[int, list[str]]] = []
    """Which token opens each pair, and the spelling of what it holds so far."""
    for place, token in enumerate(tokens):
        partner = pairs.get(place, -1)
        if place in quoted or token.is_line:
            continue
        if partner > place:
            unclosed.append((place, []))
        elif unclosed and partner == unclosed[-1][0]:
            start, spelling = unclosed.pop()
            letter = _letter_of_pair(tokens, start, "".join(spelling))
            if letter != "?":
                data[start] = place
            if unclosed:
                unclosed[-1][1].append(letter)
        elif unclosed:
            start, spelling = unclosed[-1]
            end = _closing_mark(tokens, place, pairs[start]) if token.text in _QUOTES else -1
            quoted.update(range(place + 1, end + 1))
            spelling.append("q" if end > 0 else _letter(token, tokens[start].text))
    return data, quoted


def _letter_of_pair(tokens: Sequence[Token], start: int, spelling: str) -> str:
    """Return the letter for a pair of brackets, by what it holds."""
    # Without commas, lines that begin below the bracket are the rows of a class's own.
    has_rows = "," not in spelling and tokens[start + 1].is_line
    if has_rows or not _DATA.fullmatch(spelling):
        return "?"
    is_call = start > 0 and tokens[start - 1].is_word and not tokens[start].gap
    return "c" if is_call else "b"


def _letter(token: Token, bracket: str) -> str:
    """Return the letter for a token that is no bracket; no spelling has the ``?``."""
    text = token.text
    if token.is_number or text in _CONSTANTS or text.startswith(("...", "grad_fn=<")):
        return "v"
    if token.is_word:
        return "n"
    return text if text in (".", ",", "=") or (text == ":" and bracket == "{") else "?"


def _closing_mark(tokens: Sequence[Token], first: int, end: int) -> int:
    """Return the place of the mark that closes a quotation before ``end``; -1 if none does."""
    escaped = False
    for place in range(first + 1, end):
        if tokens[place].text == tokens[first].text and not escaped:
            return place
        is_next = tokens[place].end == tokens[place + 1].start
        escaped = tokens[place].text == "\\" and not escaped and is_next
    return -1
