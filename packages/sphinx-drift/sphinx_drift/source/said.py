"""Numbers that sentences say, against those that cells print: two lists in, findings out."""

from __future__ import annotations

import re
from bisect import bisect_left
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.lexer import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NUMBER = re.compile(
    rf"""
    (?<![\w.^]) (?<!\d[:/]) (?: (?<![)\]}}]) [-+\u2212] )?
    (?P<digits>
      \d{{1,3}} (?:,\d{{3}})+ (?:\.\d+)? (?![\d,])
      | (?<!\d,) (?! (?<=[(\[]) [\d,]+ [)\]]) \d+,\d+ (?![\d,.])  # (3,4) is a shape
      | {DIGITS}
    )
    (?: \s? (?P<percent> \\?% | per\ ?cent\b ) | \s (?P<power> {"|".join(_POWERS)} )\b )?
    """,
    re.VERBOSE,
)
_LABEL = (
    r"(?:sec(?:t(?:ion)?)?|ch(?:ap(?:ter)?)?|figure|fig|listing|table|exercise|eq(?:uation)?"
    r"|example|algorithm|theorem|lemma|definition|appendix|part|step|version|python|(?:py)?torch"
    r"|numpy|cuda|llama|gpt|v)"
)
_NO_QUOTATION = re.compile(
    rf"""
    (?: \{{[\w:.+-]+\}} )? (?P<ticks>`+) .+? (?P=ticks)  # code and roles
    | \$\$ .+? \$\$ | (?<!\\)\$ (?!\s) [^$]+? (?<!\s)\$ (?!\d) | \\\( .+? \\\) | \\\[ .+? \\\]
    | !?\[[^\]]*\]\([^)]*\) | https?://\S+ | <[^>]+> | \d+-\d+-\d+
    | \b{_LABEL}s?\.? [\s\xa0~]* \d[\d.]*
    | \A\d+(?:\.\d+)+\.?\s+(?=[*_]*[A-Z]) | \([1-9]\d?\.\d+\)  # of a section, of an equation
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""What no cell has printed, though it has digits."""
_PIECE = re.compile(
    r"[.,:/]\d|[\^\u2070-\u207f\xb2\xb3\xb9]|\s?(?:[x*\xb7\xd7]|\\times)\s?10"
    r"|(?!(?:x|[mnu\xb5]?s|[kKMGT]i?B)\b)-?[^\W\d_]"
)
"""What shows, just after a number, that it is a piece of something: of a version, of a name."""
_LOOSE = re.compile(
    r"(?:[<>\u2264\u2265~\u2248]|\b(?:than|below|under|above|over|least|most|between|exceeds?"
    r"|approximately|roughly)|[\d)]\s*=)\s*\Z",
    re.IGNORECASE,
)
"""What shows, just before it, that nothing need have printed it: a bound, an estimate, a sum."""
_ABOVE = 2
"""How many cells above a sentence it may speak of."""
_NEARLY, _ALIKE = Decimal("0.05"), Decimal("0.25")
"""How far a number may be from a printed one, in parts of it, and from those that compete."""
_FEWEST, _MOST = 2, 25
"""Digits of a number that says which one it is, and those with which `decimal` counts."""
_LARGEST = 400
"""The power of ten above which, and below which, there are no floats."""


class Sentence(NamedTuple):
    """A paragraph, or what stands in a field of a table."""

    text: str
    line: int
    """On which it begins."""
    above: int
    """How many code cells are above it."""
    in_table: bool = False


class Number(NamedTuple):
    """A number in a text."""

    text: str
    end: int
    values: tuple[Decimal, ...]
    """What it may mean, without its sign: 31 % is 31, and 0.31."""

    @property
    def is_decimal(self) -> bool:
        """Whether it has digits after the point."""
        return int(self.values[0].as_tuple().exponent) < 0

    @property
    def sizes(self) -> tuple[Decimal, ...]:
        """By what a distance from each value is measured: from 98 %, by what is left to 100."""
        if len(self.values) == 1:
            return self.values
        wholes = zip(self.values, (100, 1), strict=True)
        return tuple(min(value, abs(whole - value)) for value, whole in wholes)

    def is_in(self, known: Sequence[Decimal], units: str) -> bool:
        """Whether a sorted number is at most so many units of its last digit from it."""
        for value in self.values:
            reach = _unit(value) * Decimal(units)
            at = bisect_left(known, value - reach)
            if at < len(known) and known[at] <= value + reach:
                return True
        return False


class Replaced(NamedTuple):
    """A number that a cell printed, and what it prints now."""

    old: str
    new: str
    cell: int


class Finding(NamedTuple):
    """A number in a sentence, and the printed one that it should be."""

    line: int
    said: str
    printed: str
    cell: int
    old: str = ""


def numbers_in(text: str) -> Iterator[Number]:
    r"""Yield the finite numbers of a text.

    Examples:
        >>> [number.text for number in numbers_in("From 0.31 to 43,2 %, at 1,250 rows.")]
        ['0.31', '43,2 %', '1,250']

    """
    for match in _NUMBER.finditer(text):
        digits = match["digits"]
        is_grouped = re.search(r"\.|,.*,|^[1-9]\d*,\d{3}$", digits)
        try:
            value = Decimal(digits.replace(",", "" if is_grouped else "."))
        except InvalidOperation:  # its exponent has more digits than any number
            continue
        if len(value.as_tuple().digits) > _MOST or abs(value.adjusted()) > _LARGEST:
            continue
        values = (value, value.scaleb(-2)) if match["percent"] else (value,)
        if match["power"]:
            values = (value.scaleb(_POWERS[match["power"]]),)
        yield Number(match[0].rstrip("."), match.end(), values)


def said_in(text: str) -> Iterator[Number]:
    """Yield the numbers of a sentence that may be quoted from an output.

    Examples:
        >>> [n.text for n in said_in("In Section 3.4, `x` is 0.31, see $0.2$ and Python 3.11.")]
        ['0.31']

    """
    text = _NO_QUOTATION.sub(lambda match: "_" * len(match[0]), text)
    yield from (n for n in numbers_in(text) if not _PIECE.match(text, n.end))


def known_in(texts: Iterable[str]) -> list[Decimal]:
    """Return the numbers of some texts, sorted."""
    return sorted({value for text in texts for n in numbers_in(text) for value in n.values})


def outdated(
    sentences: Iterable[Sentence], replaced: Sequence[Replaced], known: Sequence[Decimal]
) -> Iterator[Finding]:
    """Yield sentences that still give a number the update replaced and nothing prints any more."""
    for sentence in sentences:
        for said in said_in(sentence.text):
            digits = len(said.values[0].as_tuple().digits)
            if digits < _FEWEST or said.is_in(known, "0.5"):
                continue
            for old, new, cell in replaced:
                if any(_is_rounding(said, was) for was in numbers_in(old)):
                    yield Finding(_line(sentence, said), said.text, new, cell, old)
                    break


def nearly(
    sentences: Iterable[Sentence],
    printed: Mapping[int, Sequence[Number]],
    known: Sequence[Decimal],
) -> Iterator[Finding]:
    """Yield the decimals that nothing has printed, but a cell above them nearly has.

    Args:
        sentences: What a page says.
        printed: The decimals that each cell prints.
        known: All numbers of its outputs and code: what rounds or cuts one of these is right.

    """
    for sentence in sentences:
        above = range(sentence.above - _ABOVE + 1, sentence.above + 1)
        for said in () if sentence.in_table else said_in(sentence.text):
            is_loose = _LOOSE.search(sentence.text, 0, said.end - len(said.text))
            if not said.is_decimal or is_loose or said.is_in(known, "0.999"):
                continue
            distances = {
                (abs(number.values[0] - value) / size, number.text, cell)
                for cell in above
                for number in printed.get(cell, ())
                for value, size in zip(said.values, said.sizes, strict=True)
                if size and _unit(value) >= _unit(number.values[0])  # printed digits are no fewer
            }
            alike = [found for found in distances if found[0] <= _ALIKE]
            # The more numbers there are, the nearer one is by chance.
            if alike and min(alike)[0] * len({text for _, text, _ in alike}) <= _NEARLY:
                yield Finding(_line(sentence, said), said.text, *min(alike)[1:])


def _line(sentence: Sentence, said: Number) -> int:
    return sentence.line + sentence.text.count("\n", 0, said.end)


def _is_rounding(said: Number, old: Number) -> bool:
    """Whether a number is one that was printed, or a rounding of it."""
    was = old.values[0]
    return any(
        abs(value - was) <= (_unit(value) / 2 if old.is_decimal else 0) for value in said.values
    )


def _unit(value: Decimal) -> Decimal:
    """Return one unit of a number's last digit."""
    return Decimal(1).scaleb(int(value.as_tuple().exponent))
