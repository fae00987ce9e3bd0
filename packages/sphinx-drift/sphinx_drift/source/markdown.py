"""One parse of a page's Markdown: its fences, and the cells and expectations that nobody sees."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx_drift.model import Kind, Outcome
from sphinx_drift.source.expectations import DIRECTIVE, is_closed
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markdown_it.token import Token
    from myst_parser.config.main import MdParserConfig

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
_MISSPELT = re.compile(r"\{?expected[-_ ]?outputs?(?:\}|$)", re.IGNORECASE)
_FORMULA = "it is part of a formula: end that above it"
_SWALLOWED = (
    "a fence above it isn't closed before it, so nobody would see it; "
    "what only shows a cell stands in a longer fence"
)
_WHY = {
    "html_block": "HTML goes on to a blank line, `<pre>` to its end: begin the cell after that",
    "comment": "the comment above it has no end: write `-->`",
    "code_block": "four spaces make it a block of code: move it to the left",
    "math_block": _FORMULA,
    "amsmath": _FORMULA,
    **dict.fromkeys(_FENCES, _SWALLOWED),
}
"""Why a cell or expectation is none, by the token whose text it has become."""
NEVER_RUN = "a code cell here is never run"
NEVER_CHECKED = "an expectation here is never checked"
_TEXT = "Markdown reads it as text: write it at the left, with a fence of backticks"


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
    paragraphs: tuple[Paragraph, ...]
    """What it says in sentences and tables, those in directives too; no headings."""


class Paragraph(NamedTuple):
    """A paragraph, or what stands in a field of a table."""

    text: str
    line: int
    """On which it begins, counted from 1."""
    in_table: bool


def read_markdown(text: str, config: MdParserConfig) -> Reading:
    """Return what a page says, as MyST-Parser is configured to read it: parsed once."""
    blocks = replace(config, disable_syntax=[*config.disable_syntax, "inline"])
    reading: Reading = _READINGS.get(text, blocks, _read)
    return reading


def config_without_book() -> MdParserConfig:
    """Return how pages are read without a book, which may have more extensions on."""
    from myst_parser.config.main import MdParserConfig  # noqa: PLC0415 - an extra

    return MdParserConfig(enable_extensions={"colon_fence"})


def paragraphs_of(text: str) -> tuple[Paragraph, ...]:
    """Return what a page, or a cell of a notebook, says in sentences and tables."""
    return read_markdown(text, config_without_book()).paragraphs


@contextmanager
def shared_parse() -> Iterator[None]:
    """Have MyST-NB read notebooks in Markdown from the parse that is kept here."""
    import myst_nb.core.read as reader  # noqa: PLC0415 - an extra

    def create(config: MdParserConfig, _: object) -> SimpleNamespace:
        return SimpleNamespace(parse=lambda text: [*_tokens(text.removesuffix("\n"), config)])

    stock = reader.create_md_parser
    reader.create_md_parser = create
    try:
        yield
    finally:
        reader.create_md_parser = stock


class _Cache:
    """Keeps what was read of the last texts, by their digests."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[bytes, Any] = {}

    def get(self, text: str, config: MdParserConfig, read: Callable[..., Any]) -> Any:
        key = blake2b(f"{config!r}\0{text}".encode(errors="surrogatepass")).digest()
        if key not in self._values:
            self._values[key] = read(text, config)
            if len(self._values) > self._most:
                del self._values[next(iter(self._values))]
        return self._values[key]


_READINGS = _Cache(2_000)
_PARSES = _Cache(2)


def _tokens(text: str, config: MdParserConfig) -> Sequence[Token]:
    tokens: Sequence[Token] = _PARSES.get(text, config, _parse)
    return tokens


def _parse(text: str, config: MdParserConfig) -> Sequence[Token]:
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415 - an extra
    from myst_parser.parsers.mdit import create_md_parser  # noqa: PLC0415 - an extra

    tokens: Sequence[Token] = create_md_parser(config, RendererHTML).parse(text + "\n")
    return tokens


def _read(text: str, config: MdParserConfig) -> Reading:
    tokens = _tokens(text, config)
    fences = tuple(t for t in tokens if t.type in _FENCES and t.level == 0 and t.map)
    walk = _Walk(config)
    walk.visit(tokens, lines_of(text))
    swallowed = [*walk.swallowed(lines_of(text)), *_misspelt(fences)]
    directives = tuple(fence for fence in fences if directive_of(fence))
    nested, paragraphs = tuple(walk.nested), tuple(walk.paragraphs)
    return Reading(directives, tuple(swallowed), nested, tuple(walk.fences), paragraphs)


