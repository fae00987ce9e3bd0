"""One parse of a page's Markdown: its cells and expectations, also those that nothing runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import NamedTuple

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome

DIRECTIVE = "expected-output"
_CODE = ("code-cell", DIRECTIVE)
_LITERAL = {
    *("", *_CODE, "code", "code-block", "sourcecode", "math", "mermaid", "parsed-literal"),
    *("raw", "raw-cell"),
}
"""Directives whose content isn't Markdown, and none: a cell in them is only shown."""
_OPENING = re.compile(
    r"(?:[\s>]|[-*+] |\d+[.)] )*(?P<markup>`{3,}|~{3,}|:{3,})\s*"
    r"(?:\{?\s*(?:expected[-_ ]?outputs?|code[-_ ]cells?)(?:\s*\}|(?: +\w+)?\s*$)"
    r"|\{\s*(?P<name>[\w-]+)\s*\})",
    re.IGNORECASE,
)
_LIKENESS = 0.85
"""How alike a misspelt name is to the one that is meant, as difflib counts."""
_INFO = re.compile(r"(?s)\s*(?:\{([^\s{}]+)\})?(.*)")
"""The rest of a fence's first line: a directive, if it is one, and its argument."""
_OPTIONS = re.compile(r"\A(?:[ \t]*:[^:\s][^:\n]*:.*\n)+")
"""The options of a directive, at the beginning of what it holds."""
_COMMENT = re.compile(r"\s*<!--.*-->", re.DOTALL)
NEWLINE = re.compile(r"\r\n?|\n")
"""The end of a line for Markdown and editors; `str.splitlines` has more, such as a form feed."""
NEVER_RUN = "a code cell here is never run"
NEVER_CHECKED = "an expectation here is never checked"
CONVERTED = (
    "`nb_custom_formats` has pages of this ending read as notebooks, which document nothing; if "
    "it is for MyST pages, delete that entry: MyST-NB reads them itself"
)
IN_NOTEBOOK = (
    "a notebook is compared with the outputs that it has stored: delete the expectation here, or "
    "exclude the notebook, if it is the pair of a page"
)
_MISWRITTEN = "a cell begins with ```{code-cell}, in small letters and without a space"
_SWALLOWED = "it is misspelt, indented, or in a fence, comment, HTML or formula that isn't ended"


class Fence(NamedTuple):
    """A fence of a page."""

    name: str
    """The directive that it is; nothing if it is none."""
    argument: str
    """What follows the directive's name."""
    content: str
    markup: str
    """What opens it, such as three backticks."""
    first: int
    """The line of the page on which it begins, counted from 1."""
    last: int
    """The line on which it ends, inclusive."""
    is_closed: bool
    """Whether it ends before the text around it does."""
    is_nested: bool
    """Whether it stands in anything else."""
    is_read: bool
    """Whether MyST-NB reads it as a cell or an expectation; mystmd reads all."""

    @property
    def is_expectation(self) -> bool:
        """Whether it is an expectation."""
        return self.name == DIRECTIVE

    @property
    def unread(self) -> Outcome:
        """What it is where MyST-NB doesn't read it; of a cell it only warns."""
        if self.is_expectation:
            return Outcome(Kind.NESTED, self.first, message=NEVER_CHECKED)
        if not (self.is_nested or self.is_read):
            return Outcome(Kind.NOT_READ, self.first, message=_MISWRITTEN, if_complete=True)
        return Outcome(Kind.NESTED, self.first, message=NEVER_RUN, if_complete=True)

    def shown(self) -> Iterator[int]:
        """Yield the lines of the fences in it that are there on purpose.

        They are shorter, or of another sign between tildes or below the name of a language.
        """
        rows, sign = self.content.split("\n"), self.markup[0]
        is_between = (sign == "~" or self.argument) and self.name not in _CODE
        is_between = is_between and not any(map(self.opens_another, rows))
        for number, row in enumerate(rows, start=self.first + 1):
            if opening := find_opening(row):
                markup = opening["markup"]
                if len(markup) < len(self.markup) or (is_between and markup[0] != sign):
                    yield number

    def opens_another(self, row: str) -> bool:
        """Whether a row of its content would open a fence, were this one closed above it."""
        sign = self.markup[0]
        info = re.match(rf" {{0,3}}{self.markup}{sign}*\s*([^\s{sign}].*)", row)
        return info is not None and not (sign == "`" and sign in info[1])


