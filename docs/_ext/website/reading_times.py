"""How long a page takes to read, where it is on the path, and how many outputs were compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.util.docutils import SphinxRole

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.sphinx.state import results_of
from website.reading_order import reading_order
from website.shown_later import show_later

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

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
    fields = app.env.metadata[app.env.docname]
    fields["minutes"] = words / WORDS_A_MINUTE + cells * MINUTES_A_CELL
    fields["is_lesson"] = cells > 0


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


def fill(app: Sphinx, docname: str, node: nodes.Element) -> nodes.inline:
    """Write the number that a page asked for."""
    known = numbers(app.env)
    if node["asked"] == "compared":
        text = "{} of {}".format(*known["compared"])
    else:
        text = in_words(sum(known["minutes"][page] for page in node["pages"]))
    return nodes.inline("", text, classes=[node["asked"]])


def in_words(minutes: float) -> str:
    """Round a time as one would say it."""
    return f"{max(5, 5 * round(minutes / 5))} minutes"


def path(env: BuildEnvironment) -> list[str]:
    """Return the pages that are read one after the other: those of the first list of contents."""
    first = next(env.tocs[env.config.root_doc].findall(toctree), None)
    tops = [page for _, page in first["entries"]] if first else []
    pages = (page for top in tops for page, _ in reading_order(env, top))
    return [page for page in pages if page in env.found_docs]


def put_help(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give a lesson's template its time, and its place on the path."""
    if app.builder.name == "epub" or pagename == app.config.root_doc:
        return
    fields, pages = app.env.metadata.get(pagename, {}), path(app.env)
    place = [f"page {pages.index(pagename) + 1} of {len(pages)}"] if pagename in pages else []
    time = [f"about {in_words(fields['minutes'])}"] if fields.get("is_lesson") else []
    context["reading_help"] = " · ".join([*place, *time]).capitalize()


def setup(app: Sphinx) -> None:
    app.add_role("reading-time", KnownLater())
    app.add_role("compared", KnownLater())
    app.connect("doctree-read", note_length)
    app.connect("html-page-context", put_help)
    show_later(app, known_later, fill, numbers)
