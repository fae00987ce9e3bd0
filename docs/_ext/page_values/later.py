"""Nodes that show something of other pages: filled when a page is written, anew when they change.

A node's `page` names the page that it shows; one without shows something of all.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

Fill = Callable[[Sphinx, str, Any], nodes.Node | Sequence[nodes.Node]]


def show_later(app: Sphinx, kind: type[nodes.Element], fill: Fill) -> None:
    """Replace nodes of a kind when a page is written, once all pages have been read.

    Args:
        app: The application.
        kind: The class of the nodes, which is registered here.
        fill: Takes the application, the name of the page and a node; returns the replacement.

    """
    noted = f"later_{kind.__name__}"

    class FillPlaces(SphinxPostTransform):
        default_priority = 5

        def run(self, **_: object) -> None:
            for node in list(self.document.findall(kind)):
                node.replace_self(fill(self.app, self.env.docname, node))

    def note(app: Sphinx, doctree: nodes.document) -> None:
        if pages := [node.get("page") for node in doctree.findall(kind)]:
            app.env.metadata[app.env.docname][noted] = pages

    def rewrite(app: Sphinx, env: BuildEnvironment) -> list[str]:
        pages = {name: fields.get(noted, ()) for name, fields in env.metadata.items()}
        return [
            name
            for name, shown in pages.items()
            if is_older(app, name, env.all_docs if None in shown else shown)
        ]

    app.add_node(kind)
    app.add_post_transform(FillPlaces)
    app.connect("doctree-read", note)
    app.connect("env-get-updated", rewrite)


def is_older(app: Sphinx, docname: str, shown: Iterable[str]) -> bool:
    """Tell whether a page was written before one of those that it shows was last read."""
    try:
        written = Path(app.builder.get_outfilename(docname)).stat().st_mtime_ns  # type: ignore[attr-defined]
    except (AttributeError, OSError):  # another builder, or nothing was written
        written = 0
    return any(app.env.all_docs.get(page, 0) * 1000 > written for page in shown)
