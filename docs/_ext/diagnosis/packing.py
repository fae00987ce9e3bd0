"""Printed text as the box knows it: arrays of numbers, in as few characters as will do."""

from __future__ import annotations

import ast
import re
from itertools import groupby
from typing import TYPE_CHECKING

from sphinx_drift.compare.tokens import groups, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx_drift.compare.tokens import Token

FOUR_DECIMALS = re.compile(r"(-?)(\d+)\.(\d{4})")
SMALL = re.compile(r"(-?\d)\.(\d{4})e([+-]\d\d)")
POWERS = "abcdefghijklmnopqrstuvwxyz"
"""Letters for powers of ten: a for 0, b for -1, and so on."""
ROWS, ARRAYS = ",", ";"


def packed(text: str) -> str:
    r"""Return a text's numbers in order: rows parted by a comma, arrays by a semicolon.

    A number of four decimals loses its point, and a 0 before it; such as 1.2345e-02 becomes 12345c;
    any other begins with "=".

    Examples:
        >>> packed("tensor([[0.2996, 1.8053],\n        [-0.3061, 0.]])\n[6, 2]")
        '2996 18053,-3061 =0.;=6 =2'

    """
    return ARRAYS.join(
        ROWS.join(" ".join(map(_packed_number, row)) for row in array) for array in arrays(text)
    )


def arrays(text: str) -> list[list[list[str]]]:
    """Return a text's numbers, in arrays of rows; what is in no bracket is an array together."""
    read = tokens(text)
    numbered = [(group, row, token) for group, row, token in _placed(read) if token.is_number]
    by_array = (list(each) for _, each in groupby(numbered, key=lambda place: place[0]))
    return [
        [[token.text for *_, token in row] for _, row in groupby(array, key=lambda place: place[1])]
        for array in by_array
    ]


def _placed(read: list[Token]) -> Iterator[tuple[int, int, Token]]:
    """Yield each token with the number of its array and of its row."""
    row = 0
    for group, token in zip(groups(read), read, strict=True):
        row += token.text == "[" or token.is_line
        yield group, row, token


def _packed_number(text: str) -> str:
    if match := FOUR_DECIMALS.fullmatch(text):
        return match[1] + (match[2] if match[2] != "0" else "") + match[3]
    if (match := SMALL.fullmatch(text)) and 0 <= -int(match[3]) < len(POWERS):
        return match[1] + match[2] + POWERS[-int(match[3])]
    return f"={text}"


def printed_names(source: str) -> list[str]:
    r"""Return what a cell's code prints, as it is called there; nothing where that says nothing.

    Examples:
        >>> printed_names("print('keys:', keys.shape)\nprint(f'{x:.4f}')\nprint(W_key)")
        ['keys.shape', 'W_key']

    """
    try:
        parsed = ast.parse(source)
    except SyntaxError:
        return []
    calls = (node for node in ast.walk(parsed) if isinstance(node, ast.Call))
    prints = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
    prints.sort(key=lambda call: (call.lineno, call.col_offset))
    printed = (argument for call in prints for argument in call.args)
    said = (ast.Constant, ast.JoinedStr, ast.Starred)
    return [ast.unparse(each) for each in printed if not isinstance(each, said)]
