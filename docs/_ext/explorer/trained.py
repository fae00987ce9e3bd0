"""`{trained-model}`: the heads of the trained model, at each saved step of its training."""

from __future__ import annotations

import copy
import importlib
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from explorer.directive import SHEET, explorer

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

FILES = [SHEET, "shares.js", "trained.js"]
DIGITS = 5


class TrainedModel(SphinxDirective):
    """Place the trained model; its content is shown where no script runs."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        node = explorer(tag="trained-attention", data=given(), files=FILES, later=(), fold="")
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]


def given() -> dict[str, Any]:
    """Return what the script reads: the language, and the model's rounded parameters by steps."""
    # Loading these loads torch: a build that reads no such page does without.
    values = importlib.import_module("figures.values")
    trained = importlib.import_module("selfattn.trained")
    fill = importlib.import_module("torch.nn.utils").vector_to_parameters
    model, saved = values.trained_model()
    model, held_out = copy.deepcopy(model), trained.sentences()[1]
    steps = []
    for step, parameters in saved.items():
        fill(parameters, model.parameters())
        weights = [round(number, DIGITS) for number in parameters.tolist()]
        right = trained.accuracies(model, held_out)
        steps.append({"step": step, "right": right, "parameters": weights})
    sentence = values.SENTENCE.split()
    return {"words": trained.VOCABULARY, "slots": trained.SLOTS, "text": sentence, "steps": steps}


def setup(app: Sphinx) -> None:
    app.add_directive("trained-model", TrainedModel)
