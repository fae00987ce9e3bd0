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

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,}|:{3,})")
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
    are_numbers = all(each.number and each.gaps[0] == each.gaps[1] for each in differences)
    if not (differences and are_numbers):
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


def indent_of(lines: Sequence[str], expectation: Expectation) -> str:
    """Return the white space before the fence of an expectation."""
    opening = lines[expectation.line - 1]
    return opening[: len(opening) - len(opening.lstrip())]


def body_edits(lines: Sequence[str], expectation: Expectation, rows: Sequence[str]) -> list[Edit]:
    """Replace the text of an expectation, and lengthen its fence if the text contains it."""
    opening, indent = lines[expectation.line - 1], indent_of(lines, expectation)
    first, last = expectation.body_line - 1, expectation.end_line
    options = first > expectation.line
    new = [*([] if options else _guard(rows)), *rows]
    edits = [(first, last, [indent + row if row else "" for row in new])]
    match = _FENCE.match(opening)
    fence = match and _longer(match[1], rows)
    if match and fence != match[1]:
        edits.append(
            (expectation.line - 1, expectation.line, [f"{indent}{fence}{opening[match.end() :]}"])
        )
        edits.append((last, last + 1, [f"{indent}{fence}"]))
    return edits


def _guard(rows: Sequence[str]) -> list[str]:
    """Return a blank line if the first row would be read as an option."""
    return [""] if re.match(r":[a-z-]+:", rows[0]) else []


def _longer(fence: str, rows: Iterable[str]) -> str:
    """Return a fence that none of the rows closes."""
    starts = (row.lstrip() for row in rows)
    longest = max((len(start) - len(start.lstrip(fence[0])) for start in starts), default=0)
    return fence[0] * max(len(fence), longest + 1)


def new_expectation(options: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return a new expectation."""
    ticks = _longer("```", rows)
    head = [*options, ""] if options else _guard(rows)
    return [f"{ticks}{{{DIRECTIVE}}}", *head, *rows, ticks]
