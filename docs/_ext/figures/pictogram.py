"""`{pictogram} NAME`: a small picture that says nothing the text beside it doesn't."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Pictogram(SphinxDirective):
    """Show a small picture for eyes alone."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        # Loading the drawings loads torch: a build that reads no page with one does without.
        pictograms = importlib.import_module("figures.drawings.landing").PICTOGRAMS
        if name not in pictograms:
            valid = ", ".join(sorted(pictograms))
            raise self.error(f"there is no pictogram {name!r}; the pictograms are: {valid}")
        picture = pictograms[name]().decorate()
        return [nodes.raw("", picture, format="html")]


def setup(app: Sphinx) -> None:
    app.add_directive("pictogram", Pictogram)
