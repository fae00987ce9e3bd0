"""Compare a documented output with an executed one, under a policy: standard library only.

Both texts are read into tokens (:mod:`sphinx_drift.compare.tokens`) and compared in order.
*exact* wants every token equal. *portable* also takes a number that prints differently
when the documented digits are a rounding of the executed value within what its format
explains (:mod:`sphinx_drift.compare.rounding`); for that it needs the output at full precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sphinx_drift.compare.differences import Difference, Side, differences_of
from sphinx_drift.compare.lexer import Token, TokenKind, is_integer
from sphinx_drift.compare.precise import Precise
from sphinx_drift.compare.rounding import UNITS, judge_rounding

__all__ = ["UNITS", "Accepted", "Difference", "Policy", "Verdict", "Waiver", "compare"]


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
    stale: tuple[Waiver, ...] = ()
    """Waivers of a value that isn't documented, printed as documented, or has a waiver already."""
    compared: int = 0
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
    remaining, waived, stale = _waive(differences_of(left, right), waivers)
    accepted: list[Accepted] = []
    if policy is Policy.PORTABLE and remaining:
        remaining, accepted = _accept_rounding(remaining, right, precise)
    return Verdict(
        differences=tuple(remaining),
        accepted=tuple(accepted),
        waived=tuple(waived),
        stale=tuple(stale),
        compared=len(left.tokens),
    )


def _waive(
    differences: list[Difference], waivers: Sequence[Waiver]
) -> tuple[list[Difference], list[Waiver], list[Waiver]]:
    """Remove the differences that are waived, one for each waiver."""
    remaining = list(differences)
    waived: list[Waiver] = []
    stale: list[Waiver] = []
    for waiver in waivers:
        same = [d for d in remaining if d.number and d.documented == waiver.documented]
        near = [d for d in same if waiver.index in (None, d.index)]
        match = next((d for d in near if d.executed == waiver.executed), None)
        if match is not None:
            remaining.remove(match)
            waived.append(waiver)
        elif not near:  # else its value is another one by now, which is reported
            stale.append(waiver)
    return remaining, waived, stale


# The portable policy -----------------------------------------------------------------


def _accept_rounding(
    differences: list[Difference], executed: Side, precise: str | None
) -> tuple[list[Difference], list[Accepted]]:
    """Accept the numbers that are the documented ones as far as rounding can tell."""
    output = Precise(precise or "")
    is_aligned = _differ_in_floats_alone(executed.tokens, output.tokens)
    remaining: list[Difference] = []
    accepted: list[Accepted] = []
    for difference in differences:
        texts = (difference.documented, difference.executed)
        if not difference.number or any(map(is_integer, texts)):
            remaining.append(difference)
        elif not is_aligned:
            remaining.append(replace(difference, note="its full precision could not be had"))
        else:
            origin = output.origin(difference.position)
            units, objection = judge_rounding(*texts, origin)
            if objection:
                remaining.append(replace(difference, note=objection))
            else:
                accepted.append(Accepted(difference, origin.text, units))
    return remaining, accepted


def _differ_in_floats_alone(executed: Sequence[Token], precise: Sequence[Token]) -> bool:
    return len(executed) == len(precise) and all(
        a.kind is b.kind and (a.kind is TokenKind.FLOAT or a.text == b.text)
        for a, b in zip(executed, precise, strict=True)
    )
