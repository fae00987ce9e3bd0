"""Compare the numbers of an output's text with those of another form in which it is shown."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

from sphinx_drift.compare.tokens import DIGITS
from sphinx_drift.output.html_text import UUID, html_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_SYMBOL = (
    r"[-+<>~!/%\u2030\xac\xb0\xb1\xa2\xa3\xa5\u207a\u207b\u208a\u208b\u20a0-\u20bf\u2103\u2109"
    r"\u2190-\u2214\u2216\u221a-\u22c4\u22c6-\u22ed\u22f2-\u22ff\u25a0-\u2610\u2612-\u2bff"
    r"\U0001f000-\U0001faff]"
)
"""What changes a meaning: no boxes, bullets or ellipses, nor a tick that an attribute says."""
_TYPOGRAPHY = (
    r"(?m:^[^\S\n]*[-+=~|:][-+=~|: \t]*$)|[-+=~|:]{3,}(?![^\S\n]?[\w(\[])"
    r"|--+(?![^\S\n]?\d)|(?<=\w)-(?=[^\W\d])"
    r"|(?m:^)[^\S\n]*[-+\u25aa\u25ab\u25cf\u25e6](?=[^\S\n]+(?!(?i:nan|inf))[^\W\d])"
)
"""Rules, dashes and hyphens between words, and what stands before an item."""
# Digits that are part of a word count too: HTML may show them apart, as in x<sub>2</sub>.
# What can't be seen parts digits, or turns the text after it round.
_PIECE = re.compile(
    rf"{_TYPOGRAPHY}|((?:-[^\S\n]{{0,9}}[$\u20a0-\u20bf\xa3\xa5]?)?"
    rf"(?:{DIGITS}(?:[^\S\n]?[%\N{{PER MILLE SIGN}}])?|(?i:nan|inf(?:inity)?)\b|\N{{INFINITY}})"
    rf"|[^\W\d_]+|[\xad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|{_SYMBOL})"
)
_DASH = re.compile(r"(?<!\S)[-\u2013\u2212](?=[^\S\n])")
"""What may be a cell's own, and no sign of the number in the next one."""
_ANGLED = re.compile(r"<([^\W\d][^<>]*)>")
"""What stands in a pair of brackets, as in `<NA>`."""
_SPELT = {"<->": "↔", "-->": "→", "->": "→", "=>": "⇒", "<=": "≤", ">=": "≥", "!=": "≠", "+/-": "±"}
_SPELLING = re.compile("|".join(map(re.escape, _SPELT)))
_NAMED_VALUES = frozenset(("nan", "inf", "infinity", "true", "false"))
_NULL = {"null": "None"}
_UNSIGNED = re.compile(rf"{DIGITS}|[-+<>%±∓∞≈≠≤≥←↑↓✓✗]")
_NAMES = (
    *("≤ le leq leqslant", "≥ ge geq geqslant", "≠ ne neq Ne(", "∞ inf oo zoo infty", "< lt"),
    *("> gt", "± pm", "∓ mp", "≈ approx", "✓ checkmark", "✗ xmark", "↑ uparrow", "↓ downarrow"),
    "← leftarrow gets",
)
_COMMANDS = {name: sign for sign, *names in map(str.split, _NAMES) for name in names}
"""How LaTeX, and SymPy as text, write what is compared of a formula."""
_COMMAND = re.compile(r"\\([a-z]+)|\b((?:inf|z?oo)\b|Ne\()")
_POWER_OF_TEN = re.compile(r"(?<!\s)\s*\\(?:cdot|times)\s*10\^\{?(-?)(\d+)\}?")
_LIMITS_FIRST = re.compile(r"\\(?:(?:i*|o)int|sum|prod|lim|neq?)(?![a-z])")
_ASCII = str.maketrans(
    {**dict.fromkeys("\u2212\u2013\u2010\u2011\ufe63\uff0d", "-"), "\N{MULTIPLICATION SIGN}": "x"}
)
"""What is read as a minus sign, and how pandas joins the numbers of rows and columns."""
_Sides = tuple[list[str], list[str]]


def html_differs(text: str, html: str) -> str:
    """Say which values of some HTML are not those of the text, in their order; nothing if none.

    Values are numbers with their signs, symbols, and words if both have some.

    Examples:
        >>> html_differs("a 0.5", "<b>a</b> <i>0.5</i>")
        ''
        >>> html_differs("a 0.5", "<b>a</b> <i>0.6</i>")
        'the text has 0.5, the HTML has 0.6'

    """
    # The dash before an item is a bullet, and no minus sign.
    text, shown = _unwrapped(text), html_text(html, bullet="* ")
    apart = (_DASH.sub("-|", each) for each in (text, shown))
    message = _in_order(_values(text, shown), "HTML")
    return message and _in_order(_values(*apart), "HTML") and message


