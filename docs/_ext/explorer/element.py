"""A custom element: what a reader without scripts sees, and the files that make it answer.

Its script and style sheet lie beside this module, and are loaded by the pages that have it.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

__all__ = ["HERE", "begin", "custom_element", "end", "files_of", "text_of"]

HERE = Path(__file__).parent
# Comments that have lines of their own, and indentation; they are for readers of the source.
SPARE = re.compile(r"^ *(//[^\n]*|/\*((?!\*/).)*\*/)\n|^ +", re.DOTALL | re.MULTILINE)
FILES, LATER = "element_files", "element_files_later"


class custom_element(nodes.container):  # noqa: N801 - docutils names nodes so
    """An element with a `tag`, `data` that its script reads, and the `files` that it needs.

    What its script loads when it is wanted is `later`.
    """


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
    for key, part in ((FILES, "files"), (LATER, "later")):
        files: list[str] = []
        for node in doctree.findall(custom_element):
            files += node.get(part, [])
        if files:
            app.env.metadata[app.env.docname][key] = list(dict.fromkeys(files))
        for name in files:
            app.env.note_dependency(str(HERE / name))


def files_of(env: BuildEnvironment) -> dict[str, str]:
    """Return the text of each file that a page needs."""
    pages = env.metadata.values()
    names = {name for page in pages for key in (FILES, LATER) for name in page.get(key, ())}
    return {name: text_of(name) for name in sorted(names)}


def text_of(name: str) -> str:
    """Return a file as pages load it: without comments and indentation."""
    file = HERE / name
    return SPARE.sub("", file.read_text("utf-8"))


def write_files(app: Sphinx, env: BuildEnvironment) -> None:
    """Write the files where pages find them, before Sphinx makes their addresses."""
    if app.builder.format != "html" or app.builder.name == "epub":
        return
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files_of(env).items():
        (folder / name).write_text(text, "utf-8")


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
    app.connect("env-updated", write_files)  # also where no page has changed
    app.connect("html-page-context", load_files)
