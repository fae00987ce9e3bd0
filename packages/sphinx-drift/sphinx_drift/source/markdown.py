"""One parse of a page's Markdown: its fences, and the cells and expectations that nobody sees."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sphinx_drift.model import Kind, Outcome
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token
    from myst_parser.config.main import MdParserConfig

DIRECTIVE = "expected-output"
_CODE = ("code-cell", DIRECTIVE)
_LITERAL = {
    *("", *_CODE, "code", "code-block", "sourcecode", "math", "mermaid", "parsed-literal"),
    *("raw", "raw-cell"),
}
"""Directives whose content is no Markdown, and none: a cell in them is an example of one."""
_OPENING = re.compile(
    r"(?:[\s>]|[-*+] |\d+[.)] )*(?P<fence>`{3,}|~{3,}|:{3,})\s*"
    r"(?:\{code-cell\}|\{?expected[-_ ]?outputs?(?:\}|\s*$))",
    re.IGNORECASE,
)
"""The line on which a cell or an expectation begins, wherever it stands and however it is spelt."""
_OPTIONS = re.compile(r"\A(?:[ \t]*:[^:\s][^:\n]*:.*\n)+")
"""The options of a directive, at the beginning of what it holds."""
_COMMENT = re.compile(r"\s*<!--.*-->", re.DOTALL)
NEVER_RUN = "a code cell here is never run"
NEVER_CHECKED = "an expectation here is never checked"
_SWALLOWED = (
    f"it is misspelt (write `{{{DIRECTIVE}}}`) or part of something else: of a fence, a comment, "
    "HTML or a formula above it that isn't ended, or of a text that is indented; what only shows a "
    "cell stands in a longer fence"
)


@dataclass(frozen=True)
class Reading:
    """The cells and expectations of a page, by the one parse of it."""

    fences: tuple[Token, ...]
    """Its cells and expectations in their order, with the lines that they have in the page."""
    swallowed: tuple[Outcome, ...]
    """What looks like one of them, and is misspelt or part of something else."""
    nested: tuple[Outcome, ...]
    """Those in lists, quotations and directives: MyST-NB runs none, and mystmd each."""
    paragraphs: tuple[tuple[str, int], ...]
    """What it says in sentences and tables, those in directives too, and on which lines."""

    @property
    def at_top(self) -> list[Token]:
        """The cells and expectations that MyST-NB reads."""
        nested = {outcome.line for outcome in self.nested}
        return [t for t in self.fences if t.map and t.map[0] + 1 not in nested]


def read_markdown(text: str, config: MdParserConfig) -> Reading:
    """Return what a page says, as MyST-Parser is configured to read it: parsed once."""
    blocks = replace(config, disable_syntax=[*config.disable_syntax, "inline"])
    return _read(_Source(text, repr(blocks), blocks))


def config_without_book() -> MdParserConfig:
    """Return how pages are read without a book, which may have more extensions on."""
    from myst_parser.config.main import MdParserConfig  # noqa: PLC0415 - an extra

    return MdParserConfig(enable_extensions={"colon_fence"})


def paragraphs_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return what a page, or a cell of a notebook, says in sentences, and on which lines."""
    return read_markdown(text, config_without_book()).paragraphs


@dataclass(frozen=True)
class _Source:
    """A text and how it is read, which can be compared."""

    text: str
    settings: str
    config: MdParserConfig = field(compare=False)


def _parse(text: str, config: MdParserConfig) -> Sequence[Token]:
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415 - an extra
    from myst_parser.parsers.mdit import create_md_parser  # noqa: PLC0415 - an extra

    tokens: Sequence[Token] = create_md_parser(config, RendererHTML).parse(text + "\n")
    return tokens


@lru_cache(maxsize=2_000)
def _read(source: _Source) -> Reading:
    walk, lines = _Walk(source.config), lines_of(source.text)
    walk.visit(_parse(source.text, source.config), lines)
    swallowed = [
        Outcome(Kind.NESTED, number, message=_SWALLOWED)
        for number, line in enumerate(lines, start=1)
        if number not in walk.explained and _OPENING.match(line)
    ]
    return Reading(tuple(walk.fences), tuple(swallowed), tuple(walk.nested), tuple(walk.paragraphs))


def directive_of(token: Token) -> str:
    """Return the name of the directive that a fence is; nothing if it is none."""
    match = re.match(r"\{([^\s{}]+)\}", token.info.strip())
    return match[1].lower() if match else ""


def is_closed(token: Token, lines: Sequence[str]) -> bool:
    """Whether a fence ends before its text does."""
    assert token.map  # noqa: S101 - a fence has one
    fence = rf"[\s>]*{token.markup}{token.markup[0]}*\s*"  # it may stand in a quotation
    return bool(re.fullmatch(fence, lines[slice(*token.map)][-1]))


@dataclass
class _Walk:
    """Collects what stands in a page and in its directives."""

    config: MdParserConfig
    nested: list[Outcome] = field(default_factory=list)
    fences: list[Token] = field(default_factory=list)
    paragraphs: list[tuple[str, int]] = field(default_factory=list)
    explained: set[int] = field(default_factory=set)
    """The lines on which a cell may begin: it is one, reports itself, or is shown on purpose."""

    def visit(self, tokens: Sequence[Token], lines: Sequence[str], above: int = 0) -> None:
        """Read some text, which stands below some lines of its page."""
        before = ""
        for token in tokens:
            if token.map and token.type == "inline" and before != "heading_open":
                self.paragraphs.append((token.content, above + token.map[0] + 1))
            elif token.map and token.type in ("fence", "colon_fence"):
                self._visit_fence(token, lines, above)
            elif token.map and token.type == "html_block" and _COMMENT.match(token.content):
                first, last = token.map
                self.explained.update(range(above + first + 1, above + last + 1))
            before = token.type

    def _visit_fence(self, token: Token, lines: Sequence[str], above: int) -> None:
        name, (first, last) = directive_of(token), (above + line for line in token.map or (0, 0))
        if name in _CODE:
            self.explained.add(first + 1)
            self.fences.append(token.copy(map=[first, last]))
            is_cell = token.type == "fence" and token.info.startswith("{code-cell}")
            if above or token.level or not (name == DIRECTIVE or is_cell):
                message = NEVER_CHECKED if name == DIRECTIVE else NEVER_RUN
                self.nested.append(Outcome(Kind.NESTED, first + 1, message=message))
        elif not is_closed(token, lines):
            return  # it has swallowed what it holds
        if name in _LITERAL:
            for number, line in enumerate(token.content.split("\n"), start=first + 2):
                opening = _OPENING.match(line)
                # What shows a cell on purpose has the longer fence.
                if opening and len(opening["fence"]) < len(token.markup):
                    self.explained.add(number)
        else:
            text = _OPTIONS.sub(lambda options: "\n" * options[0].count("\n"), token.content)
            self.visit(_parse(text, self.config), lines_of(text), first + 1)
