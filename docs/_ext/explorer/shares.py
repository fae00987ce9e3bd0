"""`{shares}`: the figure of six shares answers: choose a word, and see whom it attends to."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from explorer.element import custom_element

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

FILES = ["shares.css", "shares.js"]
DIGITS = 6


class Shares(SphinxDirective):
    """Let the figure within show the shares of any word."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        node = custom_element(tag="attention-shares", data=given(), files=FILES)
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]


def given() -> dict[str, Any]:
    """Return what the script reads: the words, the weights of each, and the word chosen first."""
    # Loading the values loads torch: a build that reads no such page does without.
    values = importlib.import_module("figures.values").two_heads()
    last = importlib.import_module("figures.drawings.landing").LAST
    weights = [[round(weight, DIGITS) for weight in row] for row in values["start"]]
    return {"words": values["words"], "weights": weights, "chosen": last}


def setup(app: Sphinx) -> None:
    app.add_directive("shares", Shares)
