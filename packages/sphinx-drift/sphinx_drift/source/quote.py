"""Quote a number from what a cell printed: which one, and in which form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sphinx_drift.compare.brackets import indices
from sphinx_drift.compare.lexer import plain
from sphinx_drift.compare.tokens import tokens
from sphinx_drift.model import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sphinx_drift.model import Outcome

_QUOTATION = re.compile(
    r"(?P<name>[\w-]+)(?:\[(?P<index>\d+(?:,\s*\d+)*)\]|\#(?P<place>\d+))?(?:\s+(?P<form>\S+))?$"
)
_MINUS = r"\-\u2010-\u2015\u207b\u208b\u2212\uff0d"
_SPACE = r"[ \t\xa0\u2000-\u200d\u202f\u205f-\u2060\u3000\ufeff]"
_GROUP = rf"(?: ['\u2019\xb7\u066b\u066c] | (?![ \t]) {_SPACE} | \{{,\}} | \\[,;:!\ ] )"
_POWER = rf"{_SPACE}* (?: \^ | \*\* | <sup | [\xb9\xb2\xb3\u2070-\u207b] )"
_ERROR = rf"(?: (?: {_SPACE} | [\d.(/+\xb1{_MINUS}] | \\[a-z]+ )* \) )?"
_TIMES = rf"(?: {_SPACE} | [x*\xd7\u22c5\xb7{{}}] | \\(?:[a-z]+|[,;:!]) | &\w+; )*"
_BEFORE = re.compile(
    rf"""(?:
    [\w.^] | \*\* | \d{_GROUP}  # a word, a power, the digits before a separator
    | (?:\^|\*\*|<sup>) (?: {_SPACE} | [{{(] )*  # what raises it to a power
    | [{_MINUS}] {_SPACE}* (?: (?:[A-Z]{{0,3}}\\?[$\xa2-\xa5\u20a0-\u20cf] | [{{(]) {_SPACE}* )?
    | (?<!\w) [{_MINUS}] {_SPACE}? (?: [A-Z]{{3}} | kr\.? ) {_SPACE}?  # -EUR 5
    )\Z""",
    re.VERBOSE,
)
"""What shows, just before a number, that it is a piece of something larger."""
_AFTER = re.compile(
    rf"""
    [\w{_MINUS}] | {_POWER} | [.]\d | {_GROUP}\d  # a word, a power, the digits after a separator
    | {_SPACE}*[+-]{_SPACE}*[\d.e+-]+j  # an imaginary part
    | {_ERROR} {_SPACE}* (?: [\xbc-\xbe\u2150-\u215e] | [eE]{_SPACE}?[{_MINUS}+]?\d )  # ½, e5
    | {_ERROR} {_TIMES} (?<!\d)10 {_POWER}  # × 10^5
    """,
    re.VERBOSE,
)
"""What shows the same just after it."""
_LIST_BEFORE, _LIST_AFTER = re.compile(r"(?<![.\d])\d+,\Z"), re.compile(r",\d+(?![\d.])")
"""Whole numbers at a comma, which may then separate thousands or be a decimal point."""
_NEAR = 24


@dataclass(frozen=True)
class Quotation:
    """A number of a named output."""

    name: str
    index: tuple[int, ...] | None = None
    """Where it stands in the brackets around it, counted from 0."""
    place: int | None = None
    """Which of the output's numbers it is, counted from 1."""
    form: str = ""
    """A format specification; as printed, if there is none."""

    def number_in(self, text: str) -> str:
        """Return the quoted number of a text.

        Raises:
            ValueError: If the text has no such number, or its form can't be read.

        Examples:
            >>> read_quotation("weights[1] .0%").number_in("tensor([0.1500, 0.2264])")
            '23%'

        """
        number, _ = self.find(text)
        if not self.form:
            return number.replace("-", "\N{MINUS SIGN}")
        exact = int(number) if number.lstrip("+-").isdecimal() else float(number)
        shown = format(exact, self.form)
        if isinstance(exact, float) and _value(shown)[1] < _value(number)[1]:
            raise ValueError(f"{self.name} prints {number}: {self.form!r} shows more digits")
        if not _is_rounded(shown, number):
            raise ValueError(f"{self.name} prints {number}: {self.form!r} shows other digits")
        return shown.replace("-", "\N{MINUS SIGN}")

    def find(self, text: str) -> tuple[str, int]:
        """Return the quoted number as it is printed, and which of a text's numbers it is, from 0.

        Raises:
            ValueError: If the text has no such number.

        """
        all_tokens = tokens(text)
        numbers = [i for i, token in enumerate(all_tokens) if token.is_number]
        places, where = numbers, ""
        if self.index is not None:
            where = f" [{', '.join(map(str, self.index))}]"
            at = indices(all_tokens, set(places))
            places = [i for i in places if at.get(i) == self.index]
        elif self.place is not None:
            where = f" #{self.place}"
            places = places[self.place - 1 : self.place] if self.place else []
        if not places:
            raise ValueError(f"{self.name} has no number{where}")
        said = {all_tokens[place].text for place in places} if self.index else places
        if len(said) > 1:
            ways = " or ".join(f"{self.name}#{numbers.index(place) + 1}" for place in places[:2])
            raise ValueError(f"{self.name} has {len(places)} numbers{where}; say which: {ways}")
        token = all_tokens[places[0]]
        shown = plain(text)
        before, after = shown[: token.start][-_NEAR:], shown[token.end :][:_NEAR]
        if _is_piece(before, token.text, after):
            near = before + token.text + after
            raise ValueError(
                f"{self.name} prints {near!r}, where {token.text} may not be the whole number: "
                "let the cell print it by itself, as -1500.75 or 1.5e-20, or glue its value"
            )
        return token.text, numbers.index(places[0])


def _is_piece(before: str, number: str, after: str) -> bool:
    """Whether more belongs to a number than its digits and sign."""
    if _BEFORE.search(before) or _AFTER.match(after):
        return True
    # Only between floats can a comma be nothing but a separator.
    has_comma = re.search(r"\d,\Z", before) or re.match(r",\d", after)
    is_whole = "." not in number
    in_list = _LIST_BEFORE.search(before) or _LIST_AFTER.match(after)
    return bool(in_list or (is_whole and has_comma))


def _value(number: str) -> tuple[Decimal, int]:
    """Return a number, and the power of ten of its last digit; of what is not finite, 0."""
    try:
        value = Decimal(re.sub("[,_%]", "", number))
    except InvalidOperation:
        return Decimal("sNaN"), 0
    value = value.scaleb(-2) if "%" in number else value
    exponent = value.as_tuple().exponent
    return value, exponent if isinstance(exponent, int) else 0


def _is_rounded(shown: str, number: str) -> bool:
    """Whether a text has the digits of a printed number, of which a float keeps 15 to 17."""
    value, place = _value(shown)
    exact, _ = _value(number)
    if not exact.is_finite():
        return str(value) == str(exact)
    return value.is_finite() and abs(value - exact) <= Decimal((0, (5,), place - 1))


def read_quotation(text: str) -> Quotation:
    """Read ``name``, ``name[1, 0]`` or ``name#3``, each with a format behind a space or without.

    Raises:
        ValueError: If it is none of these.

    """
    match = _QUOTATION.match(text.strip())
    if match is None:
        raise ValueError(
            f"expected `name`, `name[1, 0]` or `name#3`, and a format if wanted; got {text!r}"
        )
    index = tuple(int(part) for part in match["index"].split(",")) if match["index"] else None
    place = int(match["place"]) if match["place"] else None
    return Quotation(match["name"], index, place, match["form"] or "")


def quote(named: Mapping[str, Sequence[Outcome]], target: str) -> str:
    """Return a number that a cell of the book printed.

    Raises:
        ValueError: If there is none, or several outputs have the name.

    """
    quotation = read_quotation(target)
    outcomes = named.get(quotation.name, ())
    if len(outcomes) != 1:
        raise ValueError(f"{len(outcomes) or 'no'} expectations are named {quotation.name}")
    if outcomes[0].kind is Kind.UNCHECKED:
        raise ValueError(
            f"{quotation.name} is unchecked, so nobody knows that its numbers are right"
        )
    if outcomes[0].reference_only:
        raise ValueError(f"{quotation.name} holds on the reference environment alone")
    return quotation.number_in(outcomes[0].executed)
