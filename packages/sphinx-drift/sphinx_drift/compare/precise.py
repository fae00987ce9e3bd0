"""Read an output at full precision: with which numbers, and in which format, each was computed."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.brackets import brackets
from sphinx_drift.compare.lexer import TokenKind, plain
from sphinx_drift.compare.rounding import UNITS, FloatKind, Origin, finite_value
from sphinx_drift.compare.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx_drift.compare.brackets import Bracket
    from sphinx_drift.compare.lexer import Token

_MARK = "\N{INVISIBLE SEPARATOR}"
_CANCELLED = 24
"""How many times larger than what is printed the tensor may be that it was taken from."""

_ALONE = 2
"""The same for a number that is printed alone: no other one says how large they were."""

_ARRAYS = ("array", "index", "tensor")
"""Whose numbers belong together, though commas are between them; in any case."""
_FORMATS = {
    "*": FloatKind.FLOAT32,  # it is wider now
    "float64": FloatKind.FLOAT64,
    "complex128": FloatKind.FLOAT64,
    "float32": FloatKind.FLOAT32,
    "complex64": FloatKind.FLOAT32,
    "float16": FloatKind.FLOAT16,
    "bfloat16": FloatKind.BFLOAT16,
}


class _Mark(NamedTuple):
    """What the second run noted of a number or a tensor, as ``*float64 12.5``."""

    kind: FloatKind
    whole: Decimal
    """The largest number of the tensor that it is a part of; 0 if that isn't known."""

    @classmethod
    def read(cls, text: str) -> _Mark:
        words = text.replace("*", "* ").split()
        kinds = (_FORMATS[word] for word in words if word in _FORMATS)
        values = (finite_value(word) for word in words[-1:])
        return cls(next(kinds, FloatKind.FLOAT64), next(values, None) or Decimal(0))


class Precise:
    """An output at full precision, by which the same output at fewer digits is judged."""

    def __init__(self, text: str) -> None:
        """Read a text in which marks may follow numbers and tensors."""
        shown, marks = without_marks(plain(text))
        self.tokens = tokens(shown)
        self._marks = {place: _Mark.read(mark) for place, mark in marks.items()}
        self._brackets = brackets(self.tokens)
        self._groups = _groups(self.tokens, self._brackets)

    def origin(self, place: int) -> Origin:
        """Return what is known of the number that is a token."""
        token, bracket = self.tokens[place], self._brackets[place]
        kind, whole = self._marks.get(token.end) or self._mark_of(bracket)
        array = bracket and bracket.array
        sizes = self._groups.get(array) or [abs(finite_value(token.text) or Decimal(0))]
        printed = max(sizes) * (_ALONE if len(sizes) == 1 and kind.units == UNITS else 1)
        # A reader sees the numbers printed, not the tensor that they are a part of.
        return Origin(token.text, kind, max(printed, min(whole, _CANCELLED * printed)))

    def _mark_of(self, bracket: Bracket | None) -> _Mark:
        """Return the mark of the innermost pair of brackets that has one, or names its format."""
        while bracket is not None:
            if mark := self._marks.get(self.tokens[bracket.end].end):
                return mark
            if bracket.name in _FORMATS:
                return _Mark(_FORMATS[bracket.name], Decimal(0))
            bracket = bracket.parent
        return _Mark(FloatKind.FLOAT64, Decimal(0))


def _groups(
    tokens: Sequence[Token], brackets: Sequence[Bracket | None]
) -> dict[Bracket | None, list[Decimal]]:
    """Return the sizes of the numbers of each array, which were computed together.

    It holds numbers, or ``...``; commas only where a call names it, as PyTorch prints it. The
    members of a list in Python were computed one by one: they are no group.
    """
    sizes: dict[Bracket | None, list[Decimal]] = {}
    lists: set[Bracket | None] = {None}
    for token, bracket in zip(tokens, brackets, strict=True):
        array = bracket and bracket.array
        value = finite_value(token.text) if token.kind is TokenKind.FLOAT else None
        if array is None:
            continue
        if value is not None:
            sizes.setdefault(array, []).append(abs(value))
        elif token.text == ",":
            call = array.parent
            is_named = call is not None and call.name.lower() in _ARRAYS
            if not (is_named and call and call.start == array.start - 1):
                lists.add(array)
        elif token.kind is TokenKind.MARK or (token.is_word and token.text[0] != "."):
            lists.add(array)
    return {array: sizes[array] for array in sizes.keys() - lists}


def without_marks(precise: str) -> tuple[str, dict[int, str]]:
    """Remove the marks of the second run; return the text, and each mark by its position."""
    pieces = precise.replace(r"\u2063", _MARK).split(_MARK)  # as in a list of texts
    shown, marked = pieces[::2], pieces[1::2]
    return "".join(shown), dict(zip(accumulate(map(len, shown)), marked, strict=False))
