"""`{trained-model}`: what the trained model attends to, for chosen words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from explorer.directive import SHEET
from explorer.element import explorer

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

    from figures.values import Values

SCALE = 100_000  # parameters are kept with five decimals, as whole numbers of these parts


class trained_model(explorer):  # noqa: N801 - docutils names nodes in lower case
    """A model whose words, heads and step of training are chosen."""

    def numbers(self, values: Values) -> dict[str, Any]:
        """Return the language, and the model's rounded parameters after some steps of training."""
        states = zip(values["steps"], values["right"], values["parameters"], strict=True)
        steps = [
            {"step": step, "right": right, "parameters": [round(SCALE * each) for each in numbers]}
            for step, right, numbers in states
        ]
        language = {"words": values["vocabulary"], "slots": values["slots"]}
        return {**language, "text": values["sentence"], "steps": steps, "scale": SCALE}


class TrainedModel(SphinxDirective):
    """Let words, heads and steps of training be changed; without scripts, show the content."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        page, files = "self-attention/training", [SHEET, "bows.js", "trained.js"]
        node = trained_model(tag="trained-attention", page=page, data={}, files=files, fold="")
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]


def setup(app: Sphinx) -> None:
    app.add_directive("trained-model", TrainedModel)
