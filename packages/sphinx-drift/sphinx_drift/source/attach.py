"""Assign the expectations of a page to the cells before them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sphinx_drift.model import Cell, Kind, Outcome
from sphinx_drift.output.printed_text import Part
from sphinx_drift.source.expectations import DIRECTIVE, read_expectation
from sphinx_drift.source.markdown import is_closed
from sphinx_drift.source.variants import UNCONDITIONAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_OPEN = "its fence isn't closed before the end of the page: nobody would see what it swallows"
_COMMENT = re.compile(r"\s*(?:(?:%|\+\+\+).*)?$")


def attach(
    token: Token, cells: list[Cell], ends: dict[int, int], lines: Sequence[str]
) -> list[Outcome]:
    """Assign an expectation to the cell immediately before it."""
    assert token.map  # noqa: S101 - only fences with a map come here
    first, last = token.map
    expectation, problems = read_expectation(token.content, first + 1)
    argument = token.info.strip().removeprefix(f"{{{DIRECTIVE}}}").strip()
    if argument:
        # Sphinx hands an argument that isn't wanted over as the first line of the content.
        expectation = replace(expectation, content=f"{argument}\n{token.content}".strip())
        message = f"`{{{DIRECTIVE}}}` takes no argument, got {token.info.strip()!r}"
        problems.append(Outcome(Kind.OPTION, first + 1, message=message))
    if (expectation.unchecked or expectation.reference_only) and not is_closed(token, lines):
        problems.append(Outcome(Kind.OPTION, first + 1, message=_OPEN))
    owner = max((place for place, end in ends.items() if end <= first), default=None)
    if owner is None or any(not _COMMENT.match(line) for line in lines[ends[owner] : first]):
        return [*problems, Outcome(Kind.NO_CELL, first + 1, documented=expectation.content)]
    ends[owner] = last
    cell = cells[owner]
    if expectation.part is Part.ALL and not cell.has_stderr:
        expectation = replace(expectation, part=Part.MAIN)
    others = [e for e in cell.expectations if e.part is expectation.part]
    if any(bool(other.when) != bool(expectation.when) for other in others):
        problems.append(Outcome(Kind.OPTION, first + 1, message=UNCONDITIONAL))
    cells[owner] = replace(cell, expectations=(*cell.expectations, expectation))
    return problems
