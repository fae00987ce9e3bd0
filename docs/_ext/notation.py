"""The table of symbols, and the links that lead to it from formulas in sentences."""

from __future__ import annotations

import functools
import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from contents import reading_order
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata, OptionSpec

PAGE = "reference/notation"
DATA = Path(__file__).parents[1] / "_data" / "notation.toml"
HEADER = ("symbol", "in code", "shape", "first in")
# A formula that is one symbol, perhaps under a root, transposed, or with its value said.
ALONE = r"(?:\\sqrt\{{(?:{0})\}}|(?:{0})(?:\^\\top)?(?: = [\d.]+)?)"


@dataclass(frozen=True)
class Symbol:
    """One symbol of the book."""

    id: str
    latex: str
    pattern: str
    meaning: str
    code: tuple[str, ...] = ()
    shape: str = ""

    @property
    def anchor(self) -> str:
        """Where it stands on the notation page; HTML ids tell capitals apart."""
        return f"symbol-{self.id}"

    @property
    def said(self) -> str:
        """What it means, for a link that has no words."""
        words = re.sub(r"\{\w+\}|[`*]|<[^>]*>", "", self.meaning)
        words = re.sub(r"\$(\w)\$", r"\1", words)
        return "what this symbol means" if "$" in words else words

    def is_all_of(self, formula: str) -> bool:
        """Whether a formula shows this symbol and nothing else."""
        return self.alone.fullmatch(formula.strip()) is not None

    @functools.cached_property
    def alone(self) -> re.Pattern[str]:
        """What a formula is like that is all of this symbol."""
        return re.compile(ALONE.format(self.pattern))

    def is_in(self, formula: str) -> bool:
        """Whether a formula holds this symbol."""
        letters = rf"(?<![A-Za-z\\_])(?:{self.pattern})(?![A-Za-z_])"
        return re.search(letters, WORDS.sub(" ", formula)) is not None


# Letters inside these are no symbols.
WORDS = re.compile(r"\\(?:text|begin|end)\{[^}]*\}|\\[,;! ]|\\(?:frac|sqrt|left|right|sum|qquad)")


@functools.cache
def groups() -> dict[str, tuple[Symbol, ...]]:
    """Return the symbols, by the title of their group."""
    table = tomllib.loads(DATA.read_text("utf-8"))["group"]
    found = {
        group["title"]: tuple(
            Symbol(**entry | {"code": tuple(entry.get("code", ()))}) for entry in group["symbol"]
        )
        for group in table
    }
    ids = [symbol.id for symbols in found.values() for symbol in symbols]
    if len(ids) != len(set(ids)):
        raise ExtensionError(f"{DATA}: two symbols have one id")
    return found


def symbols() -> Iterator[Symbol]:
    """Yield all symbols."""
    for group in groups().values():
        yield from group


class first_place(nodes.Inline, nodes.TextElement):  # noqa: N801 - docutils names nodes in lower case
    """Where a symbol first appears; known once all pages are read."""


