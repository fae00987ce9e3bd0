"""Permanent links to printed outputs, which have none in Sphinx.

An id is made of the section's and a count within it, such as `step-1-output-2`, so it stays the
same when other sections change.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from ancestors import titled_section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx


def linked(document: nodes.document) -> Iterator[tuple[nodes.Element, str]]:
    """Yield each output with its id: the one it has, or the one it gets when it is written."""
    counts: Counter[str] = Counter()
    taken = set(document.ids)
    for node in document.findall(nodes.container):
        if node.get("nb_element") == "cell_code_output":
            stem = _stem(node)
            counts[stem] += 1
            while not node["ids"] and f"{stem}-{counts[stem]}" in taken:
                counts[stem] += 1
            yield node, node["ids"][0] if node["ids"] else f"{stem}-{counts[stem]}"


def _stem(node: nodes.Element) -> str:
    section = titled_section(node)
    if section is None or isinstance(section.parent, nodes.document):
        return "output"
    return f"{section['ids'][0]}-output"


class Permalinks(SphinxPostTransform):
    """Give outputs an id, and a link after them."""

    default_priority = 15
    builders = ("html", "dirhtml")  # an e-book and a print have no addresses to copy

    def run(self, **kwargs: object) -> None:
        for node, name in list(linked(self.document)):
            if not node["ids"]:
                node["ids"].append(name)
            link = (
                f'<a class="headerlink output-link" href="#{name}" title="Link to this output">'
                f"{self.config.html_permalinks_icon}</a>"
            )
            node.append(nodes.raw("", link, format="html"))


def setup(app: Sphinx) -> None:
    app.add_post_transform(Permalinks)
