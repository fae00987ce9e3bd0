"""Permanent links to what has none in Sphinx: printed outputs, and equations without a number.

An id is made of the section's and a count within it, such as `step-1-output-2`, so it stays as
it is when other sections change. Headings, figures, listings and numbered equations have links
already.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from reference.ancestors import titled_section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx


def kind_of(node: nodes.Node) -> str:
    """Return "output" or "equation" for what gets a link, else an empty text."""
    if isinstance(node, nodes.math_block):
        return "" if node.get("number") else "equation"
    is_output = isinstance(node, nodes.Element) and node.get("nb_element") == "cell_code_output"
    return "output" if is_output else ""


def linked(document: nodes.document) -> Iterator[tuple[nodes.Element, str, str]]:
    """Yield what gets a link, with its kind and its id: the one it has, or the one it will have."""
    counts: Counter[str] = Counter()
    taken = set(document.ids)
    for node in list(document.findall(nodes.Element)):
        if kind := kind_of(node):
            stem = _stem(node, kind)
            counts[stem] += 1
            while not node["ids"] and f"{stem}-{counts[stem]}" in taken:
                counts[stem] += 1
            yield node, kind, node["ids"][0] if node["ids"] else f"{stem}-{counts[stem]}"


def _stem(node: nodes.Element, kind: str) -> str:
    section = titled_section(node)
    if section is None or isinstance(section.parent, nodes.document):
        return kind
    return f"{section['ids'][0]}-{kind}"


class Permalinks(SphinxPostTransform):
    """Give outputs and equations an id, and outputs a link after them."""

    default_priority = 15

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name not in {"html", "dirhtml"}:
            return  # an e-book and a print have no addresses to copy
        for node, kind, name in linked(self.document):
            if not node["ids"]:
                node["ids"].append(name)
            if kind == "output":
                node.append(self._link(name, kind))

    def _link(self, name: str, kind: str) -> nodes.raw:
        text = (
            f'<a class="headerlink {kind}-link" href="#{name}" title="Link to this {kind}">'
            f"{self.config.html_permalinks_icon}</a>"
        )
        return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> None:
    app.add_post_transform(Permalinks)
