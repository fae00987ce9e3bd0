"""How much a page may print. The fork server imports it too.

It is counted where it is printed, in the page's process, which stops itself and says why; and once
more in the fork server, with a little more room, so that no page fills another process's memory.
"""

from __future__ import annotations

from typing import Any

CELLS_OF_A_PAGE = 4
"""How many times what a cell may print a page may."""

_ENDS = 2_000
"""Characters that are kept at each end of a text that is too long."""
_LINES = 3
_NO_OUTPUTS = {"begun", "cell", "ended", "answers"}
_ENVELOPE = 100
_PIECE = 16
"""Bytes that count for what is around each piece of an output, whose envelope is not counted."""


class Allowance:
    """What a page may still print, in bytes of JSON as it travels."""

    def __init__(self, limit: int) -> None:
        """Take what one cell may print."""
        self.limit = limit
        self._of_cell = limit
        self._of_page = limit * CELLS_OF_A_PAGE

    def admits(self, message: dict[str, Any], size: int) -> bool:
        """Count a message of a page's process, and return whether it is within the limits."""
        kind = message["type"]
        if kind == "cell":
            self._of_cell = self.limit
        if kind not in _NO_OUTPUTS:
            cost = max(size - _ENVELOPE, 0) + _PIECE
            self._of_cell -= cost
            self._of_page -= cost
        return min(self._of_cell, self._of_page) >= 0


def clipped(text: str) -> str:
    """Return a text, or both ends of one that is too long to be shown."""
    left_out = len(text) - 2 * _ENDS
    if left_out <= 0:
        return text
    return f"{text[:_ENDS]}\n[{left_out} characters left out]\n{text[-_ENDS:]}"


def first_and_last(text: str) -> str:
    """Return the first and last lines of a text."""
    lines = clipped(text).splitlines()
    if len(lines) <= 2 * _LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:_LINES], "[...]", *lines[-_LINES:]])
