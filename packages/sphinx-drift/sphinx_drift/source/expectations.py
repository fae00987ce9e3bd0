"""What a page documents: its cells, what each must print, and the text that says so."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import Waiver
from sphinx_drift.compare.outcomes import Kind, Outcome
from sphinx_drift.output.printed_text import FORMS, Part
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from sphinx_drift.output.filters import Filter

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
_UNSEEN = ("remove-cell", "remove-output", "remove_cell", "remove_output")
"""The tags by which a reader is not shown what a cell prints."""


@dataclass(frozen=True)
class Expectation:
    """What a page says that a cell prints."""

    text: str
    line: int
    """Line of the page on which it begins, counted from 1."""
    body_line: int
    """Line of the page on which its text begins."""
    part: Part = Part.ALL
    name: str = ""
    """What the page calls it, to quote numbers from it."""
    raises: str = ""
    """The error that the cell must raise."""
    unchecked: str = ""
    """Why it can't be checked."""
    reference_only: str = ""
    """Why it holds on the reference environment alone."""
    waivers: tuple[Waiver, ...] = ()
    content: str = ""
    """All that stands in the directive, options too."""
    end_line: int = 0
    """Line of the page on which its text ends, inclusive; before ``body_line`` if it is empty."""


@dataclass(frozen=True)
class Cell:
    """One code cell."""

    number: int
    """Its place among the code cells, counted from 1."""
    index: int
    """Its place among all cells of the notebook, counted from 0."""
    line: int
    """Line of the page, or of the notebook's file, on which it begins."""
    source: str
    end_line: int = 1
    """Line of the page on which it ends, inclusive."""
    tags: frozenset[str] = frozenset()
    expectations: tuple[Expectation, ...] = ()
    drawn: tuple[int, int] | None = (0, 0)
    """How many pictures and widgets a notebook has stored of it; None if they aren't compared."""
    hidden: frozenset[Part] = frozenset()
    """The streams that no reader is shown."""
    glued: tuple[str, ...] = ()
    """The names by which what a notebook has stored of it is shown elsewhere."""
    filters: tuple[Filter, ...] = ()
    """What varies in its outputs, besides what does on every page."""

    @property
    def is_seen(self) -> bool:
        """Whether a reader is shown what it prints."""
        return self.tags.isdisjoint(_UNSEEN)

    @property
    def has_stderr(self) -> bool:
        """Whether a reader is shown what it writes to stderr."""
        return Part.STDERR not in self.hidden

    @property
    def may_raise(self) -> bool:
        """Whether the page goes on if this cell raises."""
        return "raises-exception" in self.tags or any(e.raises for e in self.expectations)


@dataclass(frozen=True)
class Page:
    """The cells of a page or notebook, and what is wrong before anything runs."""

    cells: tuple[Cell, ...] = ()
    problems: tuple[Outcome, ...] = ()
    stored: bool = field(default=False, kw_only=True)
    """Whether it is a notebook, whose stored outputs are what it documents."""
    complete: bool = field(default=True, kw_only=True)
    """Whether each of its outputs must be documented."""

    @property
    def is_checked(self) -> bool:
        """Whether there is anything on it to check; if not, it is built as ever."""
        expects = any(cell.expectations for cell in self.cells)
        return expects or self.complete or bool(self.problems)


def read_expectation(content: str, line: int) -> tuple[Expectation, list[Outcome]]:
    """Read the options and the text of an expectation that begins on ``line``."""
    body = lines_of(content)
    count = 0
    options: list[tuple[str, str, int]] = []
    while count < len(body) and (match := _OPTION.match(body[count])):
        options.append((match["name"], match["value"] or "", line + count + 1))
        count += 1
    start = count + (count > 0 and count < len(body) and not body[count].strip())
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
