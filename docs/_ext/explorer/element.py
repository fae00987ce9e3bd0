"""A custom element: what a reader without scripts sees, and the files that make it answer.

Its script and style sheet lie beside this module, and are loaded by the pages that have it.
"""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

from figures.values import Values, page_values
from page_values.later import show_later

HERE = Path(__file__).parent
FILES = "element_files"


class explorer(nodes.container):  # noqa: N801 - docutils names nodes so
    """An element with a `tag`, and `data` that its script reads.

    It is in a fold named `fold`; without, open, and its children are shown before it.
    The numbers among its data are those of a `page`.
    """

    def numbers(self, values: Values) -> dict[str, Any]:
        """Return the words, their embeddings as they are written, and the three matrices."""
        inputs = [[round(number, 4) for number in row] for row in values["inputs"]]
        matrices = {name: values[name] for name in ("W_query", "W_key", "W_value")}
        return {"words": values["words"], "inputs": inputs, **matrices}


def visit(self: HTML5Translator, node: explorer) -> None:
    if self.builder.name == "epub":  # no scripts there
        return
    data = html.escape(json.dumps(node["data"], separators=(",", ":"), ensure_ascii=False))
    name = "".join(f' id="{each}"' for each in node["ids"])
    self.body.append(f'<{node["tag"]}{name} data-given="{data}">\n')
    if fold := node["fold"]:
        summary = f"<summary>{html.escape(fold)}</summary>"
        self.body.append(f'<details class="folded explorer-fold">{summary}</details>')
    else:
        self.body.append('<div class="explorer-before">')


def depart(self: HTML5Translator, node: explorer) -> None:
    if (base := self.config.html_baseurl) and not node["fold"]:  # for paper and e-books
        address = html.escape(f"{base}{self.builder.current_docname}.html")
        self.body.append(f'<p>Its numbers can be changed at <a href="{address}">{address}</a>.</p>')
    if self.builder.name != "epub":
        self.body.append(f"{'' if node['fold'] else '</div>'}</{node['tag']}>\n")


def fill(app: Sphinx, docname: str, node: explorer) -> nodes.Node:
    """Give an element its numbers; if their page wasn't run, show what it has without scripts."""
    values = page_values(app.env, node["page"])
    if not values:
        return nodes.container("", *node.children)
    node["data"] |= node.numbers(values)
    return node


def need_files(env: BuildEnvironment, files: Sequence[str], folder: Path = HERE) -> None:
    """Remember that the page that is being read needs files."""
    needed = env.metadata[env.docname].setdefault(FILES, [])
    needed += [name for name in files if name not in needed]
    for name in files:
        env.note_dependency(str(folder / name))


def static_files(app: Sphinx, folder: Path) -> None:
    """Let Sphinx copy the scripts and style sheets of a folder, but not into an e-book.

    They are named before Sphinx compares the configuration with that of the build before.
    """
    files = sorted(map(str, (*folder.glob("*.js"), *folder.glob("*.css"))))

    def name(_: Sphinx, config: Config) -> None:
        config.html_static_path = [*config.html_static_path, *files]

    def leave_out(app: Sphinx) -> None:
        if app.builder.name == "epub":
            kept = [path for path in app.config.html_static_path if path not in files]
            app.config.html_static_path = kept

    app.connect("config-inited", name)
    app.connect("builder-inited", leave_out)


def load_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give a page the files that it needs, and no other page."""
    if app.builder.name == "epub":
        return
    for name in app.env.metadata.get(pagename, {}).get(FILES, ()):
        if name.endswith(".css"):
            app.add_css_file(name)
        else:
            app.add_js_file(name, loading_method="defer")


def setup(app: Sphinx) -> None:
    show_later(app, explorer, fill)
    app.add_node(explorer, override=True, html=(visit, depart))
    static_files(app, HERE)
    app.connect("html-page-context", load_files)
