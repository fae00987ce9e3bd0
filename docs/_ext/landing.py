"""What only the first page has: small pictures, reading times, and how much was verified."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.sphinx.state import results_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 0.4  # to read a cell of some ten lines, and what it printed


class Pictogram(SphinxDirective):
    """Show a small picture that says nothing the text beside it doesn't."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        # Loading the drawings loads torch: a build that reads no page with one does without.
        pictograms = importlib.import_module("drawings_landing").PICTOGRAMS
        if name not in pictograms:
            valid = ", ".join(sorted(pictograms))
            raise self.error(f"there is no pictogram {name!r}; the pictograms are: {valid}")
        picture = pictograms[name]().decorate()
        return [nodes.raw("", picture, format="html")]


class known_later(nodes.Inline, nodes.TextElement):  # noqa: N801 - docutils names nodes so
    """A number that is known once all pages are read; `asked` says which."""


class KnownLater(SphinxRole):
    """`reading-time` of a page or of several, or `compared` outputs of this build."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [known_later("", asked=self.name, pages=self.text.split())], []


def note_length(app: Sphinx, doctree: nodes.document) -> None:
    """Note how long it takes to read a page, and if it tells such numbers itself."""
    said = app.env.metadata[app.env.docname]
    words = sum(len(paragraph.astext().split()) for paragraph in doctree.findall(nodes.paragraph))
    cells = sum(node.get("nb_element") == "cell_code" for node in doctree.findall(nodes.container))
    said["minutes"] = words / WORDS_A_MINUTE + cells * MINUTES_A_CELL
    if next(doctree.findall(known_later), None) is not None:
        said["known_later"] = True


def numbers(env: BuildEnvironment) -> dict[str, Any]:
    """Return every number that a page may ask for."""
    minutes = {name: said["minutes"] for name, said in env.metadata.items() if "minutes" in said}
    return {"minutes": minutes, "compared": compared(env)}


def compared(env: BuildEnvironment) -> tuple[int, int]:
    """Return how many of the book's outputs were compared, and how many there are."""
    pages = results_of(env).values()
    outcomes = [each for page in pages for each in page.outcomes if each.body_line]
    return sum(each.kind is Kind.VERIFIED for each in outcomes), len(outcomes)


def rewrite(app: Sphinx, env: Any) -> list[str]:
    """Have the pages with such numbers written again when these have changed."""
    before = getattr(env, "landing_numbers", None)
    env.landing_numbers = numbers(env)
    if env.landing_numbers == before:
        return []
    return [name for name, said in env.metadata.items() if "known_later" in said]


class Tell(SphinxPostTransform):
    """Write the numbers when a page is written."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(known_later)):
            told = nodes.Text(self._told(node))
            node.replace_self(nodes.inline("", "", told, classes=[node["asked"]]))

    def _told(self, node: nodes.Element) -> str:
        found = numbers(self.env)
        if node["asked"] == "compared":
            return "{} of {}".format(*found["compared"])
        minutes = sum(found["minutes"][page] for page in node["pages"])
        return f"{max(5, 5 * round(minutes / 5))} minutes"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("pictogram", Pictogram)
    app.add_role("reading-time", KnownLater())
    app.add_role("compared", KnownLater())
    app.add_post_transform(Tell)
    app.connect("doctree-read", note_length)
    app.connect("env-updated", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
