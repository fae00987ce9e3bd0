"""Write a page as Markdown that any Jupyter reader shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from docutils import nodes

from export.pictures import pictures
from reference.ancestors import is_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Writer", "cell_index"]

SPECIAL = re.compile(r"[\\`*$]|<(?=[A-Za-z/!])|\[(?=[^\]]*\]\()|(?<!\w)_|_(?!\w)")
BLOCK_START = re.compile(r"^(\s*)(#{1,6}|[>+-]|\d+(?=[.)]))(?=[.)]?\s)", re.MULTILINE)
UNSEEN = (
    *(nodes.comment, nodes.meta, nodes.raw, nodes.substitution_definition, nodes.system_message),
    *(nodes.target, nodes.pending, nodes.colspec),
)
UNSEEN_NAMES = {"caption_label", "drift_mark", "index", "HideCodeCellNode"}


def cell_index(node: nodes.Node) -> int | None:
    """Return the place of a code cell among its notebook's cells; None for any other node."""
    if isinstance(node, nodes.Element) and node.get("nb_element") == "cell_code":
        return int(node["cell_index"])
    return None


@dataclass
class Writer:
    """Writes the nodes of a page that is ready to be written as HTML."""

    address: Callable[[nodes.reference], str]
    """Returns where a link leads, or nothing for one that is to be plain text."""
    unknown: list[str] = field(default_factory=list)
    """The kinds of nodes that it didn't know how to write."""

    def pieces(self, node: nodes.Node) -> Iterator[str | int]:
        """Yield the blocks below a node, and the place of each code cell between them."""
        for child in node.children:
            index = cell_index(child)
            if index is not None:
                yield index
            elif isinstance(child, nodes.Element) and self._has_cells(child):
                yield from self._heading(child)
                yield from self.pieces(child)
            else:
                yield from self.blocks(child)

    @staticmethod
    def _has_cells(node: nodes.Element) -> bool:
        cells = node.findall(lambda inner: cell_index(inner) is not None)
        return isinstance(node, nodes.section) or next(iter(cells), None) is not None

    def _heading(self, node: nodes.Element) -> Iterator[str]:
        """Yield what a fold is called; sections have their title among their children."""
        if "summary" in node:
            yield f"**{self._text(node['summary'])}**"

    # Blocks --------------------------------------------------------------------------

    def blocks(self, node: nodes.Node) -> Iterator[str]:
        """Yield the Markdown of one node, block by block."""
        if isinstance(node, UNSEEN) or type(node).__name__ in UNSEEN_NAMES:
            return
        for kind in type(node).__mro__:
            write = getattr(self, f"_block_{kind.__name__}", None)
            if write is not None:
                yield from write(node)
                return
        self.unknown.append(type(node).__name__)

    def _all(self, node: nodes.Element) -> Iterator[str]:
        for child in node.children:
            yield from self.blocks(child)

    def _joined(self, children: Iterable[nodes.Node]) -> str:
        return "\n\n".join(block for child in children for block in self.blocks(child))

    def _block_title(self, node: nodes.title) -> Iterator[str]:
        level = 0
        above: Any = node.parent
        while isinstance(above, nodes.section):
            level, above = level + 1, above.parent
        title = self.inline(node).replace("\n", " ")
        yield f"{'#' * level} {title}" if level else f"**{title}**"

    def _block_paragraph(self, node: nodes.Element) -> Iterator[str]:
        text = self.inline(node).strip()
        if text:
            yield BLOCK_START.sub(r"\1\\\2", text)

    _block_rubric = _block_paragraph
    _block_caption = _block_paragraph
    _block_term = _block_paragraph

    def _block_container(self, node: nodes.Element) -> Iterator[str]:
        yield from self._all(node)

    _block_section = _block_container
    _block_compound = _block_container
    _block_figure = _block_container
    _block_sidebar = _block_container
    _block_glossary = _block_container
    _block_definition = _block_container

    def _block_block_quote(self, node: nodes.Element) -> Iterator[str]:
        yield _quoted(self._joined(node.children))

    def _block_bullet_list(self, node: nodes.Element) -> Iterator[str]:
        yield "\n".join(_hung("- ", self._joined(item.children)) for item in node.children)

    def _block_enumerated_list(self, node: nodes.Element) -> Iterator[str]:
        items = enumerate(node.children, start=int(node.get("start", 1)))
        yield "\n".join(_hung(f"{n}. ", self._joined(item.children)) for n, item in items)

    def _block_definition_list(self, node: nodes.Element) -> Iterator[str]:
        for item in node.children:
            terms = ", ".join(self.inline(t) for t in item.children if isinstance(t, nodes.term))
            definition = self._joined(c for c in item.children if isinstance(c, nodes.definition))
            yield _hung("- ", f"{terms}:\n{definition}")

    def _block_Admonition(self, node: nodes.Element) -> Iterator[str]:  # noqa: N802 - docutils' name
        title, *content = node.children
        if isinstance(title, nodes.title):
            name = self.inline(title)
        else:
            name, content = type(node).__name__.capitalize(), [title, *content]
        yield _quoted(f"**{name}**\n\n{self._joined(content)}")

    _block_exercise_node = _block_Admonition

    def _block_dropdown_main(self, node: nodes.Element) -> Iterator[str]:
        title, *content = node.children
        yield _quoted(f"**{self.inline(title).strip()}**\n\n{self._joined(content)}")

    def _block_folded(self, node: nodes.Element) -> Iterator[str]:
        yield f"**{self._text(node['summary'])}**"
        yield from self._all(node)

    def _block_literal_block(self, node: nodes.Element) -> Iterator[str]:
        yield _fenced(node.astext(), str(node.get("language", "")))

    _block_doctest_block = _block_literal_block

    def _block_math_block(self, node: nodes.Element) -> Iterator[str]:
        latex = node.astext().strip()
        # What begins as an environment of its own needs no dollars, and may not have them.
        yield latex if re.match(r"\\begin\{(align|equation|gather)", latex) else f"$$\n{latex}\n$$"

    def _block_captioned(self, node: nodes.Element) -> Iterator[str]:
        """Write a listing whole; of a figure, its picture or what it shows in words."""
        texts = (c for c in node.children if type(c).__name__ == "caption_text")
        caption = f"**{node['label']}** {''.join(map(self.inline, texts))}".strip()
        if "alt" in node:
            yield from pictures(node)
            yield caption
            return
        yield caption
        for child in node.children:
            if not isinstance(child, nodes.caption):
                yield from self.blocks(child)

    def _block_image(self, node: nodes.Element) -> Iterator[str]:
        if node.get("alt"):
            yield _quoted(f"A picture: {self._text(node['alt'])}")

    def _block_transition(self, node: nodes.Element) -> Iterator[str]:
        yield "---"

    def _block_citation(self, node: nodes.Element) -> Iterator[str]:
        label, *content = node.children
        yield _hung("- ", f"{label.astext()}: {self._joined(content)}")

    _block_footnote = _block_citation

    def _block_table(self, node: nodes.Element) -> Iterator[str]:
        rows = [self._row(row) for row in node.findall(nodes.row)]
        head = next(iter(node.findall(nodes.thead)), None)
        if head is None:
            rows.insert(0, [""] * len(rows[0]))
        rule = ["---"] * len(rows[0])
        yield "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]])

    def _row(self, row: nodes.row) -> list[str]:
        cells = ("<br>".join(self._joined([block]) for block in entry.children) for entry in row)
        return [re.sub(r"\s*\n\s*", " ", cell).replace("|", r"\|") for cell in cells]

    # Inline --------------------------------------------------------------------------

    def inline(self, node: nodes.Node) -> str:
        """Return the Markdown of what stands in a paragraph or title."""
        return "".join(self._inline(child) for child in node.children)

    def _inline(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.Text):
            return self._text(node.astext())
        if isinstance(node, UNSEEN) or type(node).__name__ in UNSEEN_NAMES:
            return ""
        for kind in type(node).__mro__:
            write = getattr(self, f"_inline_{kind.__name__}", None)
            if write is not None:
                return str(write(node))
        return self.inline(node)

    def _text(self, text: str) -> str:
        return SPECIAL.sub(r"\\\g<0>", text)

    def _inline_strong(self, node: nodes.Element) -> str:
        return f"**{self.inline(node)}**"

    def _inline_emphasis(self, node: nodes.Element) -> str:
        return f"*{self.inline(node)}*"

    _inline_title_reference = _inline_emphasis

    def _inline_literal(self, node: nodes.Element) -> str:
        text = node.astext()
        ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
        space = " " if text[:1] == "`" or text[-1:] == "`" else ""
        return f"{ticks}{space}{text}{space}{ticks}"

    def _inline_math(self, node: nodes.Element) -> str:
        latex = " ".join(node.astext().split())
        if is_in(node, nodes.entry):
            latex = latex.replace("|", r"\vert ")  # a bar would end the table's cell
        return f"${latex}$"

    def _inline_superscript(self, node: nodes.Element) -> str:
        return f"<sup>{self.inline(node)}</sup>"

    def _inline_subscript(self, node: nodes.Element) -> str:
        return f"<sub>{self.inline(node)}</sub>"

    def _inline_image(self, node: nodes.Element) -> str:
        return self._text(str(node.get("alt", "")))

    def _inline_reference(self, node: nodes.reference) -> str:
        text = self.inline(node)
        address = self.address(node)
        if not address or address == text:
            return text
        return f"[{text}]({address})"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _hung(mark: str, text: str) -> str:
    """Put a mark before a text, and its other lines flush with the first."""
    first, *others = text.splitlines() or [""]
    return "\n".join([mark + first, *((" " * len(mark) + o).rstrip() for o in others)])


def _fenced(code: str, language: str) -> str:
    ticks = "`" * max(3, max(map(len, re.findall("`+", code)), default=0) + 1)
    name = {"none": "", "default": "", "ipython3": "python"}.get(language, language)
    return f"{ticks}{name}\n{code.rstrip()}\n{ticks}"
