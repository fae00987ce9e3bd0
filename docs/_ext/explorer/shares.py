"""`{shares}` and `{trained-model}`: what the trained model attends to, for chosen words.

Loading its values loads torch: a build that reads no such page does without.
"""

from __future__ import annotations

import copy
import importlib
import itertools
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from explorer.directive import SHEET, explorer
from explorer.element import custom_element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docutils import nodes
    from sphinx.application import Sphinx

    from selfattn.trained import TwoHeads

DIGITS = 6
HEADS_ON = [*itertools.product((False, True), repeat=2)]
SCALE = 100_000  # parameters are kept with five decimals, as whole numbers of these parts


class Shares(SphinxDirective):
    """Let the figure within show the shares of any word."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        node = self.element()
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]

    def element(self) -> custom_element:
        files = ["shares.css", "shares.js"]
        return custom_element(tag="attention-shares", data=given(), files=files)


class TrainedModel(Shares):
    """Let words, heads and steps of training be changed; without scripts, show the content."""

    def element(self) -> custom_element:
        files = [SHEET, "shares.js", "trained.js"]
        return explorer(tag="trained-attention", data=given_model(), files=files, fold="")


def given() -> dict[str, Any]:
    """Return the words, the weights of each, and the word chosen first."""
    values = importlib.import_module("figures.values").two_heads()
    last = importlib.import_module("figures.drawings.landing").LAST
    weights = [[round(weight, DIGITS) for weight in row] for row in values["start"]]
    return {"words": values["words"], "weights": weights, "chosen": last}


def given_model() -> dict[str, Any]:
    """Return the language, and the model's rounded parameters after some steps of training."""
    values = importlib.import_module("figures.values")
    trained = importlib.import_module("selfattn.trained")
    fill = importlib.import_module("torch.nn.utils").vector_to_parameters
    model, saved = values.trained_model()
    model, held_out = copy.deepcopy(model), trained.sentences()[1]
    steps = []
    for step, parameters in saved.items():
        fill(parameters, model.parameters())
        whole = [round(SCALE * number) for number in parameters.tolist()]
        right = [trained.accuracies(_with_heads(model, on), held_out) for on in HEADS_ON]
        steps.append({"step": step, "right": right, "parameters": whole})
    language = {"words": trained.VOCABULARY, "slots": trained.SLOTS}
    return {**language, "text": values.SENTENCE.split(), "steps": steps, "scale": SCALE}


def _with_heads(model: TwoHeads, on: Sequence[bool]) -> TwoHeads:
    """Return a model whose other heads bring nothing."""
    without_head = importlib.import_module("selfattn.trained").without_head
    for head in (0, 1):
        model = model if on[head] else without_head(model, head)
    return model


def setup(app: Sphinx) -> None:
    app.add_directive("shares", Shares)
    app.add_directive("trained-model", TrainedModel)
