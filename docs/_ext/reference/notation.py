"""The table of symbols, and the links that lead to it from formulas in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from ancestors import is_in
from reference.symbols import DATA, Symbol, groups, symbols

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import OptionSpec

PAGE = "reference/notation"
INDICES = ("c", "e", "i", "j", "mn")
HEADER = ("symbol", "in code", "shape")


class NotationTable(SphinxDirective):
    """The symbols of a group: name in code, and shape."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[OptionSpec] = {"name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        title = self.arguments[0]
        if title not in groups():
            raise self.error(f"the groups of symbols are: {', '.join(groups())}")
        self.env.note_dependency(str(DATA))
        group = nodes.tgroup("", cols=len(HEADER))
        group += [nodes.colspec(colwidth=width) for width in (50, 25, 25)]
        head = nodes.row("", *(_entry(nodes.Text(text)) for text in HEADER))
        group += nodes.thead("", head)
        group += nodes.tbody("", *(self._row(symbol) for symbol in groups()[title]))
        return [nodes.table("", group, classes=["notation"])]

    def _row(self, symbol: Symbol) -> nodes.row:
        meaning = [
            nodes.math(symbol.latex, symbol.latex),
            nodes.Text(": "),
            *self._text(symbol.meaning),
        ]
        code: list[nodes.Node] = []
        for name in symbol.code:
            code += [nodes.Text(", ")] if code else []
            code.append(nodes.literal(name, name))
        row = nodes.row("", _entry(*meaning), _entry(*code))
        row += _entry(*(self._text(symbol.shape) if symbol.shape else []))
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


class SymbolLinks(SphinxPostTransform):
    """Link a symbol in a sentence to the table, the first time on each page; indices need none."""

    default_priority = 420  # after a full stop has been joined to its formula

    def run(self, **kwargs: Any) -> None:
        if self.env.docname == PAGE or PAGE not in self.env.found_docs:
            return
        seen = set(INDICES)
        for node in list(self.document.findall(nodes.math)):
            symbol = next((s for s in symbols() if s.is_all_of(node.astext())), None)
            if symbol is None or is_in(node, nodes.reference, nodes.title, nodes.table):
                continue
            if symbol.id not in seen:
                seen.add(symbol.id)
                place, formula = (PAGE, symbol.anchor), node.deepcopy()
                words = symbol.explanation(node.astext())
                link = make_refnode(self.app.builder, self.env.docname, *place, formula, words)
                link["classes"].append("symbol")
                node.replace_self(link)


def setup(app: Sphinx) -> None:
    for symbol in symbols():
        symbol.alone  # noqa: B018 - compiled while nobody waits for a page
    app.add_directive("notation-table", NotationTable)
    app.add_post_transform(SymbolLinks)
