"""Compare the numbers of an output's text with those of another form in which it is shown."""

from __future__ import annotations

import re
from collections import Counter

from sphinx_drift.compare.tokens import DIGITS
from sphinx_drift.output.html_text import html_text

# Digits that are part of a word count too: HTML may show them apart, as in x<sub>2</sub>.
_PIECE = re.compile(
    rf"(?:-[^\S\n]{{0,9}})?(?:{DIGITS}(?:[^\S\n]?[%\N{{PER MILLE SIGN}}])?|(?:nan|inf)\b)"
    r"|[^\W\d_]+"
)
_NAMED_VALUES = frozenset(("nan", "inf", "true", "false"))
_NULL = {"null": "none"}
_UNSIGNED = re.compile(rf"{DIGITS}|-")
_POWER_OF_TEN = re.compile(r"(?<!\s)\s*\\(?:cdot|times)\s*10\^\{?(-?)(\d+)\}?")
_LIMITS_FIRST = re.compile(r"\\(?:(?:i*|o)int|sum|prod|lim)(?![a-z])")
_ASCII = str.maketrans(
    {**dict.fromkeys("\u2212\u2013\u2010\u2011\ufe63\uff0d", "-"), "\N{MULTIPLICATION SIGN}": "x"}
)
"""What is read as a minus sign, and how pandas joins the numbers of rows and columns."""
_WRAPPED = re.compile(r"(?m)\\\s*$")
_Sides = tuple[list[str], list[str]]
_ITEM = re.compile(r"(?m)^([ \t]*)- ")


def html_differs(text: str, html: str) -> str:
    """Say which values of some HTML are not those of the text, in their order; nothing if none.

    Values are numbers with their signs, and words if both have some. A wide data frame is wrapped
    in text: its index stands before each part of its columns.

    Examples:
        >>> html_differs("a 0.5", "<b>a</b> <i>0.5</i>")
        ''
        >>> html_differs("a 0.5", "<b>a</b> <i>0.6</i>")
        'the text has 0.5, the HTML has 0.6'

    """
    # The dash before an item is a bullet, and no minus sign.
    sides = _values(text, html_text(html, bullet="* "))
    wraps = len(_WRAPPED.findall(text))
    return _differs_where_wrapped(*sides, wraps) if wraps else _in_order(sides, "HTML")


def latex_differs(text: str, latex: str) -> str:
    r"""Say which numbers and minus signs of some LaTeX are not those of the text, in their order.

    What has limits is written in another order than code has: ``\int_0^1 x^2``.

    Examples:
        >>> latex_differs("x**2 - 1/3", r"x^{2} - \frac{1}{3}")
        ''

    """
    latex = _POWER_OF_TEN.sub(lambda m: f"e{m[1] or '+'}{m[2]:0>2}", latex)
    compared = _in_any_order if _LIMITS_FIRST.search(latex) else _in_order
    return compared((_numbers(text), _numbers(latex)), "LaTeX")


def text_differs(text: str, other: str, form: str = "Markdown") -> str:
    """Say which values of a form that is text too are not those of the text, in their order."""
    bulleted = _ITEM.sub(r"\1* ", other) if form == "Markdown" else other
    return _in_order(_values(text, bulleted), form)


def _values(text: str, shown: str) -> _Sides:
    """Return the numbers, signs and words of both, in order; no words if one of them has none."""
    sides = _pieces(text), _pieces(shown)
    if all(any(map(_is_word, each)) for each in sides):
        return sides
    return [p for p in sides[0] if not _is_word(p)], [p for p in sides[1] if not _is_word(p)]


def _pieces(text: str) -> list[str]:
    pieces = _PIECE.findall(text.translate(_ASCII).lower())
    return [_NULL.get(piece) or "".join(piece.split()) for piece in pieces]


def _is_word(piece: str) -> bool:
    return piece.isalpha() and piece not in _NAMED_VALUES


def _numbers(text: str) -> list[str]:
    """Return the numbers and minus signs of a formula, in order."""
    return [_shortest(number) for number in _UNSIGNED.findall(text.translate(_ASCII))]


def _shortest(number: str) -> str:
    """Write a number without zeros that end it, and its exponent with two digits and a sign."""
    mantissa, _, exponent = number.lower().partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent):+03d}" if exponent else mantissa


def _in_order(sides: _Sides, form: str) -> str:
    text, shown = sides
    if text == shown:
        return ""
    same = next((i for i, (a, b) in enumerate(zip(text, shown, strict=False)) if a != b), None)
    at = min(len(text), len(shown)) if same is None else same
    return _message(text[at : at + 1], shown[at : at + 1], form)


def _in_any_order(sides: _Sides, form: str) -> str:
    ours, theirs = map(Counter, sides)
    return "" if theirs == ours else _message([*(ours - theirs)], [*(theirs - ours)], form)


def _differs_where_wrapped(text: list[str], html: list[str], wraps: int) -> str:
    """Compare in any order; at each wrap the text may repeat what the HTML has once."""
    has, shown = Counter(text), Counter(html)
    more = has - shown
    repeats = all(not n % wraps and n <= wraps * shown[piece] for piece, n in more.items())
    return "" if repeats and shown <= has else _message([*more], [*(shown - has)], "HTML")


def _message(text: list[str], shown: list[str], form: str) -> str:
    """Name the values that only one side has."""
    has, have = (", ".join(side[:5]) or "none more" for side in (text, shown))
    return f"the text has {has}, the {form} has {have}"
