"""Nodes that show something of other pages: filled when a page is written, anew in each build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.transforms.post_transforms import SphinxPostTransform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    Fill = Callable[[Sphinx, str, nodes.Element], nodes.Node | Sequence[nodes.Node]]


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
        if next(iter(doctree.findall(kind)), None) is not None:
            app.env.metadata[app.env.docname][noted] = True

    def rewrite(app: Sphinx, env: BuildEnvironment) -> list[str]:
        return [name for name, fields in env.metadata.items() if noted in fields]

    app.add_node(kind)
    app.add_post_transform(FillPlaces)
    app.connect("doctree-read", note)
    app.connect("env-get-updated", rewrite)