@dataclass
class Reading:
    """The parts of a page, and of what its directives contain."""

    lines: list[str]
    config: MdParserConfig
    fences: list[Fence] = field(default_factory=list)
    """Its cells and expectations in their order."""
    paragraphs: list[tuple[str, int]] = field(default_factory=list)
    """Its sentences and tables, each with its line."""
    unclosed: list[int] = field(default_factory=list)
    """The line of a fence that goes on to the end of the page, and is no cell or expectation."""
    explained: set[int] = field(default_factory=set)
    """The lines that begin a cell, or show one on purpose."""

    @property
    def swallowed(self) -> list[Outcome]:
        """Seeming cells and expectations that are misspelt or part of something else."""
        return [
            Outcome(Kind.NOT_READ, number, message=_SWALLOWED)
            for number, line in enumerate(self.lines, start=1)
            if number not in self.explained and find_opening(line)
        ]

    @property
    def nested(self) -> list[Outcome]:
        """The cells and expectations that MyST-NB doesn't read."""
        return [fence.unread for fence in self.fences if not fence.is_read]

    def visit(self, text: str, above: int = 0) -> None:
        """Read the page, or the content of a directive below some lines of it."""
        lines, before = lines_of(text), ""
        for token in create_md_parser(self.config, RendererHTML).parse(f"{text}\n"):
            first, last = token.map or (0, 0)
            if token.type in ("fence", "colon_fence"):
                self._visit_fence(_fence(token, lines[first:last][-1], above))
            elif token.type == "inline" and before != "heading_open":
                self.paragraphs.append((token.content, above + first + 1))
            elif token.type == "html_block" and _COMMENT.match(token.content):
                self.explained.update(range(above + first + 1, above + last + 1))
            before = token.type

    def _visit_fence(self, fence: Fence) -> None:
        """Keep a cell or an expectation, and look for some in any other fence."""
        if fence.name in _CODE:
            self.fences.append(fence)
            self.explained.add(fence.first)
        if not fence.is_closed:  # what looks like a cell in it is one that it has swallowed
            if fence.name not in _CODE and fence.last >= len(self.lines):
                self.unclosed.append(fence.first)
        elif fence.name in _LITERAL:
            self.explained.update(fence.shown())
        else:
            blank = _OPTIONS.sub(lambda options: "\n" * options[0].count("\n"), fence.content)
            self.visit(blank, above=fence.first)


def _fence(token: Token, last_line: str, above: int) -> Fence:
    """Return the fence of a token, whose text begins below some lines of the page."""
    directive, argument = _INFO.findall(token.info)[0]
    # MyST-NB takes only these for cells, and docutils any fence for an expectation.
    is_cell = token.type == "fence" and token.info.startswith("{code-cell}")
    first, last = token.map or (0, 0)
    is_nested = bool(above or token.level)
    return Fence(
        name=directive.lower(),
        argument=argument.strip(),
        content=token.content,
        markup=token.markup,
        first=above + first + 1,
        last=above + last,
        is_closed=bool(re.fullmatch(rf"[\s>]*{token.markup}{token.markup[0]}*\s*", last_line)),
        is_nested=is_nested,
        is_read=not is_nested and (is_cell or directive.lower() == DIRECTIVE),
    )


def find_opening(line: str) -> re.Match[str] | None:
    """Return the opening of a cell or an expectation, wherever it is and however it is spelt."""
    opening = _OPENING.match(line)
    name = opening and opening["name"]
    is_other = name and not get_close_matches(name.lower(), _CODE, n=1, cutoff=_LIKENESS)
    return None if is_other else opening


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without their ends.

    Examples:
        >>> lines_of("one\r\ntwo\f\n\nfour\u2028\n")
        ['one', 'two\x0c', '', 'four\u2028']

    """
    lines = NEWLINE.split(text)
    return lines if lines[-1] else lines[:-1]


def read_markdown(text: str, config: MdParserConfig) -> Reading:
    """Read a page as MyST-Parser is configured to."""
    blocks = replace(config, disable_syntax=[*config.disable_syntax, "inline"])
    reading = Reading(lines_of(text), blocks)
    reading.visit(text)
    return reading


def config_without_book() -> MdParserConfig:
    """Return how pages are read without a book, which may have more extensions on."""
    return MdParserConfig(enable_extensions={"colon_fence"})


def paragraphs_of(text: str) -> list[tuple[str, int]]:
    """Return the sentences of a page, or of a notebook's cell, and their lines."""
    return read_markdown(text, config_without_book()).paragraphs
