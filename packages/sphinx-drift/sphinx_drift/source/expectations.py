"""Read expectations, and assign each to the cell before it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import yaml
from myst_nb.core.config import NbParserConfig
from nbformat import NotebookNode

from sphinx_drift.compare.compare import Waiver
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Expectation, Outcome, Page
from sphinx_drift.output.printed_text import FORMS, Part
from sphinx_drift.source.markdown import DIRECTIVE, Fence, Reading, lines_of
from sphinx_drift.source.metadata import read_cell, with_settings
from sphinx_drift.source.quote import NAME
from sphinx_drift.source.variants import UNCONDITIONAL, read_condition

_OPTION = re.compile(r":(?P<name>[A-Za-z-]+):(?:\s+(?P<value>.*\S))?\s*$")
_ALLOW = re.compile(
    r"(?:\[(?P<index>\d+(?:,\s*\d+)*)\]\s*)?(?P<old>\S+)\s*->\s*(?P<new>\S+)\s*\((?P<reason>.*\S.*)\)$"
)
_YAML = re.compile(r"---[ \t]*\n(?P<rows>(?:.*\n)*?)---[ \t]*(?:\n|$)")
"""A block of options as jupytext and mdformat write it."""
_TAKES = {
    "allow": "`documented -> executed (reason)`",
    "name": "a name",
    "raises": "the error's name",
    "reference-only": "the reason",
    "stream": "the part of the output",
    "unchecked": "the reason",
    "when": "the condition",
}
"""The value that each option takes; that of a form takes none."""
OPTIONS = sorted([*_TAKES, *FORMS])
"""What an expectation may say above its text."""
_KNOWN = re.compile(rf"(?m)^(?:{'|'.join(OPTIONS)}):(?:\s|$)")
"""A line of YAML that is one of them: another block between `---` is printed text."""
_NO_YAML = (
    "what stands between `---` is no YAML: put a text with a colon, a bracket or a hash into "
    "quotation marks; a text that begins like options stands below an empty line"
)
_OPEN = "its fence isn't closed before the end of the page: nobody would see what it swallows"
_LAST_OPEN = (
    "this fence isn't closed before the end of the page: close it, or the one above it that "
    "was closed by the end of another"
)
_SWALLOWS = (
    "its fence isn't closed above line {}, where another one begins: close it, or open it with a "
    "longer one if its cell prints that line"
)
_AGAIN = "`:{}:` is about what an option above it has said already: keep one of them"
_SECOND = "cell {} has an expectation of this output already, on line {}: keep one of them"
ODD_ENDS = r"\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
"""The ends of lines that `str.splitlines`, and so MyST-NB, adds to those of editors."""
_MISREAD = (
    "character {} of this line is U+{:04X}, which ends a line for MyST-NB and for no editor, so "
    "that MyST-NB misreads what follows: delete it, or print the `repr` of a text that must have it"
)
_INVISIBLE = re.compile(r"[\s>]*(?:(?:%|\+\+\+).*)?$")
"""A line between a cell and its expectation that no reader sees."""


def read_page(
    reading: Reading, notebook: NotebookNode, shown: NbParserConfig, *, is_mystmd: bool = False
) -> Page:
    """Return the cells of a MyST page, each with the expectations straight after it.

    An expectation that has no cell, an option that can't be read and the like are its problems.

    Args:
        reading: The parts of the page.
        notebook: Its cells, as they are run.
        shown: Which outputs readers see.
        is_mystmd: Whether mystmd runs it, and the cells inside directives too.

    """
    nodes = ((i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    cells: list[Cell] = []
    problems, unread = reading.swallowed, None
    for fence in reading.fences:
        if not (fence.is_read or is_mystmd):
            unread = fence
        elif fence.is_expectation:
            problems += _attach(fence, cells, reading.lines, unread)
        else:
            index, node = next(nodes)
            cells.append(read_cell(len(cells) + 1, index, node, (fence.first, fence.last), shown))
    assert next(nodes, None) is None  # noqa: S101 - each is one of the fences
    if any(cell.expectations for cell in cells):
        problems += [Outcome(Kind.UNREADABLE, n, message=_LAST_OPEN) for n in reading.unclosed]
    if not is_mystmd and any(cell.expectations for cell in cells):
        problems += _misread(reading.lines[: cells[-1].last_line])
    return with_settings(Page(tuple(cells), tuple(problems)), notebook)


def _is_straight_above(last: int, line: int, lines: Sequence[str]) -> bool:
    """Whether a reader sees nothing between the last line of a cell and an expectation's line."""
    return all(map(_INVISIBLE.match, lines[last : line - 1]))


def _misread(lines: Sequence[str]) -> Iterator[Outcome]:
    """Yield the lines of a page after which MyST-NB counts lines that it doesn't have."""
    for number, line in enumerate(lines, start=1):
        if odd := re.search(f"[{ODD_ENDS}]", line):
            message = _MISREAD.format(odd.start() + 1, ord(odd[0]))
            yield Outcome(Kind.UNREADABLE, number, message=message)


