"""`{attention-figure} NAME`: a picture of the computation, drawn when the book is built."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives

from figures.drawings import all_drawings
from figures.numbered_blocks import CaptionedDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "selfattn"
DEPENDENCIES = (
    *sorted(HERE.rglob("*.py")),
    *(PACKAGE / f"{name}.py" for name in ("causal", "examples", "functional", "modules")),
)


class AttentionFigure(CaptionedDirective):
    """Draw one of the section's figures; the content is its caption."""

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
        drawing = drawings[name]
        trace = importlib.import_module("figures.attention_trace").attention_trace()
        picture = drawing.draw(trace).render(node["ids"][0], drawing.title, alt)
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


def setup(app: Sphinx) -> None:
    app.add_directive("attention-figure", AttentionFigure)
