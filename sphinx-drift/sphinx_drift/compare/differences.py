"""Find where two outputs differ: token by token, or in stretches that were added or removed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, partial
from itertools import islice
from operator import ne
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from sphinx_drift.compare.brackets import indices, partners
from sphinx_drift.compare.tokens import ELISION, Token, TokenKind, plain, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ANYTHING = "..."
"""In a doctest with ``+ELLIPSIS`` it stands for any text."""

_DIFF_LIMIT = 4_000
"""Differing stretches longer than this many tokens are not searched for what moved."""

_NEAREST, _NEAREST_TOKENS = 100, 2_000_000
"""At so many places at least a shown part is compared that is nowhere as it is documented, and at
as many more as that many tokens allow."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the two outputs are not the same."""

    documented: str
    """The documented text there; empty if nothing is documented."""
    executed: str
    """The executed text there; empty if nothing was printed."""
    index: tuple[int, ...] | None
    """Its index in the brackets around it, counted from 0; None outside brackets."""
    documented_span: tuple[int, int]
    executed_span: tuple[int, int]
    number: bool = False
    """Whether both are numbers, and not the same."""
    gaps: tuple[str, str] = ("", "")
    """The white space before each, where each is one piece."""
    note: str = ""
    """Why it is not accepted, if that needs an explanation."""

    @property
    def moved(self) -> int:
        """By how many columns the space before it changed."""
        return abs(len(self.gaps[0]) - len(self.gaps[1]))


_Key = tuple[TokenKind, str, str]


