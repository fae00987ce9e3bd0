"""Whether the digits of a float are a rounding of a value, as far as its format can tell.

The digits stand for all values that print like them. A value is taken for one of those if
it is no further from them than rounding explains: a few units in the last place, at the
scale at which the arithmetic was done.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.tokens import Token, TokenKind, groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SHORT_UNITS", "UNITS", "FloatKind", "Precise", "ulp_distance"]

UNITS = 16
"""How many units in the last place a value may be from the documented digits: it was measured, by
tools/bounds.py."""

SHORT_UNITS = 2
"""The same for 16-bit formats: computed in float32, they are rounded once."""

_CANCELLED = 24
"""How many times larger than a small number the numbers may be that it is the sum of."""

_ALONE = 2
"""The same for a number that is printed alone: no other one says how large they were."""

_SHORTEST = 7
"""Numbers of so many digits that have no more may be printed with as many as they need."""


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
        """Tell whether a number is whole and so small that every sum of such numbers is exact."""
        return value == value.to_integral_value() and abs(value) < 2 ** (self.value + 1)

    def prints(self, text: str) -> bool:
        """Tell whether a number of this format prints like this, when digits are cut."""
        value = _exact(text)
        return abs(Decimal(self.nearest(value)) - value) <= _half_unit(text) * _SLACK

    def prints_in_full(self, text: str) -> bool:
        """Tell whether this is all that a number of this format needs to be told from others."""
        value = _exact(text)
        number = self.nearest(value)
        shortest = (f"{number:.{digits}g}" for digits in range(1, 18))
        own = next(t for t in shortest if self.nearest(Decimal(t)) == number)
        return value in (Decimal(own), Decimal(repr(number)))


_FLOAT32_END = 2.0**128
_SLACK = Decimal("1.001")  # the last printed digit is itself rounded, from binary
_EXPONENTS = range(-330, 308)
_NAMES = {
    "float64": FloatKind.FLOAT64,
    "complex128": FloatKind.FLOAT64,
    "float32": FloatKind.FLOAT32,
    "complex64": FloatKind.FLOAT32,
    "float16": FloatKind.FLOAT16,
    "bfloat16": FloatKind.BFLOAT16,
}


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


class _Array(NamedTuple):
    """What the numbers that were computed together have in common."""

    kind: FloatKind
    is_wider: bool
    """Whether they are in a wider format than the one that they were computed in."""
    largest: Decimal
    weights: bool
    """Whether all are between 0 and 1, as what comes out of a softmax is."""
    least: int
    """How many times larger than each one the arithmetic was, at least."""


class Precise:
    """An output at full precision, by which the same output at fewer digits is judged."""

    def __init__(self, tokens: Sequence[Token], marks: Mapping[int, str] | None = None) -> None:
        """Take the tokens of the output at full precision.

        Args:
            tokens: The tokens.
            marks: What is known of the number or tensor that ends at a place of the text: a star
                if it was computed in float32 and is wider now, its format, and the largest number
                of the tensor that it is a part of.

        """
        self._texts = [token.text for token in tokens]
        self._groups = _arrays(tokens)
        self._named = _named_kinds(tokens)
        self._in_tensor = _in_tensor(tokens)
        self._marks = _marked(tokens, marks or {})
        self._members: dict[int, list[Decimal]] = {}
        self._arrays: dict[int, _Array] = {}
        for group, token in zip(self._groups, tokens, strict=True):
            if token.kind is TokenKind.FLOAT and (value := _value(token.text)) is not None:
                self._members.setdefault(group, []).append(value)

    def judge(self, place: int, documented: str, executed: str) -> float | str:
        """Say how far a value is from its documented digits, or why that can't be rounding.

        Args:
            place: Which token it is.
            documented: The digits that the page gives.
            executed: The digits that were printed.

        Returns:
            Units in the last place beyond the values that print like ``documented``.

        """
        precise = self._texts[place]
        objection = _objection(documented, executed, precise, fixed=self._in_tensor[place])
        if objection:
            return objection
        array = self._array(place, _exact(precise))
        # A page that formats a number itself cuts its digits in both runs.
        whole = executed == precise and array.kind.prints_in_full(documented)
        if not (whole or array.is_wider or array.kind.prints(documented)):
            return f"no {array.kind.name.lower()} prints like this"
        if _are_whole(documented, executed) and array.kind.sums_exactly(_exact(precise)):
            return "whole numbers of this size are exact"
        half = Decimal(0) if whole else min(map(_half_unit, (documented, executed)))
        units = self._units(_beyond(documented, half, precise), precise, executed, array)
        if units > array.kind.units:
            distance = f"{units:.0f} {array.kind.name.lower()} units in the last place"
            allowed = f"too far ({array.kind.units} allowed)"
            return f"the executed value is {precise}, {distance} {allowed}"
        return units

    def margin(self, place: int, printed: str) -> float | None:
        """Say how far a value is from where its printed digits change.

        Args:
            place: Which token it is.
            printed: The digits that are printed of it.

        Returns:
            Units in the last place; None for what is no number, or printed with all its digits.

        """
        precise = self._texts[place]
        printed_value, value = _value(printed), _value(precise)
        if printed_value is None or value is None or precise == printed:
            return None
        inside = _half_unit(printed) - abs(value - printed_value)
        return self._units(inside, precise, printed, self._array(place, value))

    @staticmethod
    def _units(beyond: Decimal, precise: str, printed: str, array: _Array) -> float:
        """Measure a distance by what the arithmetic of the array could resolve."""
        if "e" not in printed.lower():
            return ulp_distance(beyond, array.largest, array.kind)
        # Small numbers are shown for their own sake. But what comes out of a softmax is an
        # exponential, whose relative error grows with its argument; and a sum of larger numbers
        # has their error, which is granted as long as it is no blank cheque.
        value = abs(_exact(precise))
        if array.weights:
            stretch = (array.largest / value).ln() if value else Decimal(1)
            return ulp_distance(beyond / max(stretch, Decimal(1)), value, array.kind)
        scale = max(array.least * value, min(array.largest / 8, _CANCELLED * value))
        return ulp_distance(beyond, scale, array.kind)

    def _array(self, place: int, value: Decimal) -> _Array:
        """Describe the numbers that were computed together with this one."""
        group = self._groups[place]
        kind, mark = self._named[place], self._marks.get(place, "")
        if group < 0:
            return _described(kind, [value], mark)
        if group not in self._arrays:
            self._arrays[group] = _described(kind, self._members[group], mark)
        return self._arrays[group]


def _described(named: FloatKind | None, members: Sequence[Decimal], mark: str) -> _Array:
    is_wider = mark.startswith("*")
    recorded, _, whole = mark.removeprefix("*").rpartition(" ")
    if whole in _NAMES:
        recorded, whole = whole, ""
    kind = FloatKind.FLOAT32 if is_wider else _NAMES.get(recorded) or named or FloatKind.FLOAT64
    least = _ALONE if len(members) == 1 and kind.units == UNITS else 1
    largest = max(_value(whole) or Decimal(0), *(least * abs(member) for member in members))
    weights = all(0 <= member <= 1 for member in members)
    return _Array(kind, is_wider, largest, weights, least)


def _arrays(tokens: Sequence[Token]) -> list[int]:
    """Number the array that each token stands in; -1 outside any.

    The members of a list in Python were computed each for itself: a list has commas, and no name
    before it. What NumPy prints of an array has none.
    """
    numbers = groups(tokens)
    begins: dict[int, int] = {}
    commas = set()
    for place, (number, token) in enumerate(zip(numbers, tokens, strict=True)):
        begins.setdefault(number, place)
        if token.text == ",":
            commas.add(number)
    lists = {
        number for number in commas if not begins[number] or tokens[begins[number] - 1].text != "("
    }
    return [-1 if number in lists else number for number in numbers]


def _marked(tokens: Sequence[Token], marks: Mapping[int, str]) -> dict[int, str]:
    """Return what is known of each token that is marked, or stands in brackets that are."""
    mark_by_place: dict[int, str] = {}
    around = [""]
    for place in reversed(range(len(tokens))) if marks else ():
        token = tokens[place]
        own = marks.get(token.end, "")
        if token.kind is TokenKind.CLOSE:
            around.append(own or around[-1])
        elif token.kind is TokenKind.OPEN and len(around) > 1:
            around.pop()
        mark_by_place[place] = own or around[-1]
    return mark_by_place


def _named_kinds(tokens: Sequence[Token]) -> list[FloatKind | None]:
    """Return for each token the format that the call around it names, or stands for."""
    kinds: list[FloatKind | None] = [None] * len(tokens)
    around: list[FloatKind | None] = [None]
    called = _called(tokens)
    for place in reversed(range(len(tokens))):
        token = tokens[place]
        if token.kind is TokenKind.CLOSE:
            around.append(around[-1] if token.text == "]" else called.get(place))
        elif token.kind is TokenKind.OPEN and len(around) > 1:
            around.pop()
        elif token.text == "dtype" and len(around) > 1:
            words = (after.text for after in tokens[place + 1 : place + 5])
            kind = next((_NAMES[word] for word in words if word in _NAMES), None)
            around[-1] = kind or FloatKind.FLOAT64
        kinds[place] = around[-1]
    return kinds


def _in_tensor(tokens: Sequence[Token]) -> list[bool]:
    """Tell for each token whether PyTorch printed it: all numbers with as many decimals."""
    inside: list[bool] = []
    around = [False]
    for place, token in enumerate(tokens):
        if token.kind is TokenKind.OPEN:
            is_tensor = token.text == "(" and place > 0 and tokens[place - 1].text == "tensor"
            around.append(is_tensor or (token.text == "[" and around[-1]))
        elif token.kind is TokenKind.CLOSE and len(around) > 1:
            around.pop()
        inside.append(around[-1])
    return inside


def _called(tokens: Sequence[Token]) -> dict[int, FloatKind]:
    """Return for each bracket that ends a call the format that its name stands for.

    A tensor that names none has PyTorch's default; ``np.float32(0.5)`` is one number.
    """
    formats = {"tensor": FloatKind.FLOAT32, **_NAMES}
    kinds: dict[int, FloatKind] = {}
    names: list[str] = []
    for place, token in enumerate(tokens):
        if token.kind is TokenKind.OPEN:
            names.append(tokens[place - 1].text if place and token.text == "(" else "")
        elif token.kind is TokenKind.CLOSE and names and (name := names.pop()) in formats:
            kinds[place] = formats[name]
    return kinds


# Digits ------------------------------------------------------------------------------


def _exact(text: str) -> Decimal:
    return Decimal(text.rstrip("j"))


def _value(text: str) -> Decimal | None:
    """Return the value of a printed number; None if it is none that a float can hold."""
    try:
        value = _exact(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.adjusted() in _EXPONENTS else None


def _objection(documented: str, executed: str, precise: str, *, fixed: bool) -> str:
    """Say why a number can't be a rounding of the documented one, however near it is.

    Where the number of decimals is fixed, it can't be another one.
    """
    expected, printed, value = (_value(text) for text in (documented, executed, precise))
    if expected is None or printed is None or value is None:
        return "not finite"
    if abs(printed - value) > _half_unit(executed) * _SLACK:
        return f"the page printed another value when run again: {precise}"
    if (expected or not value) and expected.is_signed() != value.is_signed():
        return f"the sign differs: {precise}"
    if not expected and "e" in documented.lower() and expected.as_tuple() != printed.as_tuple():
        return "a zero of another form"
    shortest = not fixed and max(map(_digits, (documented, executed))) >= _SHORTEST
    if _form(documented) != _form(executed) and not shortest:
        return "printed in another form"
    return ""


def _are_whole(*texts: str) -> bool:
    """Whether numbers have nothing after the point, and no exponent."""
    return all("e" not in t.lower() and _exact(t) == _exact(t).to_integral_value() for t in texts)


def _half_unit(text: str) -> Decimal:
    """Return half a unit of the last digit of a printed number."""
    value = _exact(text)
    exponent = value.as_tuple().exponent
    # With an exponent, a zero is a zero and not what is left of a small number.
    if not isinstance(exponent, int) or (not value and "e" in text.lower()):
        return Decimal(0)
    return Decimal((0, (5,), exponent - 1))


def _beyond(documented: str, half: Decimal, precise: str) -> Decimal:
    """Return how far a value is from those that print like the documented digits."""
    expected, value = _exact(documented), _exact(precise)
    low, high = expected - half, expected + half
    if not expected:  # 0.0000 and -0.0000 are what is left of numbers of that sign
        low, high = (low, expected) if expected.is_signed() else (expected, high)
    return max(low - value, value - high, Decimal(0))


def _form(text: str) -> tuple[object, ...]:
    """Return how a number is printed: decimals, exponent, sign, imaginary unit."""
    mantissa, _, exponent = text.rstrip("j").lower().partition("e")
    imaginary = text.endswith("j")
    plus = text.startswith("+") and not imaginary
    return len(mantissa.partition(".")[2]), bool(exponent), "E" in text, plus, imaginary


def _digits(text: str) -> int:
    """Return how many significant digits are printed."""
    return len(_exact(text).as_tuple().digits)
