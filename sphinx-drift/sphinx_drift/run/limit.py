"""How much a page may print, and what is kept of a text that is too long."""

from __future__ import annotations

CELLS_OF_A_PAGE = 4
"""How many times what a cell may print a page may."""

_ENDS = 2_000
"""Characters that are kept at each end of a text that is too long."""
_LINES = 3


class Allowance:
    """What a page may still print, in bytes."""

    def __init__(self, limit: int) -> None:
        """Take what one cell may print."""
        self.limit = limit
        self._of_page = limit * CELLS_OF_A_PAGE
        self.begin_cell()

    def begin_cell(self) -> None:
        """Let the next cell print as much as any."""
        self._of_cell = self.limit

    def admits(self, size: int) -> bool:
        """Count what is printed, and return whether it is within the limits."""
        self._of_cell -= size
        self._of_page -= size
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