@dataclass(frozen=True)
class Side:
    """One of the two texts, as tokens."""

    text: str
    tokens: Sequence[Token]
    keys: list[_Key]

    @classmethod
    def read(cls, text: str, elision: str, *, flowing: bool) -> Side:
        """Read a text, in which ``elision`` stands for what is not shown."""
        result = tokens(text, elisions=elision == ELISION, flowing=flowing)
        if elision == ANYTHING:
            result = [
                token._replace(kind=TokenKind.ELISION) if token.text == ANYTHING else token
                for token in result
            ]
        return cls(plain(text), result, [token.key for token in result])

    @cached_property
    def partners(self) -> dict[int, int]:
        """The place of its partner for each bracket that has one."""
        return partners(self.tokens)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the characters from token ``first`` up to token ``last``."""
        if first < last:
            return self.tokens[first].start, self.tokens[last - 1].end
        if first < len(self.tokens):
            return self.tokens[first].start, self.tokens[first].start
        return len(self.text), len(self.text)

    def first_value(self, first: int, last: int) -> int:
        """Return the place of the first word or number of a stretch; -1 if there is none."""
        return next((i for i in range(first, last) if self.tokens[i].kind in _VALUES), -1)


_VALUES = (TokenKind.WORD, TokenKind.INT, TokenKind.FLOAT)
_FIXED = (TokenKind.OPEN, TokenKind.CLOSE, TokenKind.LINE, TokenKind.MARK)


class _Block(NamedTuple):
    """A differing stretch: documented tokens l0 to l1, executed tokens r0 to r1."""

    l0: int
    l1: int
    r0: int
    r1: int

    def within(self, l0: int, l1: int, r0: int, r1: int) -> _Block:
        """Return a part of it, counted from its beginning."""
        return _Block(self.l0 + l0, self.l0 + l1, self.r0 + r0, self.r0 + r1)


class Elided(_Block):
    """What an elision stands for, which is no difference."""


def blocks(left: Side, right: Side, *, rows: bool) -> Iterator[_Block]:
    """Yield the stretches that differ or are elided, in order."""
    cuts = [place for place, token in enumerate(left.tokens) if token.kind is TokenKind.ELISION]
    if cuts:
        yield from _around_elisions(left, right, cuts, rows=rows)
    elif left.keys != right.keys:
        yield from _differing(left, right, _Block(0, len(left.keys), 0, len(right.keys)))


def _around_elisions(left: Side, right: Side, cuts: list[int], *, rows: bool) -> Iterator[_Block]:
    """Compare the shown parts of an output of which rows, or any tokens, are elided."""
    end = len(right.keys)
    firsts, lasts = [0, *(cut + 1 for cut in cuts)], [*cuts, len(left.keys)]
    at = 0
    for first, last in zip(firsts, lasts, strict=True):
        length = last - first
        if not first:
            start: int | None = 0
        elif last == len(left.keys):
            start = next((p for p in _places(right, at, rows=rows) if p == end - length), None)
        else:
            start = _search(left, right, first, last, partial(_places, right, at, rows=rows))
        if start is None:
            yield _Block(first - 1, last, min(at, end), end)
            return
        if first:
            yield Elided(first - 1, first, at, start)
        at = min(start + length, end)
        yield from _differing(left, right, _Block(first, last, start, at))


def _places(right: Side, at: int, *, rows: bool) -> Iterable[int]:
    """Return where a shown part can begin, in order."""
    return _row_ends(right, at) if rows else range(at, len(right.keys) + 1)


def _search(
    left: Side, right: Side, first: int, last: int, places: Callable[[], Iterable[int]]
) -> int | None:
    """Return the place at which a shown part matches, or differs least; None if at none."""
    length = last - first
    part, keys = left.tokens[first:last], left.keys[first:last]
    exact = _occurrences(keys, right.keys, next(iter(places()), len(right.keys)))
    found = next(exact, None)
    for place in places():
        while found is not None and found < place:
            found = next(exact, None)
        if found == place:
            return place
        if found is None:
            break
    # Each of them takes as long as the part is, and all parts together are the documented text.
    limit = max(_NEAREST, _NEAREST_TOKENS // len(left.keys))
    ends = (p for p in islice(places(), limit) if p + length <= len(right.keys))
    alike = (p for p in ends if _same_shape(part, right.tokens[p : p + length]))
    return min(alike, key=lambda p: sum(map(ne, keys, right.keys[p : p + length])), default=None)


def _occurrences(part: Sequence[_Key], keys: Sequence[_Key], start: int) -> Iterator[int]:
    """Yield where a part occurs, by the algorithm of Knuth, Morris and Pratt: in linear time."""
    if not part:
        yield from range(start, len(keys) + 1)
        return
    borders = [0] * len(part)
    matched = 0
    for place in range(1, len(part)):
        while matched and part[place] != part[matched]:
            matched = borders[matched - 1]
        matched += part[place] == part[matched]
        borders[place] = matched
    matched = 0
    for place in range(start, len(keys)):
        while matched and (matched == len(part) or keys[place] != part[matched]):
            matched = borders[matched - 1]
        matched += keys[place] == part[matched]
        if matched == len(part):
            yield place - matched + 1


def _row_ends(right: Side, at: int) -> Iterator[int]:
    """Yield where whole rows that begin at a token can end: not empty, no pair of brackets cut."""
    depth = 0
    something = False
    for place in range(at, len(right.tokens)):
        token = right.tokens[place]
        partner = right.partners.get(place, place)
        depth += (partner > place) - (partner < place)
        if depth < 0:
            return
        something = something or token.kind in _VALUES
        if something and not depth:
            yield place + 1


def _differing(left: Side, right: Side, block: _Block) -> Iterator[_Block]:
    """Yield what differs between two ranges, number by number where only numbers differ."""
    l0, l1, r0, r1 = block
    while l0 < l1 and r0 < r1 and left.keys[l0] == right.keys[r0]:
        l0, r0 = l0 + 1, r0 + 1
    while l0 < l1 and r0 < r1 and left.keys[l1 - 1] == right.keys[r1 - 1]:
        l1, r1 = l1 - 1, r1 - 1
    block = _Block(l0, l1, r0, r1)
    if l0 == l1 and r0 == r1:
        return
    if _same_shape(left.tokens[l0:l1], right.tokens[r0:r1]):
        yield from _one_by_one(left, right, block)
    elif max(l1 - l0, r1 - r0) > _DIFF_LIMIT:
        yield block
    else:
        yield from _moved(left, right, block)


def _moved(left: Side, right: Side, block: _Block) -> Iterator[_Block]:
    """Yield what was replaced, dropped or added in a range."""
    l0, l1, r0, r1 = block
    for tag, *offsets in SequenceMatcher(None, left.keys[l0:l1], right.keys[r0:r1]).get_opcodes():
        part = block.within(*offsets)
        if tag == "replace" and _same_shape(
            left.tokens[part.l0 : part.l1], right.tokens[part.r0 : part.r1]
        ):
            yield from _one_by_one(left, right, part)
        elif tag != "equal":
            yield _at_line(left, right, part)


def _at_line(left: Side, right: Side, block: _Block) -> _Block:
    """Shift a block of added or dropped lines so that it begins at a line break, if it can."""
    l0, l1, r0, r1 = block
    if l0 != l1 and r0 != r1:
        return block
    side, first, last = (right, r0, r1) if l0 == l1 else (left, l0, l1)
    for by in range(last - first):
        if side.tokens[first + by].kind is TokenKind.LINE:
            return _Block(l0 + by, l1 + by, r0 + by, r1 + by)
        if last + by == len(side.keys) or side.keys[first + by] != side.keys[last + by]:
            break
    return block


def _one_by_one(left: Side, right: Side, block: _Block) -> Iterator[_Block]:
    """Yield the single tokens that differ between two ranges of the same shape."""
    for offset in range(block.l1 - block.l0):
        one = block.within(offset, offset + 1, offset, offset + 1)
        if left.keys[one.l0] != right.keys[one.r0]:
            yield one


def _same_shape(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Whether two stretches differ only in words, numbers and spaces."""
    return len(left) == len(right) and all(
        a.kind is b.kind and (a.kind not in _FIXED or a.text == b.text)
        for a, b in zip(left, right, strict=True)
    )


