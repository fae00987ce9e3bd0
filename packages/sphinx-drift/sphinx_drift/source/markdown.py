"""One parse of a page's Markdown: its fences, and the cells and expectations that nobody sees."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING

from sphinx_drift.model import Kind, Outcome
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token
    from myst_parser.config.main import MdParserConfig

DIRECTIVE = "expected-output"
_LITERAL = {
    *("code", "code-block", "sourcecode", "math", "mermaid", "parsed-literal", "raw", "raw-cell"),
}
"""Directives whose content is shown, not read as Markdown: a cell in them is an example of one."""
_FENCES = ("fence", "colon_fence")
_OPENING = re.compile(
    rf"(?:[\s>]|[-*+] |\d+[.)] )*(?P<fence>`{{3,}}|~{{3,}}|:{{3,}})\s*"
    rf"\{{(?:code-cell|{DIRECTIVE})\}}"
)
"""The line on which a cell or an expectation begins, wherever it stands."""
_OPTIONS = re.compile(r"\A(?:[ \t]*:[^:\s][^:\n]*:.*\n)+")
"""The options of a directive, at the beginning of what it holds."""
_COMMENT = re.compile(r"\s*<!--.*-->", re.DOTALL)
_MISSPELT = re.compile(r"\{?expected[-_ ]?outputs?(?:\}|$)", re.IGNORECASE)
NEVER_RUN = "a code cell here is never run"
NEVER_CHECKED = "an expectation here is never checked"
_SWALLOWED = (
    "it is part of something else: of a fence, a comment, HTML or a formula above it that isn't "
    "ended, or of a text that is indented; what only shows a cell stands in a longer fence"
)


@dataclass(frozen=True)
class Reading:
    """The cells and expectations of a page, by the one parse of it."""

    fences: tuple[Token, ...]
    """Its cells and directives at the top level."""
    swallowed: tuple[Outcome, ...]
    """The cells and expectations that are part of something else, or misspelt."""
    nested: tuple[Outcome, ...]
    """Those in lists, quotations and directives, which report them in a build."""
    everywhere: tuple[Token, ...]
    """Its cells and expectations in their order, the nested ones too: mystmd runs them."""
    paragraphs: tuple[tuple[str, int], ...]
    """What it says in sentences and tables, those in directives too, and on which lines."""


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


@contextmanager
def shared_parse() -> Iterator[None]:
    """Have MyST-NB read notebooks in Markdown from the parse that is kept here."""
    import myst_nb.core.read as reader  # noqa: PLC0415 - an extra

    def create(config: MdParserConfig, _: object) -> SimpleNamespace:
        shown = repr(config)
        return SimpleNamespace(
            parse=lambda text: [*_tokens(_Source(text.removesuffix("\n"), shown, config))]
        )

    stock = reader.create_md_parser
    reader.create_md_parser = create
    try:
        yield
    finally:
        reader.create_md_parser = stock


@dataclass(frozen=True)
class _Source:
    """A text and how it is read: what was read of the last of them is kept."""

    text: str
    settings: str
    """The configuration as text, which can be compared."""
    config: MdParserConfig = field(compare=False)


@lru_cache(maxsize=2)
def _tokens(source: _Source) -> Sequence[Token]:
    return _parse(source.text, source.config)


def _parse(text: str, config: MdParserConfig) -> Sequence[Token]:
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415 - an extra
    from myst_parser.parsers.mdit import create_md_parser  # noqa: PLC0415 - an extra

    tokens: Sequence[Token] = create_md_parser(config, RendererHTML).parse(text + "\n")
    return tokens


@lru_cache(maxsize=2_000)
def _read(source: _Source) -> Reading:
    tokens, lines = _tokens(source), lines_of(source.text)
    fences = [t for t in tokens if t.type in _FENCES and t.level == 0 and t.map]
    walk = _Walk(source.config)
    walk.visit(tokens, lines)
    return Reading(
        fences=tuple(fence for fence in fences if directive_of(fence)),
        swallowed=(*walk.swallowed(lines), *_misspelt(fences)),
        nested=tuple(walk.nested),
        everywhere=tuple(walk.fences),
        paragraphs=tuple(walk.paragraphs),
    )


def directive_of(token: Token) -> str:
    """Return the name of the directive that a fence is; nothing if it is none."""
    match = re.match(r"\{([^\s{}]+)\}", token.info.strip())
    return match[1].lower() if match else ""


def is_cell(token: Token) -> bool:
    """Whether MyST-NB reads a fence at the top level as a cell."""
    return token.type == "fence" and token.info.startswith(("{code-cell}", "{raw-cell}"))


def is_closed(token: Token, lines: Sequence[str]) -> bool:
    """Whether a fence ends before its text does."""
    assert token.map  # noqa: S101 - a fence has one
    fence = rf"[\s>]*{token.markup}{token.markup[0]}*\s*"  # it may stand in a quotation
    return bool(re.fullmatch(fence, lines[slice(*token.map)][-1]))


@dataclass
class _Walk:
    """Collects what stands in a page and in its directives, and which lines begin a cell there."""

    config: MdParserConfig
    nested: list[Outcome] = field(default_factory=list)
    fences: list[Token] = field(default_factory=list)
    """The cells and expectations, with the lines that they have in the page."""
    paragraphs: list[tuple[str, int]] = field(default_factory=list)
    _known: set[int] = field(default_factory=set)
    """The lines on which a cell may begin: it is one, reports itself, or is shown on purpose."""

    def visit(self, tokens: Sequence[Token], lines: Sequence[str], above: int = 0) -> None:
        """Read some text, which stands below some lines of its page."""
        before = ""
        for token in tokens:
            if token.map and token.type == "inline" and before != "heading_open":
                self.paragraphs.append((token.content, above + token.map[0] + 1))
            elif token.map and token.type in _FENCES:
                self._visit_fence(token, lines, above)
            elif token.map and token.type == "html_block" and _COMMENT.match(token.content):
                first, last = token.map
                self._known.update(range(above + first, above + last))
            before = token.type

    def _visit_fence(self, token: Token, lines: Sequence[str], above: int) -> None:
        name, (first, last) = directive_of(token), (above + line for line in token.map or (0, 0))
        is_code = name in ("code-cell", DIRECTIVE)
        if is_code:
            self._known.add(first)
            self.fences.append(token.copy(map=[first, last]))
            if above or token.level or not (name == DIRECTIVE or is_cell(token)):
                message = NEVER_CHECKED if name == DIRECTIVE else NEVER_RUN
                self.nested.append(Outcome(Kind.NESTED, first + 1, message=message))
        elif not is_closed(token, lines):
            return  # what it holds, it has swallowed
        if name and not is_code and name not in _LITERAL:
            text = _OPTIONS.sub(lambda options: "\n" * options[0].count("\n"), token.content)
            self.visit(_parse(text, self.config), lines_of(text), first + 1)
            return
        for line, text in enumerate(token.content.split("\n"), start=first + 1):
            # What shows a cell on purpose has the longer fence.
            opening = _OPENING.match(text)
            if opening and len(opening["fence"]) < len(token.markup):
                self._known.add(line)

    def swallowed(self, lines: Sequence[str]) -> Iterator[Outcome]:
        """Yield lines that look like a cell or expectation but are something else in Markdown."""
        for line, text in enumerate(lines):
            if line not in self._known and _OPENING.match(text):
                yield Outcome(Kind.NESTED, line + 1, message=_SWALLOWED)


def _misspelt(fences: Sequence[Token]) -> Iterator[Outcome]:
    """Yield the fences that were meant to be expectations, and document nothing."""
    for token in fences:
        if _MISSPELT.match(token.info.strip()) and directive_of(token) != DIRECTIVE:
            message = f"{token.info.strip()!r} documents nothing: write `{{{DIRECTIVE}}}`"
            yield Outcome(Kind.NESTED, (token.map or [0])[0] + 1, message=message)
