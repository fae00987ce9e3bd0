"""Find where white space has no meaning: in tensors, arrays, and lists of numbers.

There, line breaks and padding depend on the width of a terminal and of the widest number. In
a table, in indented text, in a formula that takes two lines or between quotation marks they
say what belongs to what.

What two brackets hold is spelled with a letter for each token, and is data if a regular
expression knows the spelling: ``[1, 'a']`` is ``v,q``, ``(dtype=torch.int8)`` is ``n=n.n``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sphinx_drift.compare.lexer import Token

_CONSTANTS = frozenset({"True", "False", "None", "NaN", "NaT"})
_QUOTES = frozenset("'\"")
_NAME = r"n(?:\.n)*"
_VALUE = rf"(?:v|b|n?q|{_NAME}c)"
"""A number or a constant, what is in brackets or in quotation marks, a call."""
_KEY = rf"(?:{_NAME}=|(?:{_VALUE}|{_NAME}):)"
_LITERAL = re.compile(rf"(?:{_KEY}*(?:{_VALUE}(?: v|b)*|{_NAME})(?:,|\Z))*")
"""Values with their names or keys, between commas, or values alone between spaces."""


@dataclass(slots=True)
class _Content:
    """What two brackets hold."""

    start: int
    """Which token opens them."""
    letters: list[str] = field(default_factory=list)
    has_data: bool = False
    """Whether it has a number, a constant or a text in quotation marks."""


def loose_gaps(tokens: Sequence[Token], partners: Mapping[int, int]) -> set[int]:
    """Return the tokens before which white space has no meaning.

    Args:
        tokens: All tokens of a text, line breaks too.
        partners: The place of its partner for each bracket that has one.

    """
    loose: list[tuple[int, int]] = []
    quoted: set[int] = set()
    unclosed: list[_Content] = []
    quote_ends = -1
    for place, token in enumerate(tokens):
        if place <= quote_ends:
            quoted.add(place)
        elif partners.get(place, -1) > place:
            unclosed.append(_Content(place))
        elif unclosed and partners.get(place) == unclosed[-1].start:
            content = unclosed.pop()
            is_literal = _is_literal(content, tokens)
            if is_literal and content.has_data:
                loose.append((content.start, place))
            if unclosed:
                _add_brackets(unclosed[-1], content, tokens, is_literal=is_literal)
        elif unclosed and token.text in _QUOTES:
            quote_ends = _closing_mark(tokens, place, partners[unclosed[-1].start])
            unclosed[-1].has_data |= quote_ends > place
            _add(unclosed[-1], "q" if quote_ends > place else "?", place, tokens)
        elif unclosed and not token.is_line:
            content = unclosed[-1]
            is_data = token.is_number or token.text in _CONSTANTS
            content.has_data |= is_data
            is_imaginary_part = is_data and token.text[-1] == "j" and content.letters[-1:] == ["v"]
            if not is_imaginary_part:
                _add(content, _letter(token, tokens[content.start].text), place, tokens)
    return _inside(loose) - quoted


def _letter(token: Token, bracket: str) -> str:
    """Return the letter for a token that is no bracket; no spelling has the ``?``."""
    text = token.text
    if token.is_number or text in _CONSTANTS or text.startswith(("...", "grad_fn=<")):
        return "v"
    if token.is_device:
        return ",n"
    if token.is_word:
        return "n"
    return text if text in (".", ",", "=") or (text == ":" and bracket == "{") else "?"


def _add(content: _Content, letter: str, place: int, tokens: Sequence[Token]) -> None:
    """Add a letter, after a space if it is a value apart from another value."""
    is_apart = bool(tokens[place].gap) or tokens[place - 1].is_line
    is_first = not content.letters or content.letters[-1] in ",=:"
    content.letters += " v" if letter in ("v", "q") and is_apart and not is_first else letter


def _add_brackets(
    outer: _Content, inner: _Content, tokens: Sequence[Token], *, is_literal: bool
) -> None:
    """Add brackets to what is around them, as a call if they follow a name immediately."""
    is_call = outer.letters[-1:] == ["n"] and not tokens[inner.start].gap
    outer.letters.append(("c" if is_call else "b") if is_literal else "?")
    outer.has_data |= inner.has_data


def _is_literal(content: _Content, tokens: Sequence[Token]) -> bool:
    spelled = "".join(content.letters)
    # Without commas, lines that begin below the bracket are the rows of a class's own.
    is_one = "," in spelled or not tokens[content.start + 1].is_line
    return is_one and _LITERAL.fullmatch(spelled) is not None


def _closing_mark(tokens: Sequence[Token], first: int, end: int) -> int:
    """Return the place of the mark that closes a quotation before ``end``; -1 if none does."""
    escaped = False
    for place in range(first + 1, end):
        if tokens[place].text == tokens[first].text and not escaped:
            return place
        is_next = tokens[place].end == tokens[place + 1].start
        escaped = tokens[place].text == "\\" and not escaped and is_next
    return -1


def _inside(pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the tokens inside pairs of brackets, the closing ones too."""
    places: set[int] = set()
    last = -1
    for start, end in sorted(pairs):
        if start > last:  # else it is inside a pair that is counted
            places.update(range(start + 1, end + 1))
            last = end
    return places
