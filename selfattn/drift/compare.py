"""Compare a documented output with an executed one, under a policy: standard library only.

Both texts are read into tokens (:mod:`selfattn.drift.tokens`) and compared in order.
*exact* wants every token equal. *portable* also takes a number that prints differently
when the documented digits are a rounding of the executed value within what float32
arithmetic explains; for that it needs the output at full precision. *structure* looks at
everything but the digits of floats, for code that is being changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING

from selfattn.drift.floats import FloatKind, ulp_distance
from selfattn.drift.tokens import ELISION, Kind, Token, groups, index_of, plain, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["UNITS", "Accepted", "Difference", "Policy", "Verdict", "Waiver", "compare"]

UNITS = 16
"""How many float32 units beyond its rounding boundary *portable* lets a number be."""

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
    """Whether both are numbers and only the number differs."""
    note: str = ""
    """Why it is not forgiven, where that needs saying."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A number whose text differs and whose value does not, as far as float32 can tell."""

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


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two texts, read."""

    text: str
    tokens: list[Token]

    @classmethod
    def read(cls, text: str) -> _Side:
        return cls(plain(text), tokens(text))

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the characters from token ``first`` up to token ``last``."""
        if first < last:
            return self.tokens[first].start, self.tokens[last - 1].end
        if first < len(self.tokens):
            return self.tokens[first].start, self.tokens[first].start
        return len(self.text), len(self.text)


_Block = tuple[int, int, int, int]
"""A differing stretch: documented tokens from, to; executed tokens from, to."""


def compare(
    documented: str,
    executed: str,
    *,
    policy: Policy = Policy.EXACT,
    precise: str | None = None,
    waivers: Sequence[Waiver] = (),
) -> Verdict:
    """Compare a documented output with an executed one.

    Args:
        documented: What the page says is printed.
        executed: What was printed.
        policy: What a number may differ by.
        precise: The same output printed at full precision. Without it *portable* accepts
            nothing that *exact* refuses.
        waivers: Known differences, each of one element.

    Returns:
        The verdict: what differs, what was accepted or waived, how much was compared.

    Examples:
        >>> compare("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8210])").same
        True
        >>> drift = compare("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8211])")
        >>> [(d.index, d.documented, d.executed) for d in drift.differences]
        [((1,), '0.8210', '0.8211')]

    """
    left, right = _Side.read(documented), _Side.read(executed)
    differences = [_describe(left, right, block) for block in _blocks(left.tokens, right.tokens)]
    accepted: list[Accepted] = []
    if policy is Policy.STRUCTURE:
        differences = [d for d in differences if not _both_floats(d)]
    remaining, waived, unneeded, unmatched = _waive(differences, waivers, left)
    if policy is Policy.PORTABLE and remaining:
        remaining, accepted = _forgive(remaining, left, right, precise)
    return Verdict(
        differences=tuple(remaining),
        accepted=tuple(accepted),
        waived=tuple(waived),
        unneeded=tuple(unneeded),
        unmatched=tuple(unmatched),
        numbers=sum(token.kind in (Kind.INT, Kind.FLOAT) for token in left.tokens),
        tokens=sum(token.kind is not Kind.ELISION for token in left.tokens),
    )


# Alignment ---------------------------------------------------------------------------


def _blocks(left: Sequence[Token], right: Sequence[Token]) -> Iterator[_Block]:
    """Yield the stretches that differ, in order."""
    cuts = [place for place, token in enumerate(left) if token.kind is Kind.ELISION]
    if not cuts:
        yield from _differing(left, right, 0, len(left), 0, len(right))
        return
    yield from _around_elisions(left, right, cuts)


def _around_elisions(
    left: Sequence[Token], right: Sequence[Token], cuts: list[int]
) -> Iterator[_Block]:
    """Compare the shown parts of an output of which rows are left out."""
    starts = [0, *(cut + 1 for cut in cuts)]
    parts = list(zip(starts, [*cuts, len(left)], strict=True))
    at = 0
    for number, (first, last) in enumerate(parts):
        length = last - first
        if number == 0:
            found = 0
        elif number == len(parts) - 1:
            found = len(right) - length
        else:
            found = _search(left[first:last], right, at)
        if found < at or (number and not _is_rows(right[at:found])):
            yield first - (number > 0), last, min(at, len(right)), len(right)
            return
        yield from _differing(left, right, first, last, found, min(found + length, len(right)))
        at = found + length


def _search(part: Sequence[Token], right: Sequence[Token], at: int) -> int:
    """Return where a shown part stands after at least one row, or -1."""
    wanted = [token.key for token in part]
    keys = [token.key for token in right]
    for place in range(at + 1, len(right) - len(part) + 1):
        if keys[place : place + len(part)] == wanted and _is_rows(right[at:place]):
            return place
    return -1