class NotationTable(SphinxDirective):
    """The symbols of a group: name in code, shape, and where each first appears."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[OptionSpec] = {"name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        title = self.arguments[0]
        if title not in groups():
            raise self.error(f"the groups of symbols are: {', '.join(groups())}")
        self.env.note_dependency(str(DATA))
        group = nodes.tgroup("", cols=len(HEADER))
        group += [nodes.colspec(colwidth=width) for width in (40, 20, 20, 20)]
        head = nodes.row("", *(_entry(nodes.Text(text)) for text in HEADER))
        group += nodes.thead("", head)
        group += nodes.tbody("", *(self._row(symbol) for symbol in groups()[title]))
        return [nodes.table("", group, classes=["notation"])]

    def _row(self, symbol: Symbol) -> nodes.row:
        said = [
            nodes.math(symbol.latex, symbol.latex),
            nodes.Text(": "),
            *self._text(symbol.meaning),
        ]
        code: list[nodes.Node] = []
        for name in symbol.code:
            code += [nodes.Text(", ")] if code else []
            code.append(nodes.literal(name, name))
        row = nodes.row("", _entry(*said), _entry(*code))
        row += _entry(*(self._text(symbol.shape) if symbol.shape else []))
        row += _entry(first_place(symbol=symbol.id))
        row["ids"].append(symbol.anchor)
        return row

    def _text(self, text: str) -> list[nodes.Node]:
        parsed, messages = self.parse_inline(text)
        return [*parsed, *messages]


def _entry(*content: nodes.Node) -> nodes.entry:
    """Fill a cell; one without content says so, and is left out where room is short."""
    classes = [] if content else ["none"]
    return nodes.entry(
        "", nodes.paragraph("", "", *(content or [nodes.Text("–")])), classes=classes
    )


# Where symbols appear ------------------------------------------------------------------


def _formulas(env: BuildEnvironment) -> dict[str, list[tuple[str, str]]]:
    """Return each page's formulas, each with the id of the section around it."""
    if not hasattr(env, "notation_formulas"):
        env.notation_formulas = {}  # type: ignore[attr-defined]
    found: dict[str, list[tuple[str, str]]] = env.notation_formulas  # type: ignore[attr-defined]
    return found


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the formulas of the page that was read."""
    found = []
    for node in doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block)):
        section = _section(node)
        found.append((node.astext(), section["ids"][0] if section is not None else ""))
    _formulas(app.env)[app.env.docname] = found


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _formulas(env).pop(docname, None)


def merge(
    app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    _formulas(env).update(
        {name: _formulas(other)[name] for name in docnames if name in _formulas(other)}
    )


def _section(node: nodes.Node) -> nodes.section | None:
    """Return the section with a title around a node; exercises make sections without one."""
    parent = node.parent
    while parent is not None and not (
        isinstance(parent, nodes.section) and isinstance(parent[0], nodes.title)
    ):
        parent = parent.parent
    return parent


def first(env: BuildEnvironment, symbol: Symbol) -> tuple[str, str] | None:
    """Return the page and the section in which a symbol first appears."""
    for docname, _ in reading_order(env, env.config.root_doc):
        for formula, section in _formulas(env).get(docname, ()):
            if docname != PAGE and symbol.is_in(formula):
                return docname, section
    return None


def rewrite_table(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have the table written again when there are other formulas."""
    formulas = repr(sorted(_formulas(env).items()))
    before = getattr(env, "notation_seen", None)
    now = hashlib.sha256(formulas.encode()).hexdigest()
    env.notation_seen = now  # type: ignore[attr-defined]
    return [PAGE] if now != before and PAGE in env.found_docs else []


class FirstPlaces(SphinxPostTransform):
    """Say in the table where each symbol first appears."""

    default_priority = 20

    def run(self, **kwargs: Any) -> None:
        by_id = {symbol.id: symbol for symbol in symbols()}
        for node in list(self.document.findall(first_place)):
            place = first(self.env, by_id[node["symbol"]])
            if place is None:
                node.replace_self(nodes.Text("–"))
                continue
            docname, section = place
            title = nodes.Text(self.env.titles[docname].astext())
            node.replace_self(
                make_refnode(self.app.builder, self.env.docname, docname, section, title)
            )


class SymbolLinks(SphinxPostTransform):
    """Link a symbol in a sentence to the table, the first time in each section."""

    default_priority = 420  # after a full stop has been joined to its formula

    def run(self, **kwargs: Any) -> None:
        if self.app.builder.format != "html" or self.env.docname == PAGE:
            return
        if PAGE not in self.env.found_docs:
            return
        seen: set[tuple[int, str]] = set()
        for node in list(self.document.findall(nodes.math)):
            symbol = next((s for s in symbols() if s.is_all_of(node.astext())), None)
            if symbol is None or _inside(node, nodes.reference, nodes.title, nodes.table):
                continue
            key = id(_section(node)), symbol.id
            if key not in seen:
                seen.add(key)
                place, formula = (PAGE, symbol.anchor), node.deepcopy()
                link = make_refnode(
                    self.app.builder, self.env.docname, *place, formula, symbol.said
                )
                link["classes"].append("symbol")
                node.replace_self(link)


def _inside(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, kinds):
            return True
        parent = parent.parent
    return False


def setup(app: Sphinx) -> ExtensionMetadata:
    for symbol in symbols():
        symbol.alone  # noqa: B018 - compiled while nobody waits for a page
    app.add_directive("notation-table", NotationTable)
    app.add_node(first_place)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", rewrite_table)
    app.add_post_transform(FirstPlaces)
    app.add_post_transform(SymbolLinks)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
