"""How long a page takes to read, and how many outputs were compared: known once all are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxRole

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.sphinx.state import results_of
from website.stale_pages import rewrite_where

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 0.4  # to read a cell of some ten lines, and what it printed


class known_later(nodes.Inline, nodes.TextElement):  # noqa: N801 - docutils names nodes so
    """A number that is known once all pages are read; `asked` says which."""


class KnownLater(SphinxRole):
    """`reading-time` of a page or of several, or `compared` outputs of this build."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [known_later("", asked=self.name, pages=self.text.split())], []


def note_length(app: Sphinx, doctree: nodes.document) -> None:
    """Note how long it takes to read a page."""
    words = sum(len(paragraph.astext().split()) for paragraph in doctree.findall(nodes.paragraph))
    cells = sum(node.get("nb_element") == "cell_code" for node in doctree.findall(nodes.container))
    app.env.metadata[app.env.docname]["minutes"] = words / WORDS_A_MINUTE + cells * MINUTES_A_CELL


def numbers(env: BuildEnvironment) -> dict[str, Any]:
    """Return every number that a page may ask for."""
    metadata = env.metadata.items()
    minutes = {name: fields["minutes"] for name, fields in metadata if "minutes" in fields}
    return {"minutes": minutes, "compared": compared(env)}


def compared(env: BuildEnvironment) -> tuple[int, int]:
    """Return how many of the book's outputs were compared, and how many there are."""
    pages = results_of(env).values()
    outcomes = [each for page in pages for each in page.outcomes if each.body_line]
    return sum(each.kind is Kind.VERIFIED for each in outcomes), len(outcomes)


class WriteNumbers(SphinxPostTransform):
    """Write the numbers when a page is written."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(known_later)):
            text = nodes.Text(self._text(node))
            node.replace_self(nodes.inline("", "", text, classes=[node["asked"]]))

    def _text(self, node: nodes.Element) -> str:
        known = numbers(self.env)
        if node["asked"] == "compared":
            return "{} of {}".format(*known["compared"])
        minutes = sum(known["minutes"][page] for page in node["pages"])
        return f"{max(5, 5 * round(minutes / 5))} minutes"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_role("reading-time", KnownLater())
    app.add_role("compared", KnownLater())
    app.add_post_transform(WriteNumbers)
    app.connect("doctree-read", note_length)
    rewrite_where(app, known_later, numbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
