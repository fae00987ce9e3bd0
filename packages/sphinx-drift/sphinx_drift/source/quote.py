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
    from collections.abc import Iterable

    from sphinx_drift.model import PageResult

_QUOTATION = re.compile(
    r"(?P<name>[\w-]+)(?:\[(?P<index>\d+(?:,\s*\d+)*)\]|\#(?P<place>\d+))?(?:\s+(?P<form>\S+))?$"
)
_MINUS = r"\-\u2010-\u2015\u207b\u208b\u2212\uff0d"
_MONEY = r"$\xa2-\xa5\u20a0-\u20cf"
_POWER = r"[ ]*(?:\^|\*\*|<sup|[\xb9\xb2\xb3\u2070-\u207b])"
_DELIMITED_BEFORE = re.compile(
    rf"(?:\A|[\s(\[{{=:;\"'|<>~\u2248{_MONEY}]|(?<![\d\\]),|\.\d+,)\Z", re.ASCII
)
_DELIMITED_AFTER = re.compile(r"\Z|[\s()\]}=;\"|%\xb0]|[.:'](?!\d)|,(?!\d)|,\d+\.", re.ASCII)
"""What may stand beside a number: space, a bracket or a mark, or a comma and another float."""
_CHANGED_BEFORE = re.compile(
    rf"""(?:
    (?:\^|\*\*|<sup>) [ {{(]*  # a power
    | [{_MINUS}] [ ]? (?: [A-Z]{{0,3}} \\? [{_MONEY}] | [{{(] )? [ ]?  # - 4, -$4, -(4)
    | (?<!\w) [{_MINUS}] [ ]? (?: [A-Z]{{3}} | kr\.? ) [ ]?  # -EUR 4
    )\Z""",
    re.VERBOSE,
)
_CHANGED_AFTER = re.compile(
    rf"""
    {_POWER}
    | [^,]*? (?<![\d.])10 {_POWER}  # 4 x 10^5
    | [^,]*? [)\s] [eE][ ]?[{_MINUS}+]?\d  # (4 +/- 1)e5
    | [ ]? [\xbc-\xbe\u2150-\u215e]  # 4 and a half, as one sign
    | [ ]? [+-] [ ]? [\d.e+-]+ j  # 4 + 1j
    """,
    re.VERBOSE,
)
"""What changes its value, although it is delimited."""
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
        number = self.find(text)
        if not self.form:
            return number.replace("-", "\N{MINUS SIGN}")
        exact = int(number) if number.lstrip("+-").isdecimal() else float(number)
        try:
            shown = format(exact, self.form)
        except OverflowError as error:
            message = f"{self.name} prints {number}: {self.form!r} can't show it, {error}"
            raise ValueError(message) from None
        if isinstance(exact, float) and _value(shown)[1] < _value(number)[1]:
            raise ValueError(f"{self.name} prints {number}: {self.form!r} shows more digits")
        if not _is_rounded(shown, number):
            raise ValueError(f"{self.name} prints {number}: {self.form!r} shows other digits")
        return shown.replace("-", "\N{MINUS SIGN}")

    def find(self, text: str) -> str:
        """Return the quoted number as it is printed.

        Raises:
            ValueError: If the text has no such number.

        """
        all_tokens = tokens(text)
        numbers = [i for i, token in enumerate(all_tokens) if token.is_number]
        found, where = numbers, ""
        if self.index is not None:
            where = f" [{', '.join(map(str, self.index))}]"
            index_of = indices(all_tokens, set(numbers))
            found = [i for i in numbers if index_of.get(i) == self.index]
        elif self.place is not None:
            where = f" #{self.place}"
            found = numbers[self.place - 1 : self.place] if self.place else []
        if not found:
            raise ValueError(f"{self.name} has no number{where}")
        # Several arrays may have the index, if they agree there.
        if len({all_tokens[i].text for i in found} if self.index else found) > 1:
            ways = " or ".join(f"{self.name}#{numbers.index(i) + 1}" for i in found[:2])
            raise ValueError(f"{self.name} has {len(found)} numbers{where}; say which: {ways}")
        number = all_tokens[found[0]]
        shown = plain(text)
        before = shown[: number.start].rpartition("\n")[2]
        after = shown[number.end :].partition("\n")[0]
        if not _is_whole(before, number.text, after):
            near = before[-_NEAR:] + number.text + after[:_NEAR]
            raise ValueError(
                f"{self.name} prints {near!r}, where {number.text} may not be the whole number: "
                "let the cell print it by itself, as -1500.75 or 1.5e-20, or glue its value"
            )
        return number.text


def _is_whole(before: str, number: str, after: str) -> bool:
    """Whether a number is all of what a reader takes for it, by the rest of its line."""
    # A comma beside digits separates thousands, or is a decimal point, unless all are floats.
    has_comma = re.search(r"\d,\Z", before) or re.match(r",\d", after)
    return bool(
        _DELIMITED_BEFORE.search(before)
        and _DELIMITED_AFTER.match(after)
        and not (has_comma and "." not in number)
        and not _CHANGED_BEFORE.search(before)
        and not _CHANGED_AFTER.match(after)
    )


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


def quote(pages: Iterable[PageResult], target: str) -> str:
    """Return a number that a cell of some pages printed.

    Raises:
        ValueError: If there is none, or several outputs have the name.

    """
    quotation = read_quotation(target)
    outcomes = [o for page in pages for o in page.outcomes if o.name == quotation.name]
    if len(outcomes) != 1:
        raise ValueError(f"{len(outcomes) or 'no'} expectations are named {quotation.name}")
    if outcomes[0].kind is Kind.UNCHECKED:
        raise ValueError(
            f"{quotation.name} is unchecked, so nobody knows that its numbers are right"
        )
    if outcomes[0].reference_only:
        raise ValueError(f"{quotation.name} holds on the reference environment alone")
    return quotation.number_in(outcomes[0].executed)
