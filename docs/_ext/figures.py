"""`{attention-figure} NAME`: a picture of the computation, drawn when the book is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attention_trace
import build_cost_trace
import captioned
import cost_trace
import drawings
import drawings_across
import drawings_block
import drawings_build_cost
import drawings_cache
import drawings_cost
import drawings_devices
import drawings_heads
import drawings_landing
import drawings_masks
import drawings_plane
import drawings_positions
import drawings_roles
import drawings_scaling
import drawings_training
import heads_trace
import page_trace
import plane_trace
import roles_trace
import scaling_trace
import svg
import training_trace
from docutils import nodes
from docutils.parsers.rst import directives

from selfattn import causal, examples, functional, modules

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

DRAWINGS = (
    drawings.DRAWINGS
    | drawings_across.DRAWINGS
    | drawings_block.DRAWINGS
    | drawings_build_cost.DRAWINGS
    | drawings_cache.DRAWINGS
    | drawings_cost.DRAWINGS
    | drawings_devices.DRAWINGS
    | drawings_heads.DRAWINGS
    | drawings_landing.DRAWINGS
    | drawings_masks.DRAWINGS
    | drawings_plane.DRAWINGS
    | drawings_positions.DRAWINGS
    | drawings_roles.DRAWINGS
    | drawings_scaling.DRAWINGS
    | drawings_training.DRAWINGS
)
DEPENDENCIES = (
    *(build_cost_trace, drawings_build_cost),
    *(attention_trace, cost_trace, plane_trace, roles_trace, scaling_trace, training_trace),
    *(drawings, drawings_cost, drawings_devices, drawings_landing, drawings_plane, drawings_roles),
    *(drawings_scaling, drawings_training, svg),
    *(page_trace, drawings_across, drawings_block, drawings_cache),
    *(drawings_masks, drawings_positions),
    *(drawings_heads, heads_trace),
    *(causal, examples, functional, modules),
)


class AttentionFigure(captioned.CaptionedDirective):
    """Draw one of the section's figures; the content is its caption."""

    kind = "figure"
    required_arguments = 1
    has_content = True
    option_spec = captioned.CaptionedDirective.shared_options | {
        "alt": directives.unchanged_required
    }

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in DRAWINGS:
            valid = ", ".join(sorted(DRAWINGS))
            raise self.error(f"there is no attention figure {name!r}; the figures are: {valid}")
        alt = " ".join(self.options.get("alt", "").split())
        if not alt:
            raise self.error(f"figure {name!r} needs :alt:, a text that says what it shows")
        node = self.wrap([], self._caption(), name)
        drawing = DRAWINGS[name]
        picture = drawing.draw(attention_trace.attention_trace()).render(
            node["ids"][0], drawing.title, alt
        )
        self._check_alt(alt, picture)
        node.insert(1, nodes.raw("", picture, format="html"))
        node["alt"] = alt
        for module in DEPENDENCIES:
            self.env.note_dependency(str(module.__file__))
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


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("captioned")
    app.add_directive("attention-figure", AttentionFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