def _is_rows(left_out: Sequence[Token]) -> bool:
    """Whether tokens are whole rows: something is there, and its brackets are closed."""
    depth = 0
    for token in left_out:
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth < 0:
            return False
    return depth == 0 and any(t.kind in (Kind.WORD, Kind.INT, Kind.FLOAT) for t in left_out)


def _differing(  # noqa: PLR0913, PLR0917 - two ranges of two sequences
    left: Sequence[Token], right: Sequence[Token], l0: int, l1: int, r0: int, r1: int
) -> Iterator[_Block]:
    """Yield what differs between two ranges, number by number where only numbers differ."""
    while l0 < l1 and r0 < r1 and left[l0].key == right[r0].key:
        l0, r0 = l0 + 1, r0 + 1
    while l0 < l1 and r0 < r1 and left[l1 - 1].key == right[r1 - 1].key:
        l1, r1 = l1 - 1, r1 - 1
    if l0 == l1 and r0 == r1:
        return
    if _same_shape(left[l0:l1], right[r0:r1]):
        for offset in range(l1 - l0):
            if left[l0 + offset].key != right[r0 + offset].key:
                yield l0 + offset, l0 + offset + 1, r0 + offset, r0 + offset + 1
    elif max(l1 - l0, r1 - r0) > _DIFF_LIMIT:
        yield l0, l1, r0, r1
    else:
        yield from _moved(left, right, l0, l1, r0, r1)


def _moved(  # noqa: PLR0913, PLR0917 - two ranges of two sequences
    left: Sequence[Token], right: Sequence[Token], l0: int, l1: int, r0: int, r1: int
) -> Iterator[_Block]:
    """Yield what was replaced, dropped or added between two ranges."""
    matcher = SequenceMatcher(
        None, [t.key for t in left[l0:l1]], [t.key for t in right[r0:r1]], autojunk=False
    )
    for tag, i0, i1, j0, j1 in matcher.get_opcodes():
        if tag == "equal":
            continue
        block = (l0 + i0, l0 + i1, r0 + j0, r0 + j1)
        if tag == "replace" and _same_shape(left[block[0] : block[1]], right[block[2] : block[3]]):
            for offset in range(i1 - i0):
                if left[block[0] + offset].key != right[block[2] + offset].key:
                    yield (
                        block[0] + offset,
                        block[0] + offset + 1,
                        block[2] + offset,
                        block[2] + offset + 1,
                    )
        else:
            yield block


