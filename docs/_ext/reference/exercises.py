"""Solutions of sphinx-exercise that fold without a script."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import exercise_node, solution_node


class folded(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A block the reader opens; `summary` is what shows while it is closed."""


class Unwrap(SphinxTransform):
    """Take the sections without a title off, whose id every exercise and solution repeats."""

    default_priority = 11  # after sphinx-exercise has put the parts of each together

    def apply(self, **kwargs: object) -> None:
        for kind in (exercise_node, solution_node):
            for node in self.document.findall(kind):
                for section in [each for each in node if isinstance(each, nodes.section)]:
                    place = node.index(section)
                    node[place : place + 1] = section.children


class FoldSolutions(SphinxPostTransform):
    """Turn solutions into folds."""

    default_priority = 30  # after sphinx-exercise has written the titles

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(solution_node)):
            title, *content = node.children
            node.replace_self(folded("", *content, summary=title.astext(), ids=node["ids"]))


def visit_folded(self: HTML5Translator, node: folded) -> None:
    self.body.append(self.starttag(node, "details", CLASS="folded"))
    self.body.append(f"<summary>{self.encode(node['summary'])}</summary>\n")


def depart_folded(self: HTML5Translator, node: folded) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.setup_extension("sphinx_exercise")
    # It turns numbers on, for which Sphinx loads every page in every build; here each has its own.
    app.connect("config-inited", lambda _, config: setattr(config, "numfig", False))
    # It names visitors for singlehtml, which hides from that builder all that others have for HTML.
    app.registry.translation_handlers.pop("singlehtml", None)
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.add_transform(Unwrap)
    app.add_post_transform(FoldSolutions)
