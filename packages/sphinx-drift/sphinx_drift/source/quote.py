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
    r"(?P<name>[\w-]+)(?:\[(?P<index>\d+(?:,\s*\d+)*)\]|\#(?P<place>\d+))?"
    r"(?:\s+(?P<form>\+?(?:,?\.\d{1,2}[f%]|,?d)))?"
)
_MINUS = r"\-\u2010-\u2015\u207b\u208b\u2212\uff0d"
_MONEY = r"$\xa2-\xa5\u20a0-\u20cf"
_BEFORE = re.compile(rf"(?:\A|[\s(\[{{=;\"'|<>~\u2248{_MONEY}]|(?<![\d\\])[,:])\Z", re.ASCII)
_AFTER = re.compile(r"\Z|[\s()\]}=;\"|%\xb0]|[.:',](?!\d)", re.ASCII)
"""What may stand beside a number: the line's end, space, a bracket or a mark."""
_SIGN_BEFORE = re.compile(rf"[{_MINUS}] ?(?:[A-Z]{{0,3}}|kr\.?) ?[\\{_MONEY}{{(]* ?\Z")
"""A minus sign that isn't a part of the number: - 4, -$4, -(4), -EUR 4."""
_CALCULATED = re.compile(
    r"\^|\*\*|<sup|[\xb2\xb3\xb9\u2070-\u207b]"  # powers
    r"|[\xbc-\xbe\u2150-\u215e]|\d[jJ]\b"  # fractions, complex numbers
    rf"|[)\s][eE] ?[{_MINUS}+]?\d"  # (4 +/- 1)e5
)
"""What shows in a line that a number there is a piece of what a reader takes it for."""
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
    """Such as `.2f`, `.0%` or `,d`; as printed, if there is none."""

    def number_in(self, text: str) -> str:
        """Return the quoted number of a text.

        Raises:
            ValueError: If the text has no such number, or its form can't be read.

        Examples:
            >>> read_quotation("weights[1] .0%").number_in("tensor([0.1500, 0.2264])")
            '23%'

        """
        number = self.find(text)
        return (self._formatted(number) if self.form else number).replace("-", "\N{MINUS SIGN}")

    def _formatted(self, number: str) -> str:
        """Return a number in the form that is asked for, if it has so many digits."""
        try:
            value = Decimal(number)
            is_whole = value.as_tuple().exponent == 0 and "." not in number
            if self.form.endswith("d"):
                return format(int(number), self.form)
            shown = format(value, self.form)
        except (InvalidOperation, ValueError):
            message = f"{self.name} prints {number}: {self.form!r} can't show it"
            raise ValueError(message) from None
        digits = int(self.form.strip("+,.f%")) + 2 * self.form.endswith("%")
        if not is_whole and value.is_finite() and digits > -int(value.as_tuple().exponent):
            raise ValueError(f"{self.name} prints {number}: {self.form!r} shows more digits")
        return shown if value.is_finite() else number

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
        is_whole = (
            _BEFORE.search(before) and _AFTER.match(after) and not _SIGN_BEFORE.search(before)
        )
        if not is_whole or _CALCULATED.search(before + number.text + after):
            near = before[-_NEAR:] + number.text + after[:_NEAR]
            raise ValueError(
                f"{self.name} prints {near!r}, where {number.text} may not be the whole number: "
                "let the cell print it by itself, as -1500.75 or 1.5e-20, or glue its value"
            )
        return number.text


def read_quotation(text: str) -> Quotation:
    """Read ``name``, ``name[1, 0]`` or ``name#3``, each with a format behind a space or without.

    Raises:
        ValueError: If it is none of these.

    """
    match = _QUOTATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            "expected `name`, `name[1, 0]` or `name#3`, and `.2f`, `.0%` or `,d` behind a space if "
            f"wanted; got {text!r}"
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
