"""Edit the lines of a page: new texts of expectations, and new expectations, in its own hand."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import plain
from sphinx_drift.source.lines import NEWLINE
from sphinx_drift.source.markdown import DIRECTIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sphinx_drift.model import Expectation, Outcome

Edit = tuple[int, int, list[str]]
"""Lines from one place up to another, counted from 0, and what stands there afterwards."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Replace some lines, and keep the line endings of the file."""
    lines = io.StringIO(text, newline="").readlines()
    end = (NEWLINE.search(text) or ["\n"])[0]
    has_last_newline = text.endswith(("\n", "\r"))
    if not has_last_newline:
        lines[-1:] = [line + end for line in lines[-1:]]
    for first, last, new in sorted(edits, reverse=True):
        lines[first:last] = [line + end for line in new]
    after = "".join(lines)
    return after if has_last_newline else after.removesuffix(end)


def rewritten(outcome: Outcome) -> list[str]:
    """Return the executed output, in the documented wrapping where only numbers differ."""
    documented, executed = plain(outcome.documented), plain(outcome.executed)
    differences = sorted(outcome.verdict.differences, key=lambda each: each.documented_span)
    if not (differences and all(each.number for each in differences)):
        return rows_of(executed)
    text, done = "", 0
    for difference in differences:
        first, last = difference.documented_span
        text += documented[done:first] + executed[slice(*difference.executed_span)]
        done = last
    return rows_of(text + documented[done:])


def rows_of(text: str) -> list[str]:
    """Return the rows of a text, without spaces at their ends, which mean nothing."""
    return [row.removesuffix("\r").rstrip(" \t") for row in plain(text).split("\n")]


def changed_expectation(
    lines: Sequence[str], expectation: Expectation, rows: Sequence[str] = (), reason: str = ""
) -> Edit:
    """Give an expectation another text, or a reason why it isn't checked, and keep the rest."""
    first = expectation.line - 1
    opening = lines[first].lstrip()
    indent = lines[first].removesuffix(opening)
    old = [row.removeprefix(indent) for row in lines[first + 1 : expectation.end_line]]
    options = expectation.body_line - expectation.line - 1
    head, text = old[:options], old[options:]
    if reason:
        head = [f":unchecked: {reason}", *(head or [""])]
    fence = opening[: len(opening) - len(opening.lstrip(opening[0]))]
    new = expectation_lines(head, rows or text or [""], fence)
    return first, expectation.end_line + 1, [indent + row if row else "" for row in new]


def expectation_lines(head: Sequence[str], rows: Sequence[str], fence: str = "```") -> list[str]:
    """Return an expectation, in a fence that none of its rows closes."""
    starts = (row.lstrip() for row in rows)
    longest = max(len(start) - len(start.lstrip(fence[0])) for start in starts)
    fence = fence[0] * max(len(fence), longest + 1)
    # Without a blank line, the first row would be read as an option.
    gap = [""] * (not head and bool(re.match(r":[a-z-]+:", rows[0])))
    return [f"{fence}{{{DIRECTIVE}}}", *head, *gap, *rows, fence]
