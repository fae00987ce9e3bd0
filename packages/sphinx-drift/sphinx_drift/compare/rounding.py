"""Decide whether printed digits are a rounding of a value.

The digits stand for all values that print like them. A value is taken for one of those if
it is no further from them than rounding explains: a few units in the last place, at the
scale at which the arithmetic was done.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.formats import (
    SLACK,
    Form,
    exact,
    finite_value,
    half_unit,
    ulp_distance,
)

if TYPE_CHECKING:
    from sphinx_drift.compare.precise import Origin

_THIRD = Decimal("0.4")
_LAST = Decimal("0.1")
"""How many units of its third significant digit a number may be off, and of its last printed one,
however large the numbers beside it are."""

_SHORTEST = 7
"""Numbers of so many digits that have no more may be printed with as many as they need."""


class Judgement(NamedTuple):
    """Whether a number is a rounding of its documented digits."""

    units: float
    """How far it is from the values that print like them, in units in the last place."""
    objection: str = ""
    """Why it is none."""


def judge(documented: str, executed: str, origin: Origin) -> Judgement:
    """Say how far a value is from its documented digits, or why that can't be rounding.

    Args:
        documented: The digits that the page gives.
        executed: The digits that were printed.
        origin: The value at full precision, and what is known of it.

    """
    objection = _objection(documented, executed, origin)
    if objection:
        return Judgement(math.inf, objection)
    kind = origin.kind
    is_full = executed == origin.text and kind.prints_in_full(documented)
    if not (is_full or origin.is_wider or kind.prints(documented)):
        return Judgement(math.inf, f"no {kind.name.lower()} prints like this")
    is_same = exact(documented) == exact(origin.text)
    if _are_whole(documented, executed) and kind.sums_exactly(exact(origin.text)) and not is_same:
        return Judgement(math.inf, "whole numbers of this size are exact")
    beyond = _beyond(documented, executed, origin, is_full=is_full)
    units = ulp_distance(beyond, origin.largest, kind)
    if units > kind.units:
        distance = f"{units:.0f} {kind.name.lower()} units in the last place too far"
        reason = f"the executed value is {origin.text}, {distance} ({kind.units} allowed)"
        return Judgement(units, reason)
    if beyond > _most(documented, origin):
        reason = f"the executed value is {origin.text}, too far: in its third significant digit"
        return Judgement(units, reason)
    return Judgement(units)


def _objection(documented: str, executed: str, origin: Origin) -> str:
    """Say why a number can't be a rounding of the documented one, however near it is."""
    expected, printed, value = (finite_value(text) for text in (documented, executed, origin.text))
    if expected is None or printed is None or value is None:
        return "not finite"
    if abs(printed - value) > half_unit(executed) * SLACK:
        return f"the page printed another value when run again: {origin.text}"
    if (expected or not value) and expected.is_signed() != value.is_signed():
        return f"the sign differs: {origin.text}"
    forms = Form.of(documented), Form.of(executed)
    if forms[0] == forms[1]:
        is_other_zero = forms[0].has_exponent and expected.as_tuple() != printed.as_tuple()
        return "a zero of another form" if is_other_zero and not expected else ""
    if forms[0].letters != forms[1].letters:
        is_explained = False
    elif origin.is_in_tensor:  # its numbers have one form, which rounding may change
        is_explained = len({form.decimals for form in forms if not form.is_whole}) == 1
    else:
        digits = (len(exact(text).as_tuple().digits) for text in (documented, executed))
        is_explained = max(digits) >= _SHORTEST
    return "" if is_explained else "printed in another form"


def _are_whole(*texts: str) -> bool:
    """Whether numbers have nothing after the point, and no exponent."""
    return all("e" not in t.lower() and exact(t) == exact(t).to_integral_value() for t in texts)


def _beyond(documented: str, executed: str, origin: Origin, *, is_full: bool) -> Decimal:
    """Return how far a value is from those that print like the documented digits."""
    forms = Form.of(documented), Form.of(executed)
    if is_full or (origin.is_in_tensor and forms[0] != forms[1] and forms[0].is_whole):
        half = Decimal(0)
    elif origin.is_in_tensor and forms[0] != forms[1]:
        half = half_unit(documented)
    else:
        half = min(map(half_unit, (documented, executed)))
    expected, value = exact(documented), exact(origin.text)
    low, high = expected - half, expected + half
    if not expected:  # 0.0000 and -0.0000 are what is left of numbers of that sign
        low, high = (low, expected) if expected.is_signed() else (expected, high)
    return max(low - value, value - high, Decimal(0))


def _most(documented: str, origin: Origin) -> Decimal:
    """Return what rounding may add to a number, however large the numbers beside it are.

    That never changes its third significant digit, if it has as many and its format has more.
    """
    value = abs(exact(origin.text))
    least = min(filter(None, (abs(exact(documented)), value)), default=Decimal(0))
    third = Decimal(1).scaleb(least.adjusted() - 2) if least else Decimal(0)
    digits = origin.kind.value
    own = Decimal(2) ** (math.frexp(float(value))[1] - 1 - digits) if value else Decimal(0)
    return max(_THIRD * third, _LAST * 2 * half_unit(documented), origin.kind.units * own)
