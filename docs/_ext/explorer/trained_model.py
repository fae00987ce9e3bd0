"""`{trained-model}`: what the trained model attends to, for chosen words."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from explorer.directive import Interactive
from explorer.element import explorer
from figures.values import Values

PAGE = "self-attention/training"
"""The page that trains the model."""
CONTROLS = ("words", "asked", "heads")
SCALE = 100_000  # parameters are kept with five decimals, as whole numbers of these parts


class trained_model(explorer):  # noqa: N801 - docutils names nodes in lower case
    """A model whose words and heads are chosen."""

    def numbers(self, values: Values) -> dict[str, Any]:
        """Return the language, and the model's rounded parameters."""
        return {
            "words": values["vocabulary"],
            "slots": values["slots"],
            "text": values["sentence"],
            "right": values["right"],
            "scale": SCALE,
            "parameters": [round(SCALE * each) for each in values["parameters"]],
        }


class TrainedModel(Interactive):
    """Let words and what `:controls:` names be changed; without scripts, show the content."""

    def run(self) -> list[nodes.Node]:
        data = {"controls": self.names("controls", CONTROLS, CONTROLS)}
        node = trained_model(tag="trained-attention", page=PAGE, data=data)
        return self.place(node, ["bows.js", "trained.js"])


def setup(app: Sphinx) -> None:
    app.add_directive("trained-model", TrainedModel)
