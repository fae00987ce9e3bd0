"""Compare the numbers of an output's text with those of another form in which it is shown."""

from __future__ import annotations

import re
from collections import Counter

from sphinx_drift.compare.html_text import html_text, row_headers

_DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"(?<![\w.)\]])-?(?:{_DIGITS}|(?:nan|inf)\b)|{_DIGITS}")
_UNSIGNED = re.compile(rf"{_DIGITS}|-")
_POWER_OF_TEN = re.compile(r"\s*\\(?:cdot|times)\s*10\^\{?(-?)(\d+)\}?")
_MINUS = str.maketrans("\N{MINUS SIGN}", "-")
_WRAPPED = re.compile(r"(?m)\\\s*$")


def html_differs(text: str, html: str) -> str:
    """Say which numbers of some HTML are not those of the text, in their order; nothing if none.

    A wide data frame is wrapped in text: its index stands before each part of its columns.

    Examples:
        >>> html_differs("a 0.5", "<b>a</b> <i>0.5</i>")
        ''
        >>> html_differs("a 0.5", "<b>a</b> <i>0.6</i>")
        'the text has 0.5, the HTML has 0.6'

    """
    in_html = _numbers(html_text(html))
    parts = len(_WRAPPED.findall(text)) + 1
    if parts == 1:
        return _in_order(_numbers(text), in_html, "HTML")
    repeated = _numbers(row_headers(html)) * (parts - 1)
    return _in_any_order(_numbers(text), [*in_html, *repeated], "HTML")


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
    return _in_order(_numbers(text), _numbers(other), form)


def _numbers(text: str) -> list[str]:
    """Return the numbers in a text, in their order, written as code writes them."""
    return _NUMBER.findall(text.translate(_MINUS).lower())


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
    """Name what each side has and the other has not."""
    has, have = (", ".join(side[:5]) or "none more" for side in (text, shown))
    return f"the text has {has}, the {form} has {have}"
