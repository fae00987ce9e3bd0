"""`{explorer}`: the element that computes in the reader's browser, and the files that it needs."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from website.stale_pages import rewrite_where
from website.theme import bundle

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "selfattn" / "examples.py"
SCRIPTS = tuple(HERE / f"{name}.js" for name in ("arithmetic", "state", "tasks", "explorer"))
SHEET = HERE / "explorer.css"
TENSORS = (
    *("inputs", "W_query", "W_key", "W_value", "queries", "keys", "values"),
    *("attn_scores", "masked", "attn_weights", "context_vecs"),
)
LATE = "The explorer hasn't come yet. If it doesn't come, reload the page."


class explorer(nodes.container):  # noqa: N801 - docutils names nodes in lower case
    """An explorer; its children are what is shown where no script runs."""


class Explorer(SphinxDirective):
    """Place an explorer: in a fold below a figure, or, with content, open on a page of its own."""

    has_content = True
    option_spec = {
        "fold": directives.unchanged_required,
        "show": directives.unchanged_required,
        "start": directives.unchanged_required,
        "tasks": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        if ("fold" in self.options) == bool(self.content):
            raise self.error("an explorer needs either :fold:, a title, or content for no script")
        shown = self.options.get("show", " ".join(TENSORS)).split()
        if strays := [name for name in shown if name not in TENSORS]:
            raise self.error(f":show: knows no {', '.join(strays)}; it knows {', '.join(TENSORS)}")
        self.env.note_dependency(str(EXAMPLES))
        node = explorer(
            ids=[f"try-{self.env.new_serialno('explorer') + 1}"],
            fold=self.options.get("fold", ""),
            show=" ".join(shown),
            start=self.options.get("start", ""),
            tasks="tasks" in self.options,
        )
        node += self.parse_content_to_nodes()
        return [node]


@functools.cache
def book() -> str:
    """Return the words and their embeddings, as the script reads them."""
    example = importlib.import_module("selfattn.examples").six_tokens()  # it loads torch
    inputs = [[round(number, 4) for number in row] for row in example.inputs.tolist()]
    return json.dumps({"words": example.words, "inputs": inputs}, separators=(",", ":"))


def visit(self: HTML5Translator, node: explorer) -> None:
    if self.builder.name == "epub":
        if node["fold"]:
            raise nodes.SkipNode
        return
    data = {"show": node["show"], "start": node["start"], "book": book()}
    attributes = "".join(f' data-{name}="{escape(text)}"' for name, text in data.items())
    tasks = " data-tasks" if node["tasks"] else ""
    self.body.append(f'<attention-explorer id="{node["ids"][0]}"{attributes}{tasks}>')
    if node["fold"]:
        self.body.append(
            f'<details class="folded explorer-fold"><summary>{escape(node["fold"])}</summary>'
            f'<p class="explorer-before">{escape(LATE)}</p></details>'
        )
    else:
        self.body.append('<div class="explorer-before">')


def depart(self: HTML5Translator, node: explorer) -> None:
    if self.builder.name != "epub":
        self.body.append("</attention-explorer>\n" if node["fold"] else "</div></attention-explorer>\n")


def write_files(app: Sphinx) -> None:
    """Write the scripts and the style sheet where Sphinx looks for static files."""
    if app.builder.format != "html" or app.builder.name == "epub":
        return
    folder = app.outdir / "_static" / "explorer"
    folder.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        (folder / script.name).write_text(script.read_text("utf-8"), "utf-8")
    (folder / SHEET.name).write_text(bundle([SHEET]), "utf-8")


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Load the files on pages that have an explorer, and on no others."""
    if doctree is None or next(doctree.findall(explorer), None) is None:
        return
    for script in SCRIPTS:
        app.add_js_file(f"explorer/{script.name}", loading_method="defer")
    app.add_css_file(f"explorer/{SHEET.name}")


def files(env: object) -> str:
    """Return what the pages load, which their addresses of it depend on."""
    text = b"".join(path.read_bytes() for path in (*SCRIPTS, SHEET))
    return hashlib.sha256(text).hexdigest()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(explorer, html=(visit, depart))
    app.add_directive("explorer", Explorer)
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", add_files)
    rewrite_where(app, cast("type[nodes.Node]", explorer), files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
