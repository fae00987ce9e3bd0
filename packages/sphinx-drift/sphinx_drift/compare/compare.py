"""Compare a documented output with an executed one, under a policy: standard library only.

Both texts are read into tokens (:mod:`sphinx_drift.compare.tokens`) and compared in order.
*exact* wants every token equal. *portable* also takes a number that prints differently
when the documented digits are a rounding of the executed value within what its format
explains (:mod:`sphinx_drift.compare.rounding`); for that it needs the output at full precision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING

from sphinx_drift.compare.brackets import indices
from sphinx_drift.compare.differences import Difference, Side, blocks, described, spaces_note
from sphinx_drift.compare.formats import UNITS
from sphinx_drift.compare.lexer import Token, TokenKind, plain
from sphinx_drift.compare.precise import Precise
from sphinx_drift.compare.rounding import judge
from sphinx_drift.compare.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["UNITS", "Accepted", "Difference", "Policy", "Verdict", "Waiver", "compare"]

_MARK = "\N{INVISIBLE SEPARATOR}"


class Policy(StrEnum):
    """What a number may differ by."""

    EXACT = "exact"
    PORTABLE = "portable"


@dataclass(frozen=True, slots=True)
class Waiver:
    """A known difference of one element, and why it is known."""

    documented: str
    executed: str
    reason: str
    index: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A number whose text differs by rounding."""

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
    """Waivers whose element printed as documented, or has a waiver already."""
    unmatched: tuple[Waiver, ...] = ()
    """Waivers whose documented value is nowhere in the documented output."""
    tokens: int = 0
    """How many documented tokens were compared."""

    @property
    def same(self) -> bool:
        """Whether nothing differs but what is accepted or waived."""
        return not self.differences


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
        What differs, what was accepted or waived, and how much was compared.

    Examples:
        >>> compare("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8210])").same
        True
        >>> drift = compare("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8211])")
        >>> [(d.index, d.documented, d.executed) for d in drift.differences]
        [((1,), '0.8210', '0.8211')]

    """
    left, right = map(Side.read, (documented, executed))
    differences = described(left, right, list(blocks(left, right)))
    remaining, waived, unneeded, unmatched = _waive(differences, waivers, left)
    accepted: list[Accepted] = []
    if policy is Policy.PORTABLE and remaining:
        remaining, accepted = _accept_rounding(remaining, right, precise)
    remaining = list(_without_moved_spaces(differences, remaining))
    return Verdict(
        differences=tuple(remaining),
        accepted=tuple(accepted),
        waived=tuple(waived),
        unneeded=tuple(unneeded),
        unmatched=tuple(unmatched),
        tokens=len(left.tokens),
    )


# Waivers -----------------------------------------------------------------------------


def _waive(
    differences: list[Difference], waivers: Sequence[Waiver], left: Side
) -> tuple[list[Difference], list[Waiver], list[Waiver], list[Waiver]]:
    """Remove the differences that are waived, one for each waiver."""
    remaining = list(differences)
    waived: list[Waiver] = []
    unneeded: list[Waiver] = []
    unmatched: list[Waiver] = []
    for waiver in waivers:
        match = next((d for d in remaining if _covers(waiver, d)), None)
        places = _places_of(waiver, left)
        if match is not None:
            remaining.remove(match)
            waived.append(waiver)
        elif not places:
            unmatched.append(waiver)
        elif not places <= {difference.places[0] for difference in remaining}:
            unneeded.append(waiver)
    return remaining, waived, unneeded, unmatched


def _covers(waiver: Waiver, difference: Difference) -> bool:
    return (
        (waiver.documented, waiver.executed) == (difference.documented, difference.executed)
        and difference.number
        and waiver.index in (None, difference.index)
    )


def _places_of(waiver: Waiver, left: Side) -> set[int]:
    """Return which tokens are the waiver's documented value, at its index if it has one."""
    places = {i for i, token in enumerate(left.tokens) if token.text == waiver.documented}
    if waiver.index is not None:
        places = {i for i, index in indices(left.tokens, places).items() if index == waiver.index}
    return places


# What is forgiven -----------------------------------------------------------------------


def _without_moved_spaces(
    differences: Sequence[Difference], remaining: Sequence[Difference]
) -> Iterator[Difference]:
    """Leave out forgiven numbers, and the spaces that only make room for them.

    A number that prints with fewer digits frees columns: for the space before it where columns
    are aligned on the right, for the space before the next token where they are on the left.
    """
    wrong = {difference.places: difference for difference in remaining}
    freed = {
        difference.places[0]: len(difference.documented) - len(difference.executed)
        for difference in differences
        if difference.places not in wrong
    }
    for difference in differences:
        place = difference.places[0]
        is_forgiven = difference.places not in wrong
        if difference.moved and (is_forgiven or difference.documented == difference.executed):
            columns = [freed.get(near, 0) for near in (place - 1, place)]
            least, most = (
                sum(min(0, each) for each in columns),
                sum(max(0, each) for each in columns),
            )
            if not least <= difference.moved <= most:
                yield replace(difference, note=spaces_note(difference.gaps))
        elif not is_forgiven:
            yield wrong[difference.places]


# The portable policy -----------------------------------------------------------------


def _both_floats(difference: Difference) -> bool:
    return difference.number and not (
        difference.documented.lstrip("+-").isdecimal()
        or difference.executed.lstrip("+-").isdecimal()
    )


def _accept_rounding(
    differences: list[Difference], right: Side, precise: str | None
) -> tuple[list[Difference], list[Accepted]]:
    """Accept the numbers that are the documented ones as far as rounding can tell."""
    use_precise = precise is not None and any(map(_both_floats, differences))
    text, marks = without_marks(plain(precise or ""))
    full = tokens(text) if use_precise else []
    output = Precise(full, marks) if _aligned(right.tokens, full) else None
    remaining: list[Difference] = []
    accepted: list[Accepted] = []
    for difference in differences:
        if not _both_floats(difference):
            remaining.append(difference)
        elif output is None:
            remaining.append(replace(difference, note="its full precision could not be had"))
        else:
            origin = output.origin(difference.places[1])
            units, objection = judge(difference.documented, difference.executed, origin)
            if objection:
                remaining.append(replace(difference, note=objection))
            else:
                accepted.append(Accepted(difference, origin.text, units))
    return remaining, accepted


def without_marks(precise: str) -> tuple[str, dict[int, str]]:
    """Remove the marks of print_full_precision; return the text, and each mark by its position."""
    pieces = precise.replace(r"\u2063", _MARK).split(_MARK)  # as in a list of texts
    shown, marked = pieces[::2], pieces[1::2]
    return "".join(shown), dict(zip(accumulate(map(len, shown)), marked, strict=False))


def _aligned(right: Sequence[Token], full: Sequence[Token]) -> bool:
    """Whether the output at full precision differs from the executed one in floats alone."""
    return len(right) == len(full) and all(
        a.kind is b.kind and (a.kind is TokenKind.FLOAT or a.text == b.text)
        for a, b in zip(right, full, strict=True)
    )