def _attach(
    fence: Fence, cells: list[Cell], lines: Sequence[str], unread: Fence | None
) -> list[Outcome]:
    """Assign an expectation to the last of the cells above it; return what is wrong with it.

    What is above it may be a fence that isn't read as a cell.
    """
    line = fence.first
    expectation, problems = read_expectation(fence.content, line)
    # Sphinx hands an argument that isn't wanted over as the first line of the content.
    expectation = replace(expectation, content=f"{fence.argument}\n{fence.content}".strip())
    if fence.argument:
        message = f"`{{{DIRECTIVE}}}` takes no argument, got {fence.argument!r}"
        problems.append(Outcome(Kind.OPTION, line, message=message))
    if unclosed := _unclosed(fence):
        problems.append(Outcome(Kind.UNREADABLE, line, message=unclosed))
    no_cell = Outcome(Kind.NO_CELL, line, name=expectation.name, documented=expectation.content)
    if not (cells and _is_straight_above(cells[-1].last_line, line, lines)):
        if unread and _is_straight_above(unread.last, line, lines):
            no_cell = replace(no_cell, message=unread.unread.message)
        return [*problems, no_cell]
    cell = cells[-1]
    if expectation.part is Part.ALL and not cell.has_stderr:
        expectation = replace(expectation, part=Part.MAIN)
    others = [e for e in cell.expectations if e.part is expectation.part]
    if any(not (other.when or expectation.when) for other in others):
        message = _SECOND.format(cell.number, others[0].line)
        return [*problems, replace(no_cell, message=message)]
    if any(bool(other.when) != bool(expectation.when) for other in others):
        problems.append(Outcome(Kind.OPTION, line, message=UNCONDITIONAL))
    cells[-1] = replace(cell, expectations=(*cell.expectations, expectation))
    return problems


def _unclosed(fence: Fence) -> str:
    """Return what is wrong if an expectation has swallowed the text below it."""
    rows = enumerate(lines_of(fence.content), start=fence.first + 1)
    swallowed = next((number for number, row in rows if fence.opens_another(row)), 0)
    if swallowed:
        return _SWALLOWS.format(swallowed)
    return "" if fence.is_closed else _OPEN


def read_expectation(content: str, line: int) -> tuple[Expectation, list[Outcome]]:
    """Read the options and the text of an expectation that begins on ``line``."""
    body = lines_of(content)
    rows = filter(None, takewhile(bool, map(_OPTION.match, body)))
    options = [(row["name"], row["value"] or "") for row in rows]
    count = len(options)
    problems: list[Outcome] = []
    if (block := _YAML.match(content)) and _KNOWN.search(block["rows"]):
        count = len(lines_of(block[0]))
        try:
            options = _options_in(block["rows"])
        except ValueError as error:
            problems.append(Outcome(Kind.OPTION, line + 1, message=str(error)))
    has_blank = 0 < count < len(body) and not body[count].strip()
    start = count + 1 if has_blank else count
    text = "\n".join(body[start:])
    expectation = Expectation(text, line, line + start + 1, end_line=line + len(body))
    said: set[str] = set()
    for at, (name, value) in enumerate(options, start=line + 1 + (count > len(options))):
        subject = "part" if name in (*FORMS, "stream") else name
        if subject in said and name != "allow":
            problems.append(Outcome(Kind.OPTION, at, message=_AGAIN.format(name)))
            continue
        said.add(subject)
        try:
            expectation = _with_option(expectation, name, value)
        except ValueError as error:
            problems.append(Outcome(Kind.OPTION, at, message=str(error)))
    return expectation, problems


def _options_in(rows: str) -> list[tuple[str, str]]:
    """Return options that a block of YAML gives."""
    try:
        read = yaml.load(rows, yaml.BaseLoader)  # noqa: S506 - it makes nothing but texts
        return [(name, str(text)) for name, text in read.items()]
    except (AttributeError, yaml.YAMLError):
        raise ValueError(_NO_YAML) from None


def _with_option(expectation: Expectation, name: str, value: str) -> Expectation:
    """Return the expectation with one option set."""
    if name not in OPTIONS:
        raise ValueError(
            f"unknown option `:{name}:`; known are {', '.join(OPTIONS)}; "
            "a text that begins like one stands below an empty line"
        )
    if bool(value) is (name in FORMS):
        wanted = "takes nothing after it" if value else f"must be followed by {_TAKES[name]}"
        raise ValueError(f"`:{name}:` {wanted}, got {value!r}")
    if name == "allow":
        return replace(expectation, waivers=(*expectation.waivers, _waiver(value)))
    if name in FORMS:
        return replace(expectation, part=Part(name))
    if name == "stream":
        names = [part.value for part in Part if part not in (*FORMS, Part.TRACEBACK)]
        if value not in names:
            raise ValueError(f"`:stream:` must be one of {', '.join(names)}; got {value!r}")
        return replace(expectation, part=Part(value))
    if name == "name" and not re.fullmatch(NAME, value):
        raise ValueError(f"`:name:` must be of letters, digits, `-` and `_`; got {value!r}")
    if name == "when":
        read_condition(value)
    option: dict[str, Any] = {name.replace("-", "_"): value}
    return replace(expectation, **option)


def _waiver(value: str) -> Waiver:
    match = _ALLOW.match(value)
    if match is None:
        raise ValueError(f"`:allow:` must read {_TAKES['allow']}; got {value!r}")
    index = tuple(int(part) for part in match["index"].split(",")) if match["index"] else None
    return Waiver(match["old"], match["new"], match["reason"], index)