def directive_of(token: Token) -> str:
    """Return the name of the directive that a fence is; nothing if it is none."""
    match = re.match(r"\{([^\s{}]+)\}", token.info.strip())
    return match[1].lower() if match else ""


def is_cell(token: Token) -> bool:
    """Whether MyST-NB reads a fence at the top level as a cell."""
    return token.type == "fence" and token.info.startswith(("{code-cell}", "{raw-cell}"))


@dataclass
class _Walk:
    """Collects which lines are accounted for, in a page and in what stands in its directives."""

    config: MdParserConfig
    nested: list[Outcome] = field(default_factory=list)
    fences: list[Token] = field(default_factory=list)
    """The cells and expectations, with the lines that they have in the page."""
    paragraphs: list[Paragraph] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)
    """The lines on which a cell may begin: it is one, reports itself, or is shown on purpose."""
    _types: dict[int, str] = field(default_factory=dict)
    """The type of the innermost token of each line."""

    def visit(self, tokens: Sequence[Token], lines: Sequence[str], above: int = 0) -> None:
        """Account for the lines of some text, which stands below some lines of its page."""
        within = ""
        for token in tokens:
            if token.type == "inline" and token.map and within != "heading_open":
                in_table = within in ("td_open", "th_open")
                line = above + token.map[0] + 1
                self.paragraphs.append(Paragraph(token.content, line, in_table))
            within = token.type
            if token.map and (token.type in _WHY or token.type == "paragraph_open"):
                first, last = token.map
                self._types.update(dict.fromkeys(range(above + first, above + last), _type(token)))
                if token.type in _FENCES:
                    self._visit_fence(token, lines, above)
                elif _type(token) == "html_block" and token.content.lstrip().startswith("<!--"):
                    self._seen.update(range(above + first, above + last))

    def _visit_fence(self, token: Token, lines: Sequence[str], above: int) -> None:
        first, last = (above + line for line in token.map or (0, 0))
        name = directive_of(token)
        is_code = name in ("code-cell", DIRECTIVE)
        if is_code:
            self._seen.add(first)
            self.fences.append(token.copy(map=[first, last]))
            if above or token.level or not (name == DIRECTIVE or is_cell(token)):
                message = NEVER_CHECKED if name == DIRECTIVE else NEVER_RUN
                self.nested.append(Outcome(Kind.NESTED, first + 1, message=message))
        if not (is_code or is_closed(token, lines)):
            return
        if name and not is_code and name not in _LITERAL:
            text = _OPTIONS.sub(lambda options: "\n" * options[0].count("\n"), token.content)
            before = len(self.paragraphs)
            self.visit(_parse(text, self.config), lines_of(text), first + 1)
            if name == "eval-rst":
                del self.paragraphs[before:]
            return
        for line, text in enumerate(token.content.split("\n"), start=first + 1):
            # What shows a cell on purpose has the longer fence; in what was printed, any.
            opening = _OPENING.match(text)
            fence = opening["fence"] if opening else ""
            is_other = name != DIRECTIVE and not fence.startswith(token.markup[0])
            if len(fence) < len(token.markup) or is_other:
                self._seen.add(line)

    def swallowed(self, lines: Sequence[str]) -> Iterator[Outcome]:
        """Yield lines that look like a cell or expectation but are something else in Markdown."""
        for line, text in enumerate(lines):
            if line not in self._seen and _OPENING.match(text):
                message = _WHY.get(self._types.get(line, ""), _TEXT)
                yield Outcome(Kind.NESTED, line + 1, message=message)


def _type(token: Token) -> str:
    """Return the type of a token; that of a comment without an end is one of its own."""
    is_comment = token.type == "html_block" and token.content.lstrip().startswith("<!--")
    return "comment" if is_comment and "-->" not in token.content else str(token.type)


def _misspelt(fences: Sequence[Token]) -> Iterator[Outcome]:
    """Yield the fences that were meant to be expectations, and document nothing."""
    for token in fences:
        if _MISSPELT.match(token.info.strip()) and directive_of(token) != DIRECTIVE:
            message = f"{token.info.strip()!r} documents nothing: write `{{{DIRECTIVE}}}`"
            yield Outcome(Kind.NESTED, (token.map or [0])[0] + 1, message=message)
