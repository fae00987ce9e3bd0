"""`{attention-figure} NAME` and `{pictogram} NAME`: pictures that are drawn when a book is built.

Loading the drawings loads torch, so it waits for the first picture.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from figures.drawings import all_drawings
from figures.numbered_blocks import CaptionedDirective
from later import show_later

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from figures.drawing import Drawing

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "selfattn"
DEPENDENCIES = (
    *sorted(HERE.rglob("*.py")),
    *(
        PACKAGE / f"{name}.py"
        for name in ("causal", "examples", "functional", "modules", "trained")
    ),
)


class AttentionFigure(CaptionedDirective):
    """Draw one of the book's figures; the content is its caption."""

    kind = "figure"
    required_arguments = 1
    has_content = True
    option_spec = CaptionedDirective.shared_options | {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        drawings = all_drawings()
        if name not in drawings:
            valid = ", ".join(sorted(drawings))
            raise self.error(f"there is no attention figure {name!r}; the figures are: {valid}")
        alt = " ".join(self.options.get("alt", "").split())
        if not alt:
            raise self.error(f"figure {name!r} needs :alt:, a text that says what it shows")
        node = self.wrap([], self._caption(), name)
        try:
            drawn = draw(drawings[name], self.env, self.env.docname)
        except KeyError as error:
            raise self.error(
                f"no cell before figure {name!r} makes {error}, which it shows"
            ) from None
        if drawn is None:  # nothing was executed
            node.insert(1, nodes.paragraph(alt, alt))
        else:
            picture = drawn.render(node["ids"][0], drawings[name].title, alt)
            self._check_alt(alt, picture)
            node.insert(1, nodes.raw("", picture, format="html"))
        node["alt"] = alt
        for file in DEPENDENCIES:
            self.env.note_dependency(str(file))
        return [node]

    def _check_alt(self, alt: str, picture: str) -> None:
        """Refuse a text alternative with a decimal that the picture does not show."""
        shown = set(re.findall(r"data-trace[^>]*>([^<]+)<", picture.replace("−", "-")))
        strays = [
            number
            for number in re.findall(r"-?\d+\.\d{2,}", alt.replace("−", "-"))
            if number not in shown
        ]
        if strays:
            raise self.error(f":alt: says {', '.join(strays)}, which the figure does not show")

    def _caption(self) -> list[nodes.Node]:
        paragraphs = self.parse_content_to_nodes()
        if len(paragraphs) != 1 or not isinstance(paragraphs[0], nodes.paragraph):
            raise self.error(f"a caption is one paragraph, got {len(paragraphs)} blocks")
        return list(paragraphs[0].children)


def draw(drawing: Drawing, env: BuildEnvironment, docname: str) -> Any:
    """Draw a picture on a board; None if the page that makes its numbers wasn't run.

    Raises:
        KeyError: If no cell of that page makes what the picture shows.

    """
    if drawing.compute:
        return drawing.draw(drawing.compute())
    values = importlib.import_module("figures.values").page_values(env, drawing.page or docname)
    return drawing.draw(values) if values else None


class pictogram(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A small picture that says nothing the text beside it doesn't, drawn when it is written."""


class Pictogram(SphinxDirective):
    """Show a small picture for eyes alone."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        pictograms = importlib.import_module("figures.drawings.landing").PICTOGRAMS
        if name not in pictograms:
            valid = ", ".join(sorted(pictograms))
            raise self.error(f"there is no pictogram {name!r}; the pictograms are: {valid}")
        return [pictogram("", drawing=name)]


def draw_pictogram(app: Sphinx, docname: str, node: nodes.Element) -> nodes.raw:
    """Draw a small picture, once all pages have been run."""
    pictograms = importlib.import_module("figures.drawings.landing").PICTOGRAMS
    drawn = draw(pictograms[node["drawing"]], app.env, docname)
    return nodes.raw("", drawn.decorate() if drawn else "", format="html")


def setup(app: Sphinx) -> None:
    app.add_directive("attention-figure", AttentionFigure)
    app.add_directive("pictogram", Pictogram)
    show_later(app, pictogram, draw_pictogram)
