"""Read an output at full precision: the format and the scale that each number was computed in."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate
from typing import NamedTuple, Self

from sphinx_drift.compare.brackets import Bracket, brackets
from sphinx_drift.compare.lexer import Token, TokenKind, plain
from sphinx_drift.compare.rounding import FloatKind, Origin, finite_value
from sphinx_drift.compare.tokens import read_tokens

_SEPARATOR = "\N{INVISIBLE SEPARATOR}"
_CANCELLED = 24
"""How many times larger than the printed numbers those of the whole tensor may be."""

_ALONE = 2
"""The same for a number that is printed alone: no other one says how large they were."""

_ARRAYS = ("array", "index", "tensor")
"""Whose numbers belong together, though commas are between them; in any case."""
_FORMATS = {
    "*": FloatKind.FLOAT32,  # it was computed from such numbers
    "float64": FloatKind.FLOAT64,
    "complex128": FloatKind.FLOAT64,
    "float32": FloatKind.FLOAT32,
    "complex64": FloatKind.FLOAT32,
    "float16": FloatKind.FLOAT16,
    "bfloat16": FloatKind.BFLOAT16,
}


class _Note(NamedTuple):
    """What the second look noted of a number or a tensor, as ``float32 12.5``."""

    kind: FloatKind
    largest: Decimal
    """The largest number of the tensor that it is a part of; 0 if that isn't known."""

    @classmethod
    def read(cls, text: str) -> Self:
        name, _, largest = text.partition(" ")
        kind = _FORMATS.get(name, FloatKind.FLOAT64)
        return cls(kind, finite_value(largest) or Decimal(0))


class Precise:
    """An output at full precision, which judges the same output at fewer digits."""

    def __init__(self, text: str) -> None:
        """Read a text in which notes may follow numbers and tensors."""
        text = plain(text).replace(r"\u2063", _SEPARATOR)  # as in a list of texts
        pieces = text.split(_SEPARATOR)
        shown, notes = pieces[::2], pieces[1::2]
        ends = accumulate(map(len, shown))
        self.tokens = read_tokens("".join(shown))
        self._notes = {end: _Note.read(note) for end, note in zip(ends, notes, strict=False)}
        """What was noted of a number or a tensor, by the position of its end."""
        self._brackets = brackets(self.tokens)
        self._arrays = _arrays(self.tokens, self._brackets)

    def origin(self, position: int) -> Origin:
        """Return what is known of the number that is a token: its text, format and scale.

        The scale is the largest number that is printed beside it. A part of a tensor was computed
        with the others, which may be larger; but a reader doesn't see them, so they count up to a
        bound.
        """
        token, bracket = self.tokens[position], self._brackets[position]
        note = self._notes.get(token.end) or self._note_around(bracket)
        array = self._arrays.get(bracket.array, ()) if bracket else ()
        printed = max(array, default=abs(finite_value(token.text) or Decimal(0)))
        # A number alone may be a sum of larger ones. In 16 bits it may not: such a sum is
        # computed in float32, and rounded once, at its magnitude.
        is_alone = len(array) <= 1
        if is_alone and not note.kind.is_short:
            printed *= _ALONE
        scale = max(printed, min(note.largest, _CANCELLED * printed))
        return Origin(token.text, note.kind, scale)

    def _note_around(self, bracket: Bracket | None) -> _Note:
        """Return the note of the innermost pair of brackets that has one, or names its format."""
        while bracket is not None:
            if note := self._notes.get(self.tokens[bracket.end].end):
                return note
            if bracket.name in _FORMATS:
                return _Note(_FORMATS[bracket.name], Decimal(0))
            bracket = bracket.parent
        return _Note(FloatKind.FLOAT64, Decimal(0))


def _arrays(
    tokens: Sequence[Token], innermost: Sequence[Bracket | None]
) -> dict[Bracket | None, list[Decimal]]:
    """Return the sizes of the numbers of each array, which were computed together.

    It holds numbers, or ``...``; commas only where a call names it, as PyTorch prints it. The
    members of a list in Python were computed one by one: they are no array.
    """
    sizes: dict[Bracket | None, list[Decimal]] = {}
    lists: set[Bracket] = set()
    for token, bracket in zip(tokens, innermost, strict=True):
        array = bracket and bracket.array
        if array is None:
            continue
        value = finite_value(token.text) if token.kind is TokenKind.FLOAT else None
        if value is not None:
            sizes.setdefault(array, []).append(abs(value))
        elif token.text == ",":
            call = array.parent
            is_named = call and call.start == array.start - 1 and call.name.lower() in _ARRAYS
            lists |= set() if is_named else {array}
        elif token.kind is TokenKind.PUNCTUATION or (token.is_word and token.text[0] != "."):
            lists.add(array)
    return {array: sizes[array] for array in sizes.keys() - lists}
