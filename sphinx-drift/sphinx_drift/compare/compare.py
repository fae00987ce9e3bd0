"""Compare a documented output with an executed one, under a policy: standard library only.

Both texts are read into tokens (:mod:`sphinx_drift.compare.tokens`) and compared in order.
*exact* wants every token equal. *portable* also takes a number that prints differently
when the documented digits are a rounding of the executed value within what its format
explains (:mod:`sphinx_drift.compare.floats`); for that it needs the output at full precision.
*structure* looks at everything but the digits of floats, for code that is being changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.alignment import Layout, moved_by_numbers
from sphinx_drift.compare.floats import UNITS, Precise
from sphinx_drift.compare.tokens import ELISION, Token, TokenKind, indices, plain, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sphinx_drift.compare.alignment import Pair

__all__ = ["ANYTHING", "UNITS", "Accepted", "Difference", "Policy", "Verdict", "Waiver", "compare"]

ANYTHING = "..."
"""In a doctest with ``+ELLIPSIS`` it stands for any text."""

_MARK = "\N{INVISIBLE SEPARATOR}"

_DIFF_LIMIT = 4_000
"""Differing stretches longer than this many tokens are not searched for what moved."""


class Policy(StrEnum):
    """What a number may differ by."""

    EXACT = "exact"
    PORTABLE = "portable"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class Waiver:
    """A known difference of one element, and why it is known."""

    documented: str
    executed: str
    reason: str
    index: tuple[int, ...] | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the two outputs are not the same."""

    documented: str
    """The documented text there; empty if nothing is documented."""
    executed: str
    """The executed text there; empty if nothing was printed."""
    index: tuple[int, ...] | None
    """Where it stands in the brackets around it, counted from 0; None outside brackets."""
    documented_span: tuple[int, int]
    executed_span: tuple[int, int]
    number: bool = False
    """Whether both are numbers, and not the same."""
    gaps: tuple[str, str] = ("", "")
    """The white space before each, where each is one piece."""
    note: str = ""
    """Why it is not forgiven, where that needs saying."""

    @property
    def moved(self) -> int:
        """By how many columns it stands nearer to or further from what is before it."""
        return abs(len(self.gaps[0]) - len(self.gaps[1]))


