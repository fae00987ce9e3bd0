"""A custom element: what a reader without scripts sees, and the files that make it answer.

Its script and style sheet lie beside this module, and are loaded by the pages that have it.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

__all__ = ["HERE", "begin", "custom_element", "end", "static_files"]

HERE = Path(__file__).parent
FILES = "element_files"


class custom_element(nodes.container):  # noqa: N801 - docutils names nodes so
    """An element with a `tag`, `data` that its script reads, and the `files` that it needs."""


def begin(self: HTML5Translator, node: custom_element) -> None:
    if self.builder.name == "epub":  # no scripts there
        return
    data = html.escape(json.dumps(node["data"], separators=(",", ":"), ensure_ascii=False))
    name = "".join(f' id="{each}"' for each in node["ids"])
    self.body.append(f'<{node["tag"]}{name} data-given="{data}">\n')


def end(self: HTML5Translator, node: custom_element) -> None:
    if self.builder.name != "epub":
        self.body.append(f"</{node['tag']}>\n")


def note_files(app: Sphinx, doctree: nodes.document) -> None:
    """Remember which files a page needs."""
    files = [name for node in doctree.findall(custom_element) for name in node["files"]]
    if files:
        app.env.metadata[app.env.docname][FILES] = list(dict.fromkeys(files))
    for name in files:
        app.env.note_dependency(str(HERE / name))


def static_files(app: Sphinx, folder: Path) -> None:
    """Let Sphinx copy the scripts and style sheets of a folder, but not into an e-book."""
    if app.builder.name != "epub":
        files = (*folder.glob("*.js"), *folder.glob("*.css"))
        app.config.html_static_path += map(str, files)


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
    app.add_node(custom_element, html=(begin, end))
    app.connect("doctree-read", note_files)
    app.connect("builder-inited", lambda app: static_files(app, HERE))
    app.connect("html-page-context", load_files)
