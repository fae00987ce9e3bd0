"""Find where in a text of JSON something stands: the cells of a notebook, by line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


def cell_lines(text: str) -> list[int]:
    r"""Return the line on which each cell of a notebook begins; none of a format older than 4.

    Examples:
        >>> cell_lines('{\n "cells": [\n  {},\n  {}\n ]\n}')
        [3, 4]

    """
    try:
        cells = dict(members(text, text.index("{"))).get("cells")
        places = [] if cells is None else [place for _, place in members(text, cells)]
    except (ValueError, IndexError):  # it is told where the notebook itself is read
        return []
    lines, line, last = [], 1, 0
    for place in places:
        line += text.count("\n", last, place)
        lines.append(line)
        last = place
    return lines


def members(text: str, start: int) -> Iterator[tuple[str | int, int]]:
    """Yield the names, or numbers, of what a JSON object or list holds, and where each begins."""
    is_object = text[start] == "{"
    at = _after_blank(text, start + 1)
    number = 0
    while text[at] not in "}]":
        name: str | int = number
        if is_object:
            name, at = DECODER.raw_decode(text, at)
            at = _after_blank(text, _after_blank(text, at) + 1)
        yield name, at
        _, at = DECODER.raw_decode(text, at)
        at = _after_blank(text, at)
        if text[at] == ",":
            at = _after_blank(text, at + 1)
        number += 1


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
