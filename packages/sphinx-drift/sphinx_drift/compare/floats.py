"""Decide whether printed digits are a rounding of a value.

The digits stand for all values that print like them. A value is taken for one of those if
it is no further from them than rounding explains: a few units in the last place, at the
scale at which the arithmetic was done.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.brackets import brackets
from sphinx_drift.compare.lexer import TokenKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sphinx_drift.compare.brackets import Bracket
    from sphinx_drift.compare.lexer import Token

UNITS = 16
"""How many units in the last place a value may be from the documented digits, as measured."""

SHORT_UNITS = 2
"""The same for 16-bit formats: computed in float32, they are rounded once."""

_CANCELLED = 24
"""How many times larger than what is printed the tensor may be that it was taken from."""

_THIRD = Decimal("0.4")
_LAST = Decimal("0.1")
"""How many units of its third significant digit a number may be off, and of its last printed one,
however large the numbers beside it are."""

_ALONE = 2
"""The same for a number that is printed alone: no other one says how large they were."""

_CUT = 15
"""A number of no more digits than these, of which nothing is known, may have been cut before."""
_ADVICE = "; if the page cut its digits itself, an f-string of x.item() keeps them"

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
        """Whether a number is whole and so small that every sum of such numbers is exact."""
        return value == value.to_integral_value() and abs(value) < 2 ** (self.value + 1)

    def prints(self, text: str) -> bool:
        """Whether a number of this format can print like this when its digits are cut."""
        value = _exact(text)
        return abs(Decimal(self.nearest(value)) - value) <= _half_unit(text) * _SLACK

    def prints_in_full(self, text: str) -> bool:
        """Whether these are the shortest digits that identify a number of this format."""
        value = _exact(text)
        number = self.nearest(value)
        if math.isinf(number):
            return False
        shortest = (f"{number:.{digits}g}" for digits in range(1, 18))
        own = next(t for t in shortest if self.nearest(Decimal(t)) == number)
        return value in (Decimal(own), Decimal(repr(number)))


_FLOAT32_END = 2.0**128
_SLACK = Decimal("1.001")  # the last printed digit is itself rounded, from binary
_EXPONENTS = range(-330, 308)
_ARRAYS = ("array", "index", "tensor")
"""What names the format of its numbers, in any case: ``dtype`` in other brackets is a word."""
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
    """The common properties of numbers that were computed together."""

    kind: FloatKind
    is_wider: bool
    """Whether they are in a wider format than the one that they were computed in."""
    largest: Decimal


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
        self._tokens = tokens
        self._marks = marks or {}
        self._brackets = brackets(tokens)
        self._named: dict[int, FloatKind] = {}
        self._members: dict[int, list[Decimal]] = {}
        self._arrays: dict[int, _Array] = {}
        self._lists: set[int] = set()
        """The square brackets, by where they begin, that are no array for what is in them."""
        for place, (token, bracket) in enumerate(zip(tokens, self._brackets, strict=True)):
            if bracket is None:
                continue
            if token.text == "dtype" and bracket.name.lower() in _ARRAYS:
                words = (after.text for after in tokens[place + 1 : place + 5])
                kind = next((_NAMES[word] for word in words if word in _NAMES), FloatKind.FLOAT64)
                self._named[bracket.start] = kind
            elif array := bracket.array:
                if token.kind is TokenKind.FLOAT and (value := _value(token.text)) is not None:
                    self._members.setdefault(array.start, []).append(value)
                elif self._is_foreign(token, array):
                    self._lists.add(array.start)
        self._kinds: dict[Bracket | None, FloatKind | None] = {None: None}
        self._marked: dict[Bracket | None, str] = {None: ""}
        """What is known of the innermost brackets with a mark around, or of a pair itself."""
        for pair in dict.fromkeys(filter(None, self._brackets)):  # each after the one around it
            self._kinds[pair] = self._kind_in(pair)
            own = self._marks.get(tokens[pair.end].end)
            self._marked[pair] = own or self._marked[pair.parent]

    def judge(self, place: int, documented: str, executed: str) -> float | str:
        """Say how far a value is from its documented digits, or why that can't be rounding.

        Args:
            place: Which token it is.
            documented: The digits that the page gives.
            executed: The digits that were printed.

        Returns:
            Units in the last place beyond the values that print like ``documented``.

        """
        precise = self._tokens[place].text
        objection = _objection(documented, executed, precise, fixed=self._is_in_tensor(place))
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
        beyond = _beyond(documented, half, precise)
        units = ulp_distance(beyond, array.largest, array.kind)
        if units > array.kind.units:
            distance = f"{units:.0f} {array.kind.name.lower()} units in the last place"
            allowed = f"too far ({array.kind.units} allowed)"
            is_known = array.kind is not FloatKind.FLOAT64 or len(precise.strip("-0.")) > _CUT
            advice = "" if is_known or not whole else _ADVICE
            return f"the executed value is {precise}, {distance} {allowed}{advice}"
        if beyond > _most(documented, precise, array.kind):
            return f"the executed value is {precise}, too far: in its third significant digit"
        return units

    def _array(self, place: int, value: Decimal) -> _Array:
        """Describe the numbers that were computed together with this one.

        The members of a list in Python were computed one by one.
        """
        bracket = self._brackets[place]
        array = bracket and bracket.array
        named = self._kinds[bracket]
        mark = self._marks.get(self._tokens[place].end) or self._marked[bracket]
        if array is None or array.start in self._lists:
            return _described(named, [value], mark)
        if array.start not in self._arrays:
            self._arrays[array.start] = _described(named, self._members[array.start], mark)
        return self._arrays[array.start]

    def _is_foreign(self, token: Token, array: Bracket) -> bool:
        """Whether a token shows that square brackets are no array.

        An array holds numbers, or ``...``; commas only where a call names it, as PyTorch prints it.
        """
        call = array.parent
        if token.text == "," and call is not None and call.start == array.start - 1:
            return call.name.lower() not in _ARRAYS
        return token.kind is TokenKind.MARK or (token.is_word and token.text[0] != ".")

    def _is_in_tensor(self, place: int) -> bool:
        """Whether PyTorch printed a number: all numbers of a tensor have as many decimals."""
        bracket = self._brackets[place]
        call = bracket and bracket.call
        return call is not None and call.name == "tensor"

    def _kind_in(self, pair: Bracket) -> FloatKind | None:
        """Return the format that a call names, or stands for, also in square brackets in it.

        A tensor that names none has PyTorch's default; ``np.float32(0.5)`` is one number.
        """
        if pair.start in self._named:
            return self._named[pair.start]
        if pair.text == "[":
            return self._kinds[pair.parent]
        return FloatKind.FLOAT32 if pair.name == "tensor" else _NAMES.get(pair.name)


def _described(named: FloatKind | None, members: Sequence[Decimal], mark: str) -> _Array:
    is_wider = mark.startswith("*")
    recorded, _, whole = mark.removeprefix("*").rpartition(" ")
    if whole in _NAMES:
        recorded, whole = whole, ""
    kind = FloatKind.FLOAT32 if is_wider else _NAMES.get(recorded) or named or FloatKind.FLOAT64
    least = _ALONE if len(members) == 1 and kind.units == UNITS else 1
    printed = max(abs(member) for member in members)
    # A reader sees the numbers printed, not the tensor that they are a part of.
    largest = max(least * printed, min(_value(whole) or Decimal(0), _CANCELLED * printed))
    return _Array(kind, is_wider, largest)


# Digits ------------------------------------------------------------------------------


def _exact(text: str) -> Decimal:
    return Decimal(text.rstrip("j"))


def _value(text: str) -> Decimal | None:
    """Return the value of a printed number; None if no float can hold it."""
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
    digits = max(len(_exact(text).as_tuple().digits) for text in (documented, executed))
    shortest = not fixed and digits >= _SHORTEST
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


def _most(documented: str, precise: str, kind: FloatKind) -> Decimal:
    """Return what rounding may add to a number, however large the numbers beside it are.

    That never changes its third significant digit, if it has as many and its format has more.
    """
    value = abs(_exact(precise))
    least = min(filter(None, (abs(_exact(documented)), value)), default=Decimal(0))
    third = Decimal(1).scaleb(least.adjusted() - 2) if least else Decimal(0)
    own = Decimal(2) ** (math.frexp(float(value))[1] - 1 - kind.value) if value else Decimal(0)
    return max(_THIRD * third, _LAST * 2 * _half_unit(documented), kind.units * own)


def _form(text: str) -> tuple[object, ...]:
    """Return how a number is printed: decimals, exponent, sign, imaginary unit."""
    mantissa, _, exponent = text.rstrip("j").lower().partition("e")
    imaginary = text.endswith("j")
    plus = text.startswith("+") and not imaginary
    return len(mantissa.partition(".")[2]), bool(exponent), "E" in text, plus, imaginary
