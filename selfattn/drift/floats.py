"""What a float of each kind can resolve: units in the last place, standard library only."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING

from selfattn.drift.tokens import Kind, Token

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FloatKind", "ulp_distance"]


class FloatKind(Enum):
    """A floating-point format, and the bits of its significand after the point."""

    FLOAT64 = 52
    FLOAT32 = 23
    FLOAT16 = 10
    BFLOAT16 = 7

    @classmethod
    def of(cls, found: Sequence[Token], place: int, mates: Sequence[str]) -> FloatKind:
        """Tell the format of a printed number from its ``dtype=`` or from its digits.

        A number that float32 can hold to all its printed digits is taken to be one.
        """
        named = _dtype(found, place)
        if named is not None:
            return named
        return cls.FLOAT32 if all(_fits_float32(text) for text in mates) else cls.FLOAT64


_NAMES = {
    "float64": FloatKind.FLOAT64,
    "complex128": FloatKind.FLOAT64,
    "float32": FloatKind.FLOAT32,
    "complex64": FloatKind.FLOAT32,
    "float16": FloatKind.FLOAT16,
    "bfloat16": FloatKind.BFLOAT16,
}


def _dtype(found: Sequence[Token], place: int) -> FloatKind | None:
    """Return the format that a ``dtype=`` names before the call around the number ends."""
    depth = 0
    for position in range(place, len(found)):
        token = found[position]
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if token.kind is Kind.CLOSE and token.text == ")" and depth < 0:
            return None
        if token.text == "dtype":
            names = (t.text for t in found[position + 1 : position + 5])
            return next((_NAMES[name] for name in names if name in _NAMES), None)
    return None


def _fits_float32(text: str) -> bool:
    try:
        value = float(text.rstrip("j"))
        nearest = struct.unpack("f", struct.pack("f", value))[0]
    except (ValueError, OverflowError):
        return True
    # 1e-12: a float64 is some 1e-8 from the nearest float32, a printed float32 nothing.
    return math.isnan(value) or abs(nearest - value) <= 1e-12 * max(abs(value), 1e-3)


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
