"""Compare the numbers of an output's text with those of another form in which it is shown."""

from __future__ import annotations

import re
from collections import Counter

from sphinx_drift.compare.tokens import DIGITS
from sphinx_drift.output.html_text import html_text, row_headers

# Digits that are part of a word count too: HTML may show them apart, as in x<sub>2</sub>.
_VALUE = re.compile(
    rf"(?:(?<![\w.)\]])-?(?:{DIGITS}|(?:nan|inf)\b)|{DIGITS})(?:[^\S\n]?%)?|\b(?:true|false)\b"
)
_UNSIGNED = re.compile(rf"{DIGITS}|-")
_POWER_OF_TEN = re.compile(r"(?<!\s)\s*\\(?:cdot|times)\s*10\^\{?(-?)(\d+)\}?")
_MINUS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}", "--")
_WRAPPED = re.compile(r"(?m)\\\s*$")


def html_differs(text: str, html: str) -> str:
    """Say which values of some HTML are not those of the text, in their order; nothing if none.

    A wide data frame is wrapped in text: its index stands before each part of its columns.

    Examples:
        >>> html_differs("a 0.5", "<b>a</b> <i>0.5</i>")
        ''
        >>> html_differs("a 0.5", "<b>a</b> <i>0.6</i>")
        'the text has 0.5, the HTML has 0.6'

    """
    in_html = _values(html_text(html))
    parts = len(_WRAPPED.findall(text)) + 1
    if parts == 1:
        return _in_order(_values(text), in_html, "HTML")
    repeated = _values(row_headers(html)) * (parts - 1)
    return _in_any_order(_values(text), [*in_html, *repeated], "HTML")


def latex_differs(text: str, latex: str) -> str:
    r"""Say which numbers and minus signs of some LaTeX are not those of the text.

    Mathematics puts them in another order than code does: ``\int_0^1 x^2``.

    Examples:
        >>> latex_differs("x**2 - 1/3", r"x^{2} - \frac{1}{3}")
        ''

    """
    latex = _POWER_OF_TEN.sub(lambda m: f"e{m[1] or '+'}{m[2]:0>2}", latex)
    ours, theirs = (_UNSIGNED.findall(each.translate(_MINUS)) for each in (text, latex))
    return _in_any_order([*map(_shortest, ours)], [*map(_shortest, theirs)], "LaTeX")


def text_differs(text: str, other: str, form: str = "Markdown") -> str:
    """Say which numbers of a form that is text too are not those of the text, in their order."""
    return _in_order(_values(text), _values(other), form)


def _values(text: str) -> list[str]:
    """Return the numbers, percentages and Booleans of a text, in order, as code writes them."""
    return ["".join(v.split()) for v in _VALUE.findall(text.translate(_MINUS).lower())]


def _shortest(number: str) -> str:
    """Write a number without zeros that end it, and its exponent with two digits and a sign."""
    mantissa, _, exponent = number.lower().partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent):+03d}" if exponent else mantissa


def _in_order(text: list[str], shown: list[str], form: str) -> str:
    if text == shown:
        return ""
    same = next((i for i, (a, b) in enumerate(zip(text, shown, strict=False)) if a != b), None)
    at = min(len(text), len(shown)) if same is None else same
    return _message(text[at : at + 1], shown[at : at + 1], form)


def _in_any_order(text: list[str], shown: list[str], form: str) -> str:
    theirs, ours = Counter(shown), Counter(text)
    return "" if theirs == ours else _message([*(ours - theirs)], [*(theirs - ours)], form)


def _message(text: list[str], shown: list[str], form: str) -> str:
    """Name the values that only one side has."""
    has, have = (", ".join(side[:5]) or "none more" for side in (text, shown))
    return f"the text has {has}, the {form} has {have}"
