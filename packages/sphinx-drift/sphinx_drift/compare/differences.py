"""Find where two outputs differ: token by token, or in stretches that were added or removed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple, Self

from sphinx_drift.compare.brackets import indices
from sphinx_drift.compare.lexer import Token, TokenKind, plain
from sphinx_drift.compare.tokens import read_tokens

_MOST_STEPS = 4_000_000
"""Stretches that would take more steps than these, half a second, aren't searched for what moved.

For each token that stayed, all pairs of equal tokens may be looked at.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the two outputs are not the same."""

    documented: str
    """The documented text there; empty if nothing is documented."""
    executed: str
    """The executed text there; empty if nothing was printed."""
    index: tuple[int, ...] | None
    """Its index in the brackets around it, counted from 0; None outside brackets."""
    position: int
    """Which token of the executed text is its first."""
    documented_span: tuple[int, int]
    executed_span: tuple[int, int]
    number: bool = False
    """Whether both are numbers, not the same, and the white space before them is."""
    note: str = ""
    """Why it is not accepted, if that needs an explanation."""


_Key = tuple[TokenKind, str, str]


@dataclass(frozen=True)
class Side:
    """One of the two texts, as tokens."""

    text: str
    tokens: Sequence[Token]
    keys: list[_Key]

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a text into tokens."""
        tokens = read_tokens(text)
        return cls(plain(text), tokens, [token.key for token in tokens])

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the characters from token ``first`` up to token ``last``."""
        if first < last:
            return self.tokens[first].start, self.tokens[last - 1].end
        if first < len(self.tokens):
            return self.tokens[first].start, self.tokens[first].start
        return len(self.text), len(self.text)

    def first_value(self, first: int, last: int) -> int:
        """Return the position of the first word or number of a stretch; -1 if there is none."""
        return next((i for i in range(first, last) if self.tokens[i].kind in _VALUE_KINDS), -1)


_VALUE_KINDS = (TokenKind.WORD, TokenKind.INT, TokenKind.FLOAT)
_FIXED_KINDS = (TokenKind.OPEN, TokenKind.CLOSE, TokenKind.LINE, TokenKind.PUNCTUATION)


class _Block(NamedTuple):
    """A differing stretch: documented tokens l0 to l1, executed tokens r0 to r1."""

    l0: int
    l1: int
    r0: int
    r1: int


def differences_of(left: Side, right: Side) -> list[Difference]:
    """Return where two texts differ, in order."""
    blocks = list(_blocks(left, right))
    lefts = [left.first_value(block.l0, block.l1) for block in blocks]
    rights = [right.first_value(block.r0, block.r1) for block in blocks]
    in_left, in_right = indices(left.tokens, set(lefts)), indices(right.tokens, set(rights))
    return [
        _difference(left, right, block, in_left.get(here) or in_right.get(there) or None)
        for block, here, there in zip(blocks, lefts, rights, strict=True)
    ]


def _blocks(left: Side, right: Side) -> Iterator[_Block]:
    """Yield the stretches that differ, in order, number by number where only numbers differ."""
    first = 0
    ends = len(left.keys), len(right.keys)
    while first < min(ends) and left.keys[first] == right.keys[first]:
        first += 1
    last = 0  # counted from the end
    while last < min(ends) - first and left.keys[~last] == right.keys[~last]:
        last += 1
    block = _Block(first, ends[0] - last, first, ends[1] - last)
    if _same_shape(left, right, block):
        yield from _one_by_one(left, right, block)
    else:
        yield from _moved(left, right, block)


def _moved(left: Side, right: Side, block: _Block) -> Iterator[_Block]:
    """Yield what was replaced, dropped or added in a range."""
    l0, l1, r0, r1 = block
    matcher = SequenceMatcher(None, left.keys[l0:l1], right.keys[r0:r1])
    positions: dict[_Key, list[int]] = matcher.b2j  # type: ignore[attr-defined]  # documented
    pairs = sum(len(positions.get(key, ())) for key in left.keys[l0:l1])
    if pairs * min(l1 - l0, r1 - r0) > _MOST_STEPS:
        yield block
        return
    for tag, *at in matcher.get_opcodes():
        stretch = _Block(l0 + at[0], l0 + at[1], r0 + at[2], r0 + at[3])
        if tag == "replace" and _same_shape(left, right, stretch):
            yield from _one_by_one(left, right, stretch)
        elif tag != "equal":
            yield stretch


def _one_by_one(left: Side, right: Side, block: _Block) -> Iterator[_Block]:
    """Yield the single tokens that differ between two ranges of the same shape."""
    for here, there in zip(range(block.l0, block.l1), range(block.r0, block.r1), strict=True):
        if left.keys[here] != right.keys[there]:
            yield _Block(here, here + 1, there, there + 1)


def _same_shape(left: Side, right: Side, block: _Block) -> bool:
    """Whether two stretches differ only in words, numbers and spaces."""
    ours, theirs = left.tokens[block.l0 : block.l1], right.tokens[block.r0 : block.r1]
    return len(ours) == len(theirs) and all(
        a.kind is b.kind and (a.kind not in _FIXED_KINDS or a.text == b.text)
        for a, b in zip(ours, theirs, strict=True)
    )


def _difference(
    left: Side, right: Side, block: _Block, index: tuple[int, ...] | None
) -> Difference:
    l0, l1, r0, r1 = block
    left_span, right_span = left.span(l0, l1), right.span(r0, r1)
    difference = Difference(
        documented=left.text[slice(*left_span)],
        executed=right.text[slice(*right_span)],
        index=index,
        position=r0,
        documented_span=left_span,
        executed_span=right_span,
    )
    if not l1 - l0 == r1 - r0 == 1:
        if difference.documented != difference.executed:
            return difference
        side = "documented" if l1 - l0 > r1 - r0 else "executed"
        return replace(difference, note=f"a line break before it is {side}")
    a, b = left.tokens[l0], right.tokens[r0]
    is_number = a.text != b.text and a.is_number and b.is_number and a.gap == b.gap
    note = ""
    if a.gap != b.gap:
        note = f"spaces before it: {_spaces(a.gap)} documented, {_spaces(b.gap)} executed"
    return replace(difference, number=is_number, note=note)


def _spaces(gap: str) -> str:
    """Return how many spaces there are, or which others, for a person."""
    return ascii(gap) if gap.strip(" ") else str(len(gap) or "no")