@dataclass(frozen=True, slots=True)
class Accepted:
    """A number whose text differs and whose value does not, as far as its format can tell."""

    difference: Difference
    precise: str
    """The executed value at full precision."""
    units: float
    """How far beyond its rounding boundary it is, in units in the last place."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison found."""

    differences: tuple[Difference, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    waived: tuple[Waiver, ...] = ()
    unneeded: tuple[Waiver, ...] = ()
    """Waivers whose element printed as documented."""
    unmatched: tuple[Waiver, ...] = ()
    """Waivers whose documented value stands nowhere in the documented output."""
    numbers: int = 0
    """How many documented numbers were compared."""
    tokens: int = 0
    """How many documented tokens were compared."""

    @property
    def same(self) -> bool:
        """Whether nothing differs but what is accepted or waived."""
        return not self.differences


_Key = tuple[TokenKind, str, str]


@dataclass(frozen=True, slots=True)
class _Side(Layout):
    """One of the two texts, read."""

    keys: list[_Key]

    @classmethod
    def read(cls, text: str, elision: str, *, flowing: bool) -> _Side:
        result = tokens(text, elisions=elision == ELISION, flowing=flowing)
        if elision == ANYTHING:
            result = [
                token._replace(kind=TokenKind.ELISION) if token.text == ANYTHING else token
                for token in result
            ]
        return cls(plain(text), result, [token.key for token in result])

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


def compare(  # noqa: PLR0913 - all but the first two have a default
    documented: str,
    executed: str,
    *,
    policy: Policy = Policy.EXACT,
    precise: str | None = None,
    waivers: Sequence[Waiver] = (),
    elision: str = ELISION,
    flowing: bool = False,
) -> Verdict:
    """Compare a documented output with an executed one.

    Args:
        documented: What the page says is printed.
        executed: What was printed.
        policy: What a number may differ by.
        precise: The same output printed at full precision. Without it *portable* accepts
            nothing that *exact* refuses.
        waivers: Known differences, each of one element.
        elision: What stands for something that is not shown: a vertical ellipsis alone on a
            line for rows, :data:`ANYTHING` for any text; an empty text if nothing does.
        flowing: Whether line breaks and repeated spaces say nothing anywhere.

    Returns:
        What differs, what was accepted or waived, and how much was compared.

    Examples:
        >>> compare("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8210])").same
        True
        >>> drift = compare("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8211])")
        >>> [(d.index, d.documented, d.executed) for d in drift.differences]
        [((1,), '0.8210', '0.8211')]

    """
    if plain(executed) == plain(documented):
        left = right = _Side.read(executed, "", flowing=flowing)  # what it elides, it printed
    else:
        left = _Side.read(documented, elision, flowing=flowing)
        right = _Side.read(executed, "", flowing=flowing)
    differences = _described(left, right, list(_blocks(left, right, rows=elision == ELISION)))
    remaining, waived, unneeded, unmatched = _waive(differences, waivers, left)
    accepted: list[Accepted] = []
    if policy is Policy.STRUCTURE:
        remaining = [d for d in remaining if not _both_floats(d)]
        unneeded = []  # the digits that would say so are not looked at
    elif policy is Policy.PORTABLE and remaining:
        remaining, accepted = _forgive(remaining, right, precise)
    remaining = list(_misplaced(differences, remaining, left, right))
    return Verdict(
        differences=tuple(remaining),
        accepted=tuple(accepted),
        waived=tuple(waived),
        unneeded=tuple(unneeded),
        unmatched=tuple(unmatched),
        numbers=sum(token.is_number for token in left.tokens),
        tokens=_count(left.tokens),
    )


def _count(documented: Sequence[Token]) -> int:
    """Return how many tokens were compared: none, where only ends of lines are between elisions."""
    kinds = [token.kind for token in documented if token.kind is not TokenKind.ELISION]
    return len(kinds) if any(kind is not TokenKind.LINE for kind in kinds) else 0


# Alignment ---------------------------------------------------------------------------


def _blocks(left: _Side, right: _Side, *, rows: bool) -> Iterator[_Block]:
    """Yield the stretches that differ, in order."""
    cuts = [place for place, token in enumerate(left.tokens) if token.kind is TokenKind.ELISION]
    if cuts:
        yield from _around_elisions(left, right, cuts, rows=rows)
    elif left.keys != right.keys:
        yield from _differing(left, right, _Block(0, len(left.keys), 0, len(right.keys)))


def _around_elisions(left: _Side, right: _Side, cuts: list[int], *, rows: bool) -> Iterator[_Block]:
    """Compare the shown parts of an output of which rows, or any tokens, are left out."""
    end = len(right.keys)
    firsts, lasts = [0, *(cut + 1 for cut in cuts)], [*cuts, len(left.keys)]
    at = 0
    for first, last in zip(firsts, lasts, strict=True):
        length = last - first
        places = _row_ends(right, at) if rows else range(at, end + 1)
        if not first:
            start: int | None = 0
        elif last == len(left.keys):
            start = next((p for p in places if p == end - length), None)
        else:
            start = _search(left, right, first, last, places)
        if start is None:
            yield _Block(first - 1, last, min(at, end), end)
            return
        at = min(start + length, end)
        yield from _differing(left, right, _Block(first, last, start, at))


def _search(left: _Side, right: _Side, first: int, last: int, places: Iterable[int]) -> int | None:
    """Return where a shown part stands among some places, as like it as there is one."""
    length = last - first
    part, keys = left.tokens[first:last], left.keys[first:last]
    ends = [p for p in places if p + length <= len(right.keys)]
    for place in ends:
        if right.keys[place : place + length] == keys:
            return place
    alike = (p for p in ends if _same_shape(part, right.tokens[p : p + length]))
    return min(alike, key=lambda p: _unequal(keys, right.keys[p : p + length]), default=None)


def _unequal(left: Sequence[_Key], right: Sequence[_Key]) -> int:
    return sum(a != b for a, b in zip(left, right, strict=True))


def _row_ends(right: _Side, at: int) -> Iterator[int]:
    """Yield where whole rows that begin at a token can end: something is there, and closed."""
    depth = 0
    something = False
    for place in range(at, len(right.tokens)):
        token = right.tokens[place]
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if depth < 0:
            return
        something = something or token.kind in _VALUES
        if something and not depth:
            yield place + 1


def _differing(left: _Side, right: _Side, block: _Block) -> Iterator[_Block]:
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


def _moved(left: _Side, right: _Side, block: _Block) -> Iterator[_Block]:
    """Yield what was replaced, dropped or added between two ranges."""
    l0, l1, r0, r1 = block
    for tag, *offsets in SequenceMatcher(None, left.keys[l0:l1], right.keys[r0:r1]).get_opcodes():
        part = block.within(*offsets)
        if tag == "replace" and _same_shape(
            left.tokens[part.l0 : part.l1], right.tokens[part.r0 : part.r1]
        ):
            yield from _one_by_one(left, right, part)
        elif tag != "equal":
            yield _at_line(left, right, part)


def _at_line(left: _Side, right: _Side, block: _Block) -> _Block:
    """Move lines that were dropped or added to where they begin, if they may stand there too."""
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


def _one_by_one(left: _Side, right: _Side, block: _Block) -> Iterator[_Block]:
    """Yield the single tokens that differ between two ranges of the same shape."""
    for offset in range(block.l1 - block.l0):
        one = block.within(offset, offset + 1, offset, offset + 1)
        if left.keys[one.l0] != right.keys[one.r0]:
            yield one


def _same_shape(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Whether two stretches are equal but for the text of words and numbers, and for spaces."""
    return len(left) == len(right) and all(
        a.kind is b.kind and (a.kind not in _FIXED or a.text == b.text)
        for a, b in zip(left, right, strict=True)
    )


def _described(left: _Side, right: _Side, blocks: Sequence[_Block]) -> list[Difference]:
    """Say for each stretch where it stands and what each side has there."""
    lefts = [left.first_value(block.l0, block.l1) for block in blocks]
    rights = [right.first_value(block.r0, block.r1) for block in blocks]
    in_left, in_right = indices(left.tokens, set(lefts)), indices(right.tokens, set(rights))
    return [
        _difference(left, right, block, in_left.get(here) or in_right.get(there) or None)
        for block, here, there in zip(blocks, lefts, rights, strict=True)
    ]


def _difference(
    left: _Side, right: _Side, block: _Block, index: tuple[int, ...] | None
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
        return difference
    a, b = left.tokens[l0], right.tokens[r0]
    number = a.text != b.text and a.is_number and b.is_number
    gaps = (a.gap, b.gap)
    note = _note(gaps) if a.key[:2] == b.key[:2] else ""
    return replace(difference, number=number, gaps=gaps, note=note)


_ELISIONS = {
    ELISION: f"{ELISION} must stand for at least one row, between parts that are shown",
    ANYTHING: f"{ANYTHING} must stand between parts that are printed, in their order",
}


def _note(gaps: tuple[str, str]) -> str:
    documented, executed = (len(gap) or "no" for gap in gaps)
    return f"spaces before it: {documented} documented, {executed} executed"


# Waivers -----------------------------------------------------------------------------


def _waive(
    differences: list[Difference], waivers: Sequence[Waiver], left: _Side
) -> tuple[list[Difference], list[Waiver], list[Waiver], list[Waiver]]:
    """Take out the differences that are known, one for each waiver."""
    remaining = list(differences)
    differ = {difference.documented_span[0] for difference in differences}
    waived: list[Waiver] = []
    unneeded: list[Waiver] = []
    unmatched: list[Waiver] = []
    for waiver in waivers:
        match = next((d for d in remaining if _covers(waiver, d)), None)
        places = _standing(waiver, left)
        if match is not None:
            remaining.remove(match)
            waived.append(waiver)
        elif not places:
            unmatched.append(waiver)
        elif not places <= differ:
            unneeded.append(waiver)
    return remaining, waived, unneeded, unmatched


def _covers(waiver: Waiver, difference: Difference) -> bool:
    return (
        (waiver.documented, waiver.executed) == (difference.documented, difference.executed)
        and difference.number
        and waiver.index in (None, difference.index)
    )


def _standing(waiver: Waiver, left: _Side) -> set[int]:
    """Return where the waiver's documented value begins, if it is where the waiver says."""
    places = {i for i, token in enumerate(left.tokens) if token.text == waiver.documented}
    if waiver.index is not None:
        places = {i for i, index in indices(left.tokens, places).items() if index == waiver.index}
    return {left.tokens[place].start for place in places}


# What is forgiven -----------------------------------------------------------------------


def _misplaced(
    differences: Sequence[Difference], remaining: Sequence[Difference], left: _Side, right: _Side
) -> Iterator[Difference]:
    """Yield what is left when spaces are forgiven that a wider or narrower number moved."""
    if not differences:
        return
    remaining_by_span = {d.documented_span: d for d in remaining}
    places = _places(left), _places(right)
    numbers: dict[tuple[int, int], Pair] = {}
    spaces: dict[tuple[int, int], Pair] = {}
    for difference in differences:
        span = difference.documented_span
        pair = places[0].get(span[0], -1), places[1].get(difference.executed_span[0], -1)
        if span not in remaining_by_span:
            numbers[span] = pair
        if difference.moved and (span not in remaining_by_span or _only_space(difference)):
            spaces[span] = pair
    moved = moved_by_numbers(left, right, numbers.values(), spaces.values()) if numbers else set()
    for difference in differences:
        span = difference.documented_span
        if span in spaces and spaces[span] not in moved:
            yield replace(difference, note=_note(difference.gaps))
        elif span in remaining_by_span and span not in spaces:
            yield remaining_by_span[span]


def _places(side: _Side) -> dict[int, int]:
    """Return which token begins at a place: a line break begins where the token after it does."""
    return {token.start: place for place, token in enumerate(side.tokens)}


def _only_space(difference: Difference) -> bool:
    return difference.documented == difference.executed


# The portable policy -----------------------------------------------------------------


def _both_floats(difference: Difference) -> bool:
    return difference.number and not (
        difference.documented.lstrip("+-").isdecimal()
        or difference.executed.lstrip("+-").isdecimal()
    )


def _forgive(
    differences: list[Difference], right: _Side, precise: str | None
) -> tuple[list[Difference], list[Accepted]]:
    """Accept the numbers that are the documented ones as far as rounding can tell."""
    use_precise = precise is not None and any(map(_both_floats, differences))
    text, marks = without_marks(plain(precise or ""))
    full = tokens(text) if use_precise else []
    judge = Precise(full, marks) if _aligned(right.tokens, full) else None
    places = _places(right)
    remaining: list[Difference] = []
    accepted: list[Accepted] = []
    for difference in differences:
        if not _both_floats(difference):
            remaining.append(difference)
        elif judge is None:
            remaining.append(replace(difference, note="its full precision could not be had"))
        else:
            place = places[difference.executed_span[0]]
            units = judge.judge(place, difference.documented, difference.executed)
            if isinstance(units, str):
                remaining.append(replace(difference, note=units))
            else:
                accepted.append(Accepted(difference, full[place].text, units))
    return remaining, accepted


def without_marks(precise: str) -> tuple[str, dict[int, str]]:
    """Take out what print_full_precision has marked, and return what stood where."""
    pieces = precise.split(_MARK)
    shown, marked = pieces[::2], pieces[1::2]
    return "".join(shown), dict(zip(accumulate(map(len, shown)), marked, strict=False))


def _aligned(right: Sequence[Token], full: Sequence[Token]) -> bool:
    """Whether the output at full precision is the executed one but for digits of floats."""
    return len(right) == len(full) and all(
        a.kind is b.kind and (a.kind is TokenKind.FLOAT or a.text == b.text)
        for a, b in zip(right, full, strict=True)
    )
