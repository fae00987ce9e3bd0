"""Decide whether printed digits are a rounding of a value.

The digits stand for all values that print like them. A value is taken for one of those if
it is no further from them than rounding explains: a few units in the last place, at the
scale at which the arithmetic was done.
"""

import math
import sys
from decimal import Context, Decimal, InvalidOperation
from enum import Enum
from typing import NamedTuple

UNITS = 16
"""How many units in the last place a value may be from the documented digits, as measured."""

SHORT_UNITS = 2
"""The same for 16-bit formats."""

_THIRD = Decimal("0.4")
_LAST = Decimal("0.1")
"""How many units of its third significant digit a number may be off, and of its last printed one,
however large the numbers beside it are."""

_SHORTEST = 7
"""Numbers of so many digits may be printed with as many as they need."""

_IDENTIFYING = 17
"""How many digits a float64 is known by."""

_EXACT = Context(prec=1_000)
_SLACK = Decimal("1.001")  # the last printed digit is itself rounded, from binary
_EXPONENTS = range(-330, 309)


class FloatKind(Enum):
    """A floating-point format, and the bits of its significand after the point."""

    FLOAT64 = 52
    FLOAT32 = 23
    FLOAT16 = 10
    BFLOAT16 = 7

    @property
    def is_short(self) -> bool:
        """Whether it has 16 bits: its numbers are computed in float32, and rounded once."""
        return self.value < FloatKind.FLOAT32.value

    @property
    def units(self) -> int:
        """How many units in the last place are rounding."""
        return SHORT_UNITS if self.is_short else UNITS


class Origin(NamedTuple):
    """What is known of where a printed number comes from."""

    text: str
    """The number at full precision."""
    kind: FloatKind
    """The format that it was computed in."""
    largest: Decimal
    """The magnitude of the computation."""


def judge_rounding(documented: str, executed: str, origin: Origin) -> tuple[float, str]:
    """Say how far a value is from its documented digits, or why that can't be rounding.

    Args:
        documented: The digits that the page gives.
        executed: The digits that were printed.
        origin: The value at full precision, and what is known of it.

    Returns:
        How many units in the last place it is from the values that print like the documented
        digits, and an objection if it is no rounding of them.

    """
    documented, executed = documented.lower(), executed.lower()
    if objection := _objection(documented, executed, origin):
        return math.inf, objection
    kind = origin.kind
    beyond = _beyond(documented, executed, decimal_of(origin.text))
    units = 0.0
    if beyond:
        units = float(beyond / ulp(origin.largest, kind)) if origin.largest else math.inf
    distance = ""
    if units > kind.units:
        name = kind.name.lower()
        distance = f"{units:.0f} {name} units in the last place too far ({kind.units} allowed)"
    elif beyond > _allowed(documented, origin):
        distance = "too far: in its third significant digit"
    return units, f"the executed value is {origin.text}, {distance}" if distance else ""


def _objection(documented: str, executed: str, origin: Origin) -> str:
    """Say why a number can't be a rounding of the documented one, however near it is."""
    expected, shown, value = (finite_value(text) for text in (documented, executed, origin.text))
    if expected is None or shown is None or value is None:
        return "not finite"
    objection = ""
    is_same = float(shown) == float(value)  # with more digits than those it is known by
    if any(map(_has_digits_of_no_float, (documented, executed))):
        objection = "no float64 has these digits, so each of them counts"
    elif not is_same and abs(shown - value) > half_unit(executed) * _SLACK:
        objection = f"the page printed another value when run again: {origin.text}"
    # `_beyond` says how far a number is from a documented 0.0; but a true 0.0 differs from -0.0.
    elif expected.is_signed() != value.is_signed() and (expected or not value):
        objection = f"the sign differs: {origin.text}"
    elif _has_other_form(documented, executed, origin):
        objection = "printed in another form"
    elif expected != value and _is_never_rounded(documented, executed, origin):
        objection = "whole numbers of this size are exact"
    return objection


