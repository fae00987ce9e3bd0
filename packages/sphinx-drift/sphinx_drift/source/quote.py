"""Quote a number from what a cell printed: which one, and in which form."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sphinx_drift.compare.brackets import indices
from sphinx_drift.compare.lexer import Token, plain
from sphinx_drift.compare.tokens import read_tokens
from sphinx_drift.kinds import Kind
from sphinx_drift.model import PageResult

NAME = r"[\w-]+"
"""A name that can be quoted."""
_QUOTATION = re.compile(
    rf"(?P<name>{NAME})(?P<which>\[\d+(?:,\s*\d+)*\]|\#\d+|)(?:\s+(?P<form>\.\d{{1,2}}[f%]|,d))?"
)
_MINUS = r"\-\u2010-\u2015\u207b\u208b\u2212\uff0d"
_BEFORE = re.compile(r"(?:\A|[\s(\[{=;\"'|<>~$\xa3\u20ac]|(?<![\d\\])[,:])\Z", re.ASCII)
_AFTER = re.compile(r"\Z|[\s()\]}=;\"|%\xb0]|[.:',](?!\d)", re.ASCII)
"""What may stand beside a number: the line's end, space, a bracket or punctuation."""
_SIGN_BEFORE = re.compile(rf"[{_MINUS}][^\w>]{{0,4}}(?:[A-Z]{{2,3}}[^\w>]{{0,4}})?\Z")
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
    which: str = ""
    """Its index in the brackets around it, as `[1, 0]`, or `#3` for the output's third number."""
    form: str = ""
    """Such as `.2f`, `.0%` or `,d`; as printed, if there is none."""

    def number_in(self, text: str) -> str:
        """Return the quoted number of a text.

        Raises:
            ValueError: If the text has no such number, or it can't be shown in the form.

        Examples:
            >>> read_quotation("weights[1] .0%").number_in("tensor([0.1500, 0.2264])")
            '23%'

        """
        number = self._find(text)
        return (self._formatted(number) if self.form else number).replace("-", "\N{MINUS SIGN}")

    def _formatted(self, number: str) -> str:
        """Return a number in the form that is asked for, if so many digits were printed."""
        try:
            if self.form == ",d":
                return f"{int(number):,}"
            printed = -int(Decimal(number).as_tuple().exponent)
        except (InvalidOperation, ValueError):
            message = f"{self.name} prints {number}: {self.form!r} can't show it"
            raise ValueError(message) from None
        if int(self.form[1:-1]) + 2 * self.form.endswith("%") > printed:
            raise ValueError(f"{self.name} prints {number}: {self.form!r} shows more digits")
        return format(Decimal(number), self.form)

    def _find(self, text: str) -> str:
        """Return the quoted number as it is printed."""
        read = read_tokens(text)
        numbers = found = [i for i, token in enumerate(read) if token.is_number]
        if self.which.startswith("["):
            index = tuple(map(int, self.which[1:-1].split(",")))
            found = [i for i, other in indices(read, set(numbers)).items() if other == index]
        elif self.which:
            found = [i for n, i in enumerate(numbers, start=1) if self.which == f"#{n}"]
        if not found:
            raise ValueError(f"{self.name} has no number {self.which}".rstrip())
        if len({read[i].text for i in found}) > 1:
            ways = " or ".join(f"{self.name}#{numbers.index(i) + 1}" for i in found[:2])
            name = f"{self.name}{self.which}"
            raise ValueError(f"{name} has {len(found)} numbers; say which: {ways}")
        for number in (read[i] for i in found):
            self._refuse_piece(number, plain(text))
        return read[found[0]].text

    def _refuse_piece(self, number: Token, text: str) -> None:
        """Raise an error where a reader may take a number for a piece of another one."""
        before = text[: number.start].rpartition("\n")[2]
        after = text[number.end :].partition("\n")[0]
        stands_alone = _BEFORE.search(before) and _AFTER.match(after)
        is_piece = _SIGN_BEFORE.search(before) or _CALCULATED.search(before + number.text + after)
        if not stands_alone or is_piece:
            near = before[-_NEAR:] + number.text + after[:_NEAR]
            raise ValueError(
                f"{self.name} prints {near!r}, where {number.text} may not be the whole number: "
                "let the cell print it by itself, as -1500.75 or 1.5e-20, or glue its value"
            )


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
    return Quotation(match["name"], match["which"], match["form"] or "")


def quote(results: Collection[PageResult], target: str) -> str:
    """Return a number that a cell of some pages printed.

    Raises:
        ValueError: If there is none, or several outputs have the name.

    """
    quotation = read_quotation(target)
    name = quotation.name
    found = [(r, o) for r in results for o in r.outcomes if o.name == name]
    if len(found) > 1:
        lines = " and ".join(f"{result.file}:{outcome.line}" for result, outcome in found)
        raise ValueError(f"{len(found)} expectations are named {name}: {lines}")
    if not (found and found[0][1].executed):
        raise ValueError(_lacking(results, name))
    outcome = found[0][1]
    if outcome.kind is Kind.UNCHECKED:
        raise ValueError(f"{name} is unchecked, so nobody knows that its numbers are right")
    if outcome.reference_only:
        raise ValueError(f"{name} holds on the reference environment alone")
    return quotation.number_in(outcome.executed)


def _lacking(results: Iterable[PageResult], name: str) -> str:
    """Return why nothing was printed that has a name."""
    for result in results:
        if line := result.names.get(name):
            expectation = f"{name} is at {result.file}:{line}"
            if result.left_out:
                return f"{expectation}, on a page that is left out by {result.left_out}"
            return f"{expectation}, and nothing was printed for it"
    return f"no expectations are named {name}"
