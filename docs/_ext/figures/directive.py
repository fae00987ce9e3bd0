"""`{attention-figure} NAME`: a picture that is drawn when its page is written."""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging

from figures.board import signed
from figures.drawings import all_drawings
from figures.numbered_blocks import CaptionedDirective
from figures.values import page_values
from page_values import data_file
from page_values.later import show_later

LOGGER = logging.getLogger(__name__)
DEPENDENCIES = sorted(Path(__file__).parent.rglob("*.py"))


class drawn(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """The place of a picture, with its name, its id and its text alternative."""


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
        caption = self.parse_content_to_nodes()
        if len(caption) != 1 or not isinstance(caption[0], nodes.paragraph):
            raise self.error(f"a caption is one paragraph, got {len(caption)} blocks")
        node = self.wrap([], list(caption[0].children), name)
        page = drawings[name].page or self.env.docname
        picture = drawn("", page=page, drawing=name, uid=node["ids"][0], alt=alt)
        self.set_source_info(picture)
        node.insert(1, picture)
        for file in (*DEPENDENCIES, data_file(self.env)):
            self.env.note_dependency(str(file))
        return [node]


def draw(app: Sphinx, docname: str, node: nodes.Element) -> nodes.Node:
    """Draw a picture; if the page that makes its numbers wasn't run, show its text alternative."""
    drawing, page, alt = all_drawings()[node["drawing"]], node["page"], node["alt"]
    values = drawing.compute() if drawing.compute else page_values(app.env, page)
    text = nodes.paragraph(alt, alt)
    if not values:  # nothing was executed
        return text
    try:
        made = drawing.draw(values)
    except KeyError as error:
        message = "no cell of %s makes %s, which figure %r shows"
        LOGGER.warning(message, page, error, node["drawing"], location=node)
        return text
    shown = {shown for _, shown in made.numbers}
    said = re.findall(r"[-−]?\d+\.\d{2,}", alt)
    if strays := ", ".join(number for number in said if signed(number) not in shown):
        LOGGER.warning(":alt: says %s, which the figure does not show", strays, location=node)
    return nodes.raw("", made.render(node["uid"], drawing.title, alt), format="html")


def setup(app: Sphinx) -> None:
    app.add_directive("attention-figure", AttentionFigure)
    show_later(app, drawn, draw)
