"""Read an output at full precision: with which numbers, and in which format, each was computed."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.brackets import brackets
from sphinx_drift.compare.formats import UNITS, FloatKind, finite_value
from sphinx_drift.compare.lexer import TokenKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sphinx_drift.compare.brackets import Bracket
    from sphinx_drift.compare.lexer import Token

_CANCELLED = 24
"""How many times larger than what is printed the tensor may be that it was taken from."""

_ALONE = 2
"""The same for a number that is printed alone: no other one says how large they were."""

_ARRAYS = ("array", "index", "tensor")
"""What names the format of its numbers, in any case: ``dtype`` in other brackets is a word."""
FORMATS = {
    "float64": FloatKind.FLOAT64,
    "complex128": FloatKind.FLOAT64,
    "float32": FloatKind.FLOAT32,
    "complex64": FloatKind.FLOAT32,
    "float16": FloatKind.FLOAT16,
    "bfloat16": FloatKind.BFLOAT16,
}


class Origin(NamedTuple):
    """What is known of where a printed number comes from."""

    text: str
    """The number at full precision."""
    kind: FloatKind
    """The format that it was computed in."""
    is_wider: bool
    """Whether it is in a wider format by now."""
    largest: Decimal
    """The magnitude at which it was computed."""
    is_in_tensor: bool


class _Mark(NamedTuple):
    """What ``print_full_precision`` noted of a number or a tensor, as ``*float32 12.5``."""

    is_wider: bool
    """The star: it was computed in float32, and is wider now."""
    kind: FloatKind | None
    whole: Decimal
    """The largest number of the tensor that it is a part of; 0 if that isn't known."""

    @classmethod
    def read(cls, text: str) -> _Mark:
        words = text.removeprefix("*").split()
        kind = next((FORMATS[word] for word in words if word in FORMATS), None)
        values = (finite_value(word) for word in words if word not in FORMATS)
        return cls(text.startswith("*"), kind, next(values, None) or Decimal(0))


class Precise:
    """An output at full precision, by which the same output at fewer digits is judged."""

    def __init__(self, tokens: Sequence[Token], marks: Mapping[int, str] | None = None) -> None:
        """Take the tokens, and the marks of what ends at some places of the text."""
        self._tokens = tokens
        self._marks = marks or {}
        self._brackets = brackets(tokens)

    def origin(self, place: int) -> Origin:
        """Return what is known of the number that is a token."""
        text, bracket = self._tokens[place].text, self._brackets[place]
        mark = _Mark.read(self._marks.get(self._tokens[place].end) or self._marked[bracket])
        array = bracket and bracket.array
        group = self._groups.get(array.start) if array else None
        sizes = group or [abs(finite_value(text) or Decimal(0))]
        kind = FloatKind.FLOAT32 if mark.is_wider else mark.kind or self._kinds[bracket]
        kind = kind or FloatKind.FLOAT64
        printed = max(sizes) * (_ALONE if len(sizes) == 1 and kind.units == UNITS else 1)
        # A reader sees the numbers printed, not the tensor that they are a part of.
        largest = max(printed, min(mark.whole, _CANCELLED * printed))
        call = bracket and bracket.call
        is_in_tensor = call is not None and call.name == "tensor"
        return Origin(text, kind, mark.is_wider, largest, is_in_tensor)

    @cached_property
    def _pairs(self) -> list[Bracket]:
        """All pairs of brackets, each after the one around it."""
        return [pair for pair in dict.fromkeys(self._brackets) if pair]

    @cached_property
    def _groups(self) -> dict[int, list[Decimal]]:
        """The sizes of the numbers of each array, which were computed together, by its place.

        The members of a list in Python were computed one by one: they are no group.
        """
        sizes: dict[int, list[Decimal]] = {}
        lists: set[int] = set()
        for token, bracket in zip(self._tokens, self._brackets, strict=True):
            array = bracket and bracket.array
            if array is None:
                continue
            value = finite_value(token.text) if token.kind is TokenKind.FLOAT else None
            if value is not None:
                sizes.setdefault(array.start, []).append(abs(value))
            elif _shows_a_list(token, array):
                lists.add(array.start)
        return {start: sizes[start] for start in sizes.keys() - lists}

    @cached_property
    def _kinds(self) -> dict[Bracket | None, FloatKind | None]:
        """The format that each pair of brackets names, or stands for.

        A tensor that names none has PyTorch's default; ``np.float32(0.5)`` is one number.
        """
        kinds: dict[Bracket | None, FloatKind | None] = {None: None}
        for pair in self._pairs:
            if pair in self._named:
                kinds[pair] = self._named[pair]
            elif pair.text == "[":
                kinds[pair] = kinds[pair.parent]
            else:
                kinds[pair] = FloatKind.FLOAT32 if pair.name == "tensor" else FORMATS.get(pair.name)
        return kinds

    @cached_property
    def _named(self) -> dict[Bracket, FloatKind]:
        """The format that follows ``dtype`` in an array."""
        named: dict[Bracket, FloatKind] = {}
        for place, (token, bracket) in enumerate(zip(self._tokens, self._brackets, strict=True)):
            if token.text == "dtype" and bracket and bracket.name.lower() in _ARRAYS:
                words = (after.text for after in self._tokens[place + 1 : place + 5])
                kinds = (FORMATS[word] for word in words if word in FORMATS)
                named[bracket] = next(kinds, FloatKind.FLOAT64)
        return named

    @cached_property
    def _marked(self) -> dict[Bracket | None, str]:
        """The mark of each pair of brackets, or of the innermost one around it that has one."""
        marked: dict[Bracket | None, str] = {None: ""}
        for pair in self._pairs:
            own = self._marks.get(self._tokens[pair.end].end)
            marked[pair] = own or marked[pair.parent]
        return marked


def _shows_a_list(token: Token, array: Bracket) -> bool:
    """Whether a token shows that square brackets are no array.

    An array holds numbers, or ``...``; commas only where a call names it, as PyTorch prints it.
    """
    call = array.parent
    if token.text == "," and call is not None and call.start == array.start - 1:
        return call.name.lower() not in _ARRAYS
    return token.kind is TokenKind.MARK or (token.is_word and token.text[0] != ".")
