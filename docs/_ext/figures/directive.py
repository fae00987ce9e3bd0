"""`{attention-figure} NAME`: a picture that is drawn in a build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging

from figures.board import signed
from figures.drawings import all_drawings
from figures.numbered_blocks import CaptionedDirective
from figures.values import page_values
from later import show_later
from page_values import data_file

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from figures.drawing import Drawing

LOGGER = logging.getLogger(__name__)
HERE = Path(__file__).parent
DEPENDENCIES = sorted(HERE.rglob("*.py"))


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
        drawing, uid = drawings[name], node["ids"][0]
        if drawing.page in {"", self.env.docname}:
            try:
                picture = draw(drawing, self.env, self.env.docname, uid, alt)
            except KeyError as error:
                raise self.error(
                    f"no cell before figure {name!r} makes {error}, which it shows"
                ) from None
            if wrong := strays(alt, picture):
                raise self.error(f":alt: says {wrong}, which the figure does not show")
        else:
            picture = drawn_later("", page=drawing.page, drawing=name, uid=uid, alt=alt)
        node.insert(1, picture)
        for file in (*DEPENDENCIES, data_file(self.env)):
            self.env.note_dependency(str(file))
        return [node]

    def _caption(self) -> list[nodes.Node]:
        paragraphs = self.parse_content_to_nodes()
        if len(paragraphs) != 1 or not isinstance(paragraphs[0], nodes.paragraph):
            raise self.error(f"a caption is one paragraph, got {len(paragraphs)} blocks")
        return list(paragraphs[0].children)


def draw(drawing: Drawing, env: BuildEnvironment, docname: str, uid: str, alt: str) -> nodes.Node:
    """Draw a picture; if the page that makes its numbers wasn't run, show its text alternative.

    Raises:
        KeyError: If no cell of that page makes what the picture shows.

    """
    values = drawing.compute() if drawing.compute else page_values(env, drawing.page or docname)
    if not values:  # nothing was executed
        return nodes.paragraph(alt, alt)
    drawn = drawing.draw(values)
    picture = drawn.render(uid, drawing.title, alt)
    return nodes.raw("", picture, format="html", shown=[shown for _, shown in drawn.numbers])


def strays(alt: str, picture: nodes.Node) -> str:
    """Return the decimals of a text alternative that the picture does not show."""
    if not isinstance(picture, nodes.raw):
        return ""
    said = re.findall(r"[-−]?\d+\.\d{2,}", alt)
    return ", ".join(number for number in said if signed(number) not in picture["shown"])


class drawn_later(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A picture with another page's numbers."""


def draw_later(app: Sphinx, docname: str, node: nodes.Element) -> nodes.Node:
    """Draw a picture once all pages have been run."""
    drawing = all_drawings()[node["drawing"]]
    try:
        picture = draw(drawing, app.env, docname, node["uid"], node["alt"])
    except KeyError as error:
        message = "no cell of %s makes %s, which figure %r shows"
        LOGGER.warning(message, drawing.page, error, node["drawing"], location=node)
        return nodes.paragraph("", node["alt"])
    if wrong := strays(node["alt"], picture):
        LOGGER.warning(":alt: says %s, which the figure does not show", wrong, location=node)
    return picture


def setup(app: Sphinx) -> None:
    app.add_directive("attention-figure", AttentionFigure)
    show_later(app, drawn_later, draw_later)