def latex_differs(text: str, latex: str) -> str:
    r"""Say which numbers and signs of some LaTeX are not those of the text, in their order.

    What has limits is written in another order than code has: ``\int_0^1 x^2``.

    Examples:
        >>> latex_differs("x**2 - 1/3", r"x^{2} - \frac{1}{3}")
        ''

    """
    latex = _POWER_OF_TEN.sub(lambda m: f"e{m[1] or '+'}{m[2]:0>2}", latex)
    compared = _in_any_order if _LIMITS_FIRST.search(latex) else _in_order
    return compared((_numbers(text), _numbers(latex)), "LaTeX")


def markdown_differs(text: str, markdown: str) -> str:
    """Say which values of some Markdown, as it is rendered, are not those of the text."""
    return _in_order(
        _values(text, html_text(rendered(markdown), bullet="* "), markdown), "Markdown"
    )


def json_differs(text: str, json: str) -> str:
    """Say which values of some JSON are not those of the text, in their order."""
    return _in_order(_values(text, json), "JSON")


def rendered(markdown: str) -> str:
    """Return the HTML that a page shows of some Markdown, the numbers of its lists as text."""
    if not markdown:
        return ""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - slow

    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(markdown)
    numbers: list[int] = []
    for token in tokens:
        if token.type == "ordered_list_open":
            numbers.append(int(token.attrs.pop("start", 1)))
        elif token.type == "ordered_list_close":
            numbers.pop()
        elif token.type == "list_item_open" and token.info:
            token.type, token.content = "html_block", f"<li>{numbers[-1]}{token.markup} "
            numbers[-1] += 1
    return str(parser.renderer.render(tokens, parser.options, {}))


def _unwrapped(text: str) -> str:
    """Join the parts of a wide data frame, before each of which pandas repeats its index."""
    parts = [part.split("\n") for part in text.split("\n\n")]
    last = len(list(takewhile(lambda part: part[0].rstrip().endswith("\\"), parts)))
    table = parts[: last + 1]
    if not last or len({len(part) for part in table}) > 1:
        return text
    rows = [*zip(*table, strict=True)]
    index = min(map(_common, rows))
    while any(row[0][index - 1 : index].strip() for row in rows):
        index -= 1  # the names of two columns begin alike
    joined = [" ".join([row[0], *(line[index:] for line in row[1:])]) for row in rows]
    return "\n".join([*joined, *map("\n".join, parts[last + 1 :])])


def _common(lines: Sequence[str]) -> int:
    """Return how many characters some lines begin with alike."""
    return sum(1 for _ in takewhile(lambda each: len({*each}) == 1, zip(*lines, strict=False)))


def _values(text: str, shown: str, source: str = "") -> _Sides:
    """Return the numbers, signs and words of both, in order.

    No words are compared if the text has none, or neither what is shown nor its source.
    """
    sides = _pieces(text), _pieces(shown)
    if all(any(map(_is_word, each)) for each in (sides[0], _pieces(source) or sides[1])):
        return sides
    return [p for p in sides[0] if not _is_word(p)], [p for p in sides[1] if not _is_word(p)]


def _pieces(text: str) -> list[str]:
    found = _PIECE.findall(_plain(UUID.sub("UUID", text)))
    pieces = ("".join(piece.split()) for piece in found if piece)
    return [_NULL.get(piece, piece) if _is_word(piece) else piece.lower() for piece in pieces]


def _plain(text: str) -> str:
    """Write signs alike, and leave out brackets around words, which parts of them may be in."""
    text = _SPELLING.sub(lambda match: _SPELT[match[0]], text.translate(_ASCII))
    return _ANGLED.sub(r"\1", _ANGLED.sub(r"\1", text))


def _is_word(piece: str) -> bool:
    return piece.isalpha() and piece.lower() not in _NAMED_VALUES


def _numbers(text: str) -> list[str]:
    """Return the numbers and signs of a formula, in order."""
    text = _COMMAND.sub(lambda match: _COMMANDS.get(match[1] or match[2], match[0]), text)
    return [_shortest(number) for number in _UNSIGNED.findall(_plain(text))]


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


def _visible(piece: str) -> str:
    return piece if piece.isprintable() else ascii(piece)


def _message(text: list[str], shown: list[str], form: str) -> str:
    """Name the values that only one side has."""
    has, have = (", ".join(map(_visible, side[:5])) or "none more" for side in (text, shown))
    return f"the text has {has}, the {form} has {have}"