def _has_digits_of_no_float(text: str) -> bool:
    """Whether a number has more digits than identify a float64, and they are of none."""
    value = decimal_of(text)
    if len("".join(map(str, value.as_tuple().digits)).strip("0")) <= _IDENTIFYING:
        return False
    nearest = Decimal(float(value))
    return abs(_EXACT.subtract(nearest, value)) > half_unit(text)


def _has_other_form(documented: str, executed: str, origin: Origin) -> bool:
    """Whether one number is imaginary, or has more decimals though its digits are cut."""
    if documented.endswith("j") != executed.endswith("j"):
        return True
    pairs = [text.rstrip("j").partition("e") for text in (documented, executed)]
    decimals = [len(mantissa.partition(".")[2]) for mantissa, _, _ in pairs]
    has_one_notation = pairs[0][1] == pairs[1][1] and all(decimals)
    if not has_one_notation or decimals[0] == decimals[1]:
        return False
    length = max(len(decimal_of(text).as_tuple().digits) for text in (documented, executed))
    value = decimal_of(origin.text)
    needed = max(half_unit(documented), ulp(abs(value), origin.kind))
    is_cut = decimals[1] < decimals[0] and abs(decimal_of(executed) - value) > needed
    return is_cut or length < _SHORTEST


def _is_never_rounded(documented: str, executed: str, origin: Origin) -> bool:
    """Whether a number is a whole one, and so small that its format rounds none."""
    values = [decimal_of(text) for text in (documented, executed, origin.text)]
    are_whole = all(value == value.to_integral_value() for value in values)
    has_exponent = "e" in documented + executed
    return are_whole and not has_exponent and abs(values[-1]) < 2 ** (origin.kind.value + 1)


def _beyond(documented: str, executed: str, value: Decimal) -> Decimal:
    """Return how far a value is from those that print like the documented digits."""
    if ("e" in documented) == ("e" in executed):
        half = min(half_unit(documented), half_unit(executed))
    else:  # their digits can't be compared; `1.` was printed beside other whole numbers
        half = Decimal(0) if documented.endswith(".") else half_unit(documented)
    expected = decimal_of(documented)
    low, high = expected - half, expected + half
    if not expected:  # 0.0000 and -0.0000 are what is left of numbers of that sign
        low, high = (low, expected) if expected.is_signed() else (expected, high)
    return max(low - value, value - high, Decimal(0))


def _allowed(documented: str, origin: Origin) -> Decimal:
    """Return what rounding may add to a number, however large the numbers beside it are.

    It never changes the third significant digit, if there are three and the format has more.
    """
    value = abs(decimal_of(origin.text))
    least = min(filter(None, (abs(decimal_of(documented)), value)), default=Decimal(0))
    third = Decimal(1).scaleb(least.adjusted() - 2) if least else Decimal(0)
    units = origin.kind.units * ulp(value, origin.kind) if value else Decimal(0)
    return max(_THIRD * third, _LAST * 2 * half_unit(documented), units)


def ulp(value: Decimal, kind: FloatKind) -> Decimal:
    """Return the unit in the last place of a number of a format."""
    size = min(float(value), sys.float_info.max)  # of a sum, it may be more
    return Decimal(2) ** (math.frexp(size)[1] - 1 - kind.value)


def decimal_of(text: str) -> Decimal:
    """Return the number that a text says, to the last digit."""
    return Decimal(text.rstrip("j"))


def finite_value(text: str) -> Decimal | None:
    """Return the value of a printed number; None if no float can hold it."""
    try:
        value = decimal_of(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.adjusted() in _EXPONENTS else None


def half_unit(text: str) -> Decimal:
    """Return half a unit of the last digit of a printed number."""
    value = decimal_of(text)
    exponent = value.as_tuple().exponent
    # With an exponent, a zero is a zero and not what is left of a small number.
    if not isinstance(exponent, int) or (not value and "e" in text):
        return Decimal(0)
    return Decimal((0, (5,), exponent - 1))
