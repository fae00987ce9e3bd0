"""Solutions fold without a script, and exercises are numbered by page, as figures are.

A page names its letters in its front matter, `exercises: Q`; others carry the chapter's number.
An exercise of the chapter says its own number in its label, `ex-3-2`.
"""

from __future__ import annotations

import copy
import re
from itertools import count
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator


OF_THE_CHAPTER = re.compile(r"ex-(\d+)-(\d+)")


class folded(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A block the reader opens; `summary` is what shows while it is closed."""


class FoldSolutions(SphinxPostTransform):
    """Turn solutions into folds, or plain admonitions where the output is not HTML."""

    default_priority = 30  # after sphinx-exercise has written the titles

    def run(self, **kwargs: object) -> None:
        for solution in list(self.document.findall(solution_node)):
            title, *content = solution.children
            if self.app.builder.format == "html":
                fold: nodes.Element = folded("", summary=title.astext(), ids=solution["ids"])
            else:
                fold = nodes.admonition("", nodes.title("", title.astext()), ids=solution["ids"])
            fold += _unwrapped(content)
            solution.replace_self(fold)


class PlainExercises(SphinxPostTransform):
    """Drop the wrapper's repeated id, and show exercises in builders their package forgot."""

    default_priority = 30

    def run(self, **kwargs: object) -> None:
        known = self.app.builder.format in {"html", "latex"}
        for exercise in _exercises(self.document):
            title, *content = exercise.children
            if known:
                exercise.children = [title]
                exercise.extend(_unwrapped(content))
            else:
                number = exercise_number(self.env, self.env.docname, exercise)
                label = nodes.Text(f"Exercise {number}".strip())
                plain = nodes.admonition("", nodes.title("", "", label, *title.children))
                plain["ids"] = exercise["ids"]
                plain += _unwrapped(content)
                exercise.replace_self(plain)


def _exercises(document: nodes.document) -> list[nodes.Element]:
    kinds = (exercise_node, exercise_enumerable_node)
    return [exercise for kind in kinds for exercise in document.findall(kind)]


def _unwrapped(content: list[nodes.Node]) -> list[nodes.Node]:
    """Return the blocks inside sphinx-exercise's section, whose id every solution repeats."""
    blocks: list[nodes.Node] = []
    for node in content:
        blocks += node.children if isinstance(node, nodes.section) else [node]
    return blocks


def exercise_number(env: BuildEnvironment, docname: str, exercise: nodes.Element) -> str:
    """Return an exercise's number, such as "3.1", or an empty text where it has none."""
    numbers = env.toc_fignumbers.get(docname, {}).get("exercise", {})
    return ".".join(map(str, numbers.get((exercise["ids"] or [""])[0], ())))


def restore_count(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give Sphinx its own numbers back, or it finds that each page with some has changed."""
    env.toc_fignumbers = getattr(env, "folded_counted", env.toc_fignumbers)
    return []


def number_by_page(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number each page's exercises from 1, after Sphinx has counted through all pages."""
    env.folded_counted = copy.deepcopy(env.toc_fignumbers)  # type: ignore[attr-defined]
    for page, figures in env.toc_fignumbers.items():
        letters = env.metadata[page].get("exercises", app.config.exercise_chapter)
        if letters:
            places = count(1)
            for label in figures.get("exercise", {}):
                own = OF_THE_CHAPTER.fullmatch(label)
                number: Any = own.groups() if own else (letters, next(places))
                figures["exercise"][label] = number
    return []


def visit_folded(self: HTML5Translator, node: folded) -> None:
    self.body.append(self.starttag(node, "details", CLASS="folded"))
    self.body.append(f"<summary>{self.encode(node['summary'])}</summary>\n")


def depart_folded(self: HTML5Translator, node: folded) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.setup_extension("sphinx_exercise")
    app.add_config_value("exercise_chapter", None, "env")
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.add_post_transform(FoldSolutions)
    app.add_post_transform(PlainExercises)
    app.connect("env-get-updated", restore_count, priority=100)
    app.connect("env-get-updated", number_by_page, priority=900)  # Sphinx counts at 500