def _same_shape(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Whether two stretches are equal but for the text of words and numbers."""
    fixed = (Kind.OPEN, Kind.CLOSE, Kind.LINE, Kind.MARK)
    return len(left) == len(right) and all(
        a.kind is b.kind and a.spaced == b.spaced and (a.kind not in fixed or a.text == b.text)
        for a, b in zip(left, right, strict=True)
    )


def _describe(left: _Side, right: _Side, block: _Block) -> Difference:
    """Say where a stretch stands and what each side has there."""
    l0, l1, r0, r1 = block
    left_span, right_span = left.span(l0, l1), right.span(r0, r1)
    one = l1 - l0 == r1 - r0 == 1
    numeric = (Kind.INT, Kind.FLOAT)
    elided = l0 < l1 and left.tokens[l0].kind is Kind.ELISION
    return Difference(
        documented=left.text[slice(*left_span)],
        executed=right.text[slice(*right_span)],
        index=_place(left.tokens, l0, l1) or _place(right.tokens, r0, r1),
        note=f"{ELISION} must stand for at least one row, between parts that are shown" * elided,
        documented_span=left_span,
        executed_span=right_span,
        number=one and left.tokens[l0].kind in numeric and right.tokens[r0].kind in numeric,
    )


def _place(found: Sequence[Token], first: int, last: int) -> tuple[int, ...] | None:
    """Return the index of the first value in a stretch."""
    values = (Kind.WORD, Kind.INT, Kind.FLOAT)
    position = next((i for i in range(first, last) if found[i].kind in values), None)
    return None if position is None else index_of(found, position) or None


# Waivers -----------------------------------------------------------------------------


def _waive(
    differences: list[Difference], waivers: Sequence[Waiver], left: _Side
) -> tuple[list[Difference], list[Waiver], list[Waiver], list[Waiver]]:
    """Take out the differences that are known, one for each waiver."""
    remaining = list(differences)
    waived: list[Waiver] = []
    unneeded: list[Waiver] = []
    unmatched: list[Waiver] = []
    for waiver in waivers:
        known = next((d for d in remaining if _covers(waiver, d)), None)
        if known is not None:
            remaining.remove(known)
            waived.append(waiver)
        elif _stands(waiver, left):
            unneeded.append(waiver)
        else:
            unmatched.append(waiver)
    return remaining, waived, unneeded, unmatched


def _covers(waiver: Waiver, difference: Difference) -> bool:
    return (
        (waiver.documented, waiver.executed) == (difference.documented, difference.executed)
        and difference.number
        and waiver.index in (None, difference.index)
    )


def _stands(waiver: Waiver, left: _Side) -> bool:
    """Whether the waiver's documented value stands where it says."""
    return any(
        token.text == waiver.documented
        and (waiver.index is None or index_of(left.tokens, place) == waiver.index)
        for place, token in enumerate(left.tokens)
    )


# The portable policy -----------------------------------------------------------------


def _both_floats(difference: Difference) -> bool:
    return difference.number and not (
        difference.documented.lstrip("+-").isdecimal()
        or difference.executed.lstrip("+-").isdecimal()
    )


def _forgive(
    differences: list[Difference], left: _Side, right: _Side, precise: str | None
) -> tuple[list[Difference], list[Accepted]]:
    """Accept the numbers that are the documented ones as far as float32 can tell."""
    full = _Side.read(precise) if precise is not None else None
    if full is not None and not _aligned(right.tokens, full.tokens):
        full = None
    remaining: list[Difference] = []
    accepted: list[Accepted] = []
    grouped = groups(right.tokens)
    for difference in differences:
        if not _both_floats(difference):
            remaining.append(difference)
            continue
        if full is None:
            remaining.append(replace(difference, note="its full precision could not be had"))
            continue
        verdict = _judge(difference, right.tokens, full, grouped)
        if isinstance(verdict, Accepted):
            accepted.append(verdict)
        else:
            remaining.append(replace(difference, note=verdict))
    return remaining, accepted


def _aligned(right: Sequence[Token], full: Sequence[Token]) -> bool:
    """Whether the output at full precision is the executed one but for digits of floats."""
    return len(right) == len(full) and all(
        a.kind is b.kind and (a.kind is Kind.FLOAT or a.text == b.text)
        for a, b in zip(right, full, strict=True)
    )


def _judge(
    difference: Difference, executed: Sequence[Token], full: _Side, grouped: Sequence[int]
) -> Accepted | str:
    """Accept one number, or say why not."""
    place = next(i for i, t in enumerate(executed) if t.start == difference.executed_span[0])
    precise = full.tokens[place].text
    try:
        documented, value, printed = (
            Decimal(text.rstrip("j"))
            for text in (difference.documented, precise, difference.executed)
        )
    except InvalidOperation:
        return "not a number"
    if not (documented.is_finite() and value.is_finite() and printed.is_finite()):
        return "not finite"
    if _digits(difference.documented) != _digits(difference.executed):
        return "printed with another number of digits"
    if abs(printed - value) > _half_unit(printed) * Decimal("1.001"):
        return f"the page printed another value when run again: {precise}"
    if documented and value and documented.is_signed() != value.is_signed():
        return "the sign differs"
    mates = [full.tokens[i].text for i in _mates(place, grouped)]
    kind = FloatKind.of(full.tokens, place, mates)
    scale = abs(value) if "e" in precise.lower() or grouped[place] < 0 else _largest(mates)
    units = ulp_distance(abs(documented - value) - _half_unit(documented), scale, kind)
    if units > UNITS:
        return f"the executed value is {precise}, {units:.0f} units in the last place too far ({UNITS} allowed)"
    return Accepted(difference, precise, units)


def _mates(place: int, grouped: Sequence[int]) -> list[int]:
    """Return the places that share the brackets of this one."""
    if grouped[place] < 0:
        return [place]
    return [i for i, group in enumerate(grouped) if group == grouped[place]]


def _largest(texts: Sequence[str]) -> Decimal:
    """Return the largest finite magnitude among the floats of a tensor."""
    values = [abs(Decimal(t.rstrip("j"))) for t in texts if _FLOAT.fullmatch(t)]
    return max(values)


_FLOAT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?")


def _digits(text: str) -> tuple[int, bool]:
    """Return how many digits stand after the point, and whether there is an exponent."""
    mantissa, _, exponent = text.rstrip("j").lower().partition("e")
    return len(mantissa.partition(".")[2]), bool(exponent)


def _half_unit(number: Decimal) -> Decimal:
    """Return half a unit of the last printed digit."""
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # finite, as checked before  # noqa: S101
    return Decimal((0, (5,), exponent - 1))
