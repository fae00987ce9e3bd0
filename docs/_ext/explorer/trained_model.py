"""`{trained-model}`: what the trained model attends to, for chosen words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from explorer.directive import SHEET
from explorer.element import explorer

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import OptionSpec

    from figures.values import Values

PAGE = "self-attention/training"
"""The page that trains the model."""
CONTROLS = ("words", "asked", "heads", "steps")
SCALE = 100_000  # parameters are kept with five decimals, as whole numbers of these parts


class trained_model(explorer):  # noqa: N801 - docutils names nodes in lower case
    """A model whose words, heads and step of training are chosen."""

    def numbers(self, values: Values) -> dict[str, Any]:
        """Return the language, and the model's rounded parameters after some steps of training."""
        states = [*zip(values["steps"], values["right"], values["parameters"], strict=True)]
        if "steps" not in self["data"]["controls"]:
            states = states[-1:]
        steps = [
            {"step": step, "right": right, "parameters": [round(SCALE * each) for each in numbers]}
            for step, right, numbers in states
        ]
        language = {"words": values["vocabulary"], "slots": values["slots"]}
        return {**language, "text": values["sentence"], "steps": steps, "scale": SCALE}


class TrainedModel(SphinxDirective):
    """Let words and what `:controls:` names be changed; without scripts, show the content.

    In a fold named `:fold:`, there is no content.
    """

    has_content = True
    option_spec: ClassVar[OptionSpec] = {
        "controls": directives.unchanged_required,
        "fold": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        controls = self.options.get("controls", " ".join(CONTROLS)).split()
        if strays := [name for name in controls if name not in CONTROLS]:
            known = ", ".join(CONTROLS)
            raise self.error(f":controls: knows no {', '.join(strays)}; it knows {known}")
        fold = self.options.get("fold", "")
        if bool(fold) == bool(self.content):
            raise self.error("a trained model needs either :fold: or content, for no scripts")
        files = [SHEET, "bows.js", "trained.js"]
        data = {"controls": controls}
        node = trained_model(tag="trained-attention", page=PAGE, data=data, files=files, fold=fold)
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]


def setup(app: Sphinx) -> None:
    app.add_directive("trained-model", TrainedModel)
