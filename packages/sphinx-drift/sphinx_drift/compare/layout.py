"""Find where white space has no meaning: in tensors, arrays, and lists of numbers.

There, line breaks and padding depend on the width of a terminal and of the widest number. In
a table, in indented text, in a formula that takes two lines or between quotation marks they
say what belongs to what.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sphinx_drift.compare.lexer import Token

_CONSTANTS = frozenset({"True", "False", "None", "NaN", "NaT"})
_QUOTES = frozenset("'\"")


class _Before(Enum):
    """What precedes a token in the brackets around it."""

    NOTHING = 0
    """The opening bracket, a comma, a colon or an equals sign."""
    VALUE = 1
    NAME = 2
    DOT = 3


@dataclass(slots=True)
class _Region:
    """The content of two brackets: data, as long as it reads like a Python literal."""

    start: int
    bracket: str
    is_literal: bool = True
    has_data: bool = False
    """Whether it has a number, a constant or a text in quotation marks."""
    has_commas: bool = False
    before: _Before = _Before.NOTHING
    quote: str = ""
    """The quotation mark that is open."""


def loose_gaps(tokens: Sequence[Token], partners: Mapping[int, int]) -> set[int]:
    """Return the tokens before which white space has no meaning.

    Args:
        tokens: All tokens of a text, line breaks too.
        partners: The place of its partner for each bracket that has one.

    """
    if not partners:
        return set()
    reader = _Reader(tokens, partners)
    ends = [(start, partners[start]) for start in sorted(reader.loose)]
    return {
        place
        for start, end in _outermost(ends)
        for place in range(start + 1, end + 1)
        if place not in reader.quoted
    }


class _Reader:
    """Reads the content of brackets, from the first token to the last."""

    def __init__(self, tokens: Sequence[Token], partners: Mapping[int, int]) -> None:
        self.loose: set[int] = set()
        """Opening brackets of data."""
        self.quoted: set[int] = set()
        """Tokens inside quotation marks, the closing mark too."""
        self._tokens = tokens
        self._partners = partners
        self._open: list[_Region] = []
        for place, token in enumerate(tokens):
            if self._open and self._open[-1].quote:
                self._in_quotes(place, token)
            elif place in partners:
                self._bracket(place, token)
            elif self._open:
                self._add_token(place, token)

    def _bracket(self, place: int, token: Token) -> None:
        if self._partners[place] > place:
            self._open.append(_Region(place, token.text))
            return
        start = self._partners[place]
        while self._open and self._open[-1].start > start:
            self._open.pop()  # what a quotation mark that never closes has hidden
        if not self._open or self._open[-1].start < start:
            return
        region = self._open.pop()
        # Without commas, lines that begin below the bracket are the rows of a class's own.
        region.is_literal &= region.has_commas or not self._tokens[start + 1].is_line
        if region.is_literal and region.has_data:
            self.loose.add(region.start)
        if self._open:
            _add_value(self._open[-1], region, self._tokens[region.start])

    def _in_quotes(self, place: int, token: Token) -> None:
        region = self._open[-1]
        self.quoted.add(place)
        if token.text == region.quote and not _escaped(self._tokens, place):
            region.quote = ""
            region.before = _Before.VALUE
            region.has_data = True

    def _add_token(self, place: int, token: Token) -> None:
        region = self._open[-1]
        before = region.before
        if not region.is_literal or token.is_line:
            return
        after: _Before | None = None
        region.has_commas |= token.text[0] == ","
        apart = bool(token.gap) or self._tokens[place - 1].is_line
        item = before is _Before.NOTHING or (before is _Before.VALUE and apart)
        if token.text in _QUOTES:
            if item or (before is _Before.NAME and not apart):  # as in b'...'
                region.quote, after = token.text, before
        elif token.is_number or token.text in _CONSTANTS:
            if item or token.text.endswith("j"):
                after = _Before.VALUE
                region.has_data = True
        else:
            after = _after(token, region)
        region.is_literal = after is not None
        region.before = after or _Before.NOTHING


_MARKS = {
    ".": ((_Before.NAME,), _Before.DOT),
    "=": ((_Before.NAME,), _Before.NOTHING),
    ":": ((_Before.NAME, _Before.VALUE), _Before.NOTHING),
    ",": ((_Before.NAME, _Before.VALUE), _Before.NOTHING),
}
"""What may precede each mark, and what the mark is to the token after it."""


def _after(token: Token, region: _Region) -> _Before | None:
    """Return what a token is to the one after it; None if no literal has it here."""
    before, text = region.before, token.text
    if text.startswith("..."):
        return _Before.VALUE
    if (text[0] == "," and len(text) > 1) or text.startswith(
        "grad_fn=<"
    ):  # the first is a device, with its comma
        return _Before.VALUE
    if text in _MARKS and (text != ":" or region.bracket == "{"):
        allowed, after = _MARKS[text]
        return after if before in allowed else None
    is_name = token.is_word and before in (_Before.NOTHING, _Before.DOT)
    return _Before.NAME if is_name else None


def _add_value(outer: _Region, inner: _Region, bracket: Token) -> None:
    """Count a closed bracket as one value of the bracket around it."""
    call = outer.before is _Before.NAME and not bracket.gap
    item = outer.before in (_Before.NOTHING, _Before.VALUE)
    outer.is_literal &= inner.is_literal and (call or item)
    outer.has_data |= inner.has_data
    outer.before = _Before.VALUE


def _escaped(tokens: Sequence[Token], place: int) -> bool:
    """Whether an odd number of backslashes immediately precedes a token."""
    first = place
    while tokens[first].start == tokens[first - 1].end and tokens[first - 1].text == "\\":
        first -= 1
    return (place - first) % 2 == 1


def _outermost(ends: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = -1
    for start, end in ends:
        if start > last:
            yield start, end
            last = end
