"""Floating-point formats, and the digits by which numbers are printed."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import NamedTuple

UNITS = 16
"""How many units in the last place a value may be from the documented digits, as measured."""

SHORT_UNITS = 2
"""The same for 16-bit formats: computed in float32, they are rounded once."""

SLACK = Decimal("1.001")  # the last printed digit is itself rounded, from binary
_EXPONENTS = range(-330, 308)
_FLOAT32_END = 2.0**128


class FloatKind(Enum):
    """A floating-point format, and the bits of its significand after the point."""

    FLOAT64 = 52
    FLOAT32 = 23
    FLOAT16 = 10
    BFLOAT16 = 7

    @property
    def units(self) -> int:
        """How many units in the last place are rounding."""
        return UNITS if self.value >= FloatKind.FLOAT32.value else SHORT_UNITS

    def nearest(self, value: Decimal) -> float:
        """Return the number of this format that is nearest to a value."""
        mantissa, exponent = math.frexp(float(value))
        bits = self.value + 1
        nearest = math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)
        beyond = self is FloatKind.FLOAT32 and abs(nearest) >= _FLOAT32_END
        return math.inf if beyond else nearest

    def sums_exactly(self, value: Decimal) -> bool:
        """Whether a number is whole and so small that every sum of such numbers is exact."""
        return value == value.to_integral_value() and abs(value) < 2 ** (self.value + 1)

    def prints(self, text: str) -> bool:
        """Whether a number of this format can print like this when its digits are cut."""
        value = exact(text)
        return abs(Decimal(self.nearest(value)) - value) <= half_unit(text) * SLACK

    def prints_in_full(self, text: str) -> bool:
        """Whether these are the shortest digits that identify a number of this format."""
        value = exact(text)
        number = self.nearest(value)
        if math.isinf(number):
            return False
        shortest = (f"{number:.{digits}g}" for digits in range(1, 18))
        own = next(t for t in shortest if self.nearest(Decimal(t)) == number)
        return value in (Decimal(own), Decimal(repr(number)))


def ulp_distance(beyond: Decimal, scale: Decimal, kind: FloatKind) -> float:
    """Return a distance in units in the last place of a number of magnitude ``scale``.

    Args:
        beyond: The distance; what is below zero counts as none.
        scale: The magnitude at which the arithmetic was done.
        kind: The format it was done in.

    Examples:
        >>> ulp_distance(Decimal(2) ** -23, Decimal(1), FloatKind.FLOAT32)
        1.0

    """
    if beyond <= 0:
        return 0.0
    if not scale:
        return math.inf
    exponent = math.frexp(float(scale))[1] - 1
    return float(beyond / Decimal(2) ** (exponent - kind.value))


class Form(NamedTuple):
    """How a number is printed."""

    decimals: int
    has_exponent: bool
    letters: str
    """Its sign if it is a plus, an E if its exponent has one, the j of an imaginary part."""

    @classmethod
    def of(cls, text: str) -> Form:
        """Return the form of a number's text."""
        mantissa, _, exponent = text.rstrip("j").lower().partition("e")
        is_imaginary = text.endswith("j")  # which always has a sign
        plus = text.startswith("+") and not is_imaginary
        letters = "+" * plus + "E" * ("E" in text) + "j" * is_imaginary
        decimals = len(mantissa.partition(".")[2])
        return cls(decimals, bool(exponent), letters)

    @property
    def is_whole(self) -> bool:
        """Whether it is that of ``1.``: so PyTorch prints tensors of whole numbers."""
        return not (self.decimals or self.has_exponent)


def exact(text: str) -> Decimal:
    """Return the number that a text says, to the last digit."""
    return Decimal(text.rstrip("j"))


def finite_value(text: str) -> Decimal | None:
    """Return the value of a printed number; None if no float can hold it."""
    try:
        value = exact(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.adjusted() in _EXPONENTS else None


def half_unit(text: str) -> Decimal:
    """Return half a unit of the last digit of a printed number."""
    value = exact(text)
    exponent = value.as_tuple().exponent
    # With an exponent, a zero is a zero and not what is left of a small number.
    if not isinstance(exponent, int) or (not value and "e" in text.lower()):
        return Decimal(0)
    return Decimal((0, (5,), exponent - 1))
