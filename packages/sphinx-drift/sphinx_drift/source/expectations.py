"""Read expectations, and assign each to the cell before it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import Waiver
from sphinx_drift.model import Cell, Expectation, Kind, Outcome
from sphinx_drift.output.printed_text import FORMS, Part
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

DIRECTIVE = "expected-output"

_OPTION = re.compile(r":(?P<name>[a-z-]+):(?:\s+(?P<value>.*\S))?\s*$")
_ALLOW = re.compile(
    r"(?:\[(?P<index>\d+(?:,\s*\d+)*)\]\s*)?(?P<old>\S+)\s*->\s*(?P<new>\S+)\s*\((?P<reason>.*\S.*)\)$"
)
OPTIONS = sorted(["allow", "name", "raises", "reference-only", "stream", "unchecked", *FORMS])
"""What an expectation may say above its text."""
_REQUIRED = {
    "name": "a name",
    "raises": "the error's name",
    "reference-only": "the reason",
    "unchecked": "the reason",
}
_EXCLUSIVE = {
    "unchecked": "what can't be checked holds nowhere: keep one of the two",
    "name": "elsewhere its numbers are not those that a sentence quotes: leave the name out",
}
"""What doesn't go together with `reference-only`, and why."""
_OPEN = "its fence isn't closed before the end of the page: nobody would see what it swallows"
_COMMENT = re.compile(r"\s*(?:(?:%|\+\+\+).*)?$")
"""What no reader sees between a cell and its expectation."""


def attach(
    token: Token, cells: list[Cell], ends: dict[int, int], lines: Sequence[str]
) -> list[Outcome]:
    """Assign an expectation to the cell immediately before it.

    Args:
        token: The fence of the expectation.
        cells: The cells of the page; one of them gets the expectation.
        ends: The line after each cell and its expectations, by its place in that list.
        lines: The lines of the page.

    Returns:
        What is wrong with it.

    """
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
    cells[owner] = replace(cell, expectations=(*cell.expectations, expectation))
    return problems


def is_closed(token: Token, lines: Sequence[str]) -> bool:
    """Whether a fence ends before its text does."""
    assert token.map  # noqa: S101 - a fence has one
    fence = rf"[\s>]*{token.markup}{token.markup[0]}*\s*"  # it may stand in a quotation
    return bool(re.fullmatch(fence, lines[slice(*token.map)][-1]))


def read_expectation(content: str, line: int) -> tuple[Expectation, list[Outcome]]:
    """Read the options and the text of an expectation that begins on ``line``."""
    body = lines_of(content)
    count = 0
    options: list[tuple[str, str, int]] = []
    while count < len(body) and (match := _OPTION.match(body[count])):
        options.append((match["name"], match["value"] or "", line + count + 1))
        count += 1
    has_blank = 0 < count < len(body) and not body[count].strip()
    start = count + 1 if has_blank else count
    expectation = Expectation(
        "\n".join(body[start:]),
        line,
        line + start + 1,
        content=content.strip(),
        end_line=line + len(body),
    )
    problems: list[Outcome] = []
    for name, value, at in options:
        try:
            expectation = _with_option(expectation, name, value)
        except ValueError as error:
            problems.append(Outcome(Kind.OPTION, at, message=str(error)))
    names = {name for name, _, _ in options}
    for name, _, at in options if "reference-only" in names else ():
        if name in _EXCLUSIVE:
            message = f"`:reference-only:` and `:{name}:` don't go together: {_EXCLUSIVE[name]}"
            problems.append(Outcome(Kind.OPTION, at, message=message))
    return expectation, problems


def _with_option(expectation: Expectation, name: str, value: str) -> Expectation:
    """Return the expectation with one option set."""
    if name == "allow":
        return replace(expectation, waivers=(*expectation.waivers, _waiver(value)))
    if name == "stream":
        names = [part.value for part in Part if part not in (*FORMS, Part.TRACEBACK)]
        if value not in names:
            raise ValueError(f"`:stream:` must be one of {', '.join(names)}; got {value!r}")
        return replace(expectation, part=Part(value))
    if name in FORMS:
        if value:
            raise ValueError(f"`:{name}:` takes nothing after it, got {value!r}")
        return replace(expectation, part=Part(name))
    if name in _REQUIRED:
        if not value:
            raise ValueError(f"`:{name}:` must be followed by {_REQUIRED[name]}")
        option: dict[str, Any] = {name.replace("-", "_"): value}
        return replace(expectation, **option)
    raise ValueError(
        f"unknown option `:{name}:`; known are {', '.join(OPTIONS[:-1])} and {OPTIONS[-1]}; "
        "a text that begins like one stands below an empty line"
    )


def _waiver(value: str) -> Waiver:
    match = _ALLOW.match(value)
    if match is None:
        raise ValueError(f"`:allow:` must read `documented -> executed (reason)`; got {value!r}")
    index = tuple(int(part) for part in match["index"].split(",")) if match["index"] else None
    return Waiver(match["old"], match["new"], match["reason"], index)