def described(left: Side, right: Side, blocks: Sequence[_Block]) -> list[Difference]:
    """Describe each stretch: its index, and the text of both sides."""
    lefts = [left.first_value(block.l0, block.l1) for block in blocks]
    rights = [right.first_value(block.r0, block.r1) for block in blocks]
    in_left, in_right = indices(left.tokens, set(lefts)), indices(right.tokens, set(rights))
    return [
        _difference(left, right, block, in_left.get(here) or in_right.get(there) or None)
        for block, here, there in zip(blocks, lefts, rights, strict=True)
    ]


def _difference(
    left: Side, right: Side, block: _Block, index: tuple[int, ...] | None
) -> Difference:
    l0, l1, r0, r1 = block
    left_span, right_span = left.span(l0, l1), right.span(r0, r1)
    difference = Difference(
        documented=left.text[slice(*left_span)],
        executed=right.text[slice(*right_span)],
        index=index,
        documented_span=left_span,
        executed_span=right_span,
    )
    if l0 < l1 and left.tokens[l0].kind is TokenKind.ELISION:
        return replace(difference, note=_ELISIONS[left.tokens[l0].text])
    if not l1 - l0 == r1 - r0 == 1:
        if difference.documented != difference.executed:
            return difference
        side = "documented" if l1 - l0 > r1 - r0 else "executed"
        return replace(difference, note=f"a line break before it is {side}")
    a, b = left.tokens[l0], right.tokens[r0]
    number = a.text != b.text and a.is_number and b.is_number
    gaps = (a.gap, b.gap)
    note = ""
    if a.key[:2] == b.key[:2]:
        note = spaces_note(gaps)
    elif normalize("NFKC", a.text) == normalize("NFKC", b.text):
        note = f"they look alike: {a.text!a} documented, {b.text!a} executed"
    return replace(difference, number=number, gaps=gaps, note=note)


_ELISIONS = {
    ELISION: f"{ELISION} must stand for at least one row, between parts that are shown",
    ANYTHING: f"{ANYTHING} must stand between parts that are printed, in their order",
}


def spaces_note(gaps: tuple[str, str]) -> str:
    """Return how many spaces each side has, for a person."""
    documented, executed = (len(gap) or "no" for gap in gaps)
    if documented == executed:  # a no-break space, say
        return f"white space before it: {gaps[0]!a} documented, {gaps[1]!a} executed"
    return f"spaces before it: {documented} documented, {executed} executed"
