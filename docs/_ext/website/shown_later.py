"""Places on a page for what is known once all pages are read: filled when the page is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.transforms.post_transforms import SphinxPostTransform

from website.stale_pages import rewrite_where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from docutils import nodes
    from sphinx.application import Sphinx

    from website.stale_pages import Shown

    Fill = Callable[[Sphinx, str, nodes.Element], nodes.Node | Sequence[nodes.Node]]


def show_later(
    app: Sphinx, kind: type[nodes.Element], fill: Fill, shown: Shown | None = None
) -> None:
    """Have nodes of a kind replaced when a page is written.

    Args:
        app: The application.
        kind: The kind of nodes.
        fill: Takes the application, the name of the page and a node; returns what is shown there.
        shown: Returns what of other pages is shown; when it has changed, the pages with such nodes
            are written again.

    """

    class FillPlaces(SphinxPostTransform):
        default_priority = 5

        def run(self, **_: object) -> None:
            for node in list(self.document.findall(kind)):
                node.replace_self(fill(self.app, self.env.docname, node))

    app.add_node(kind)
    app.add_post_transform(FillPlaces)
    if shown is not None:
        rewrite_where(app, kind, shown)
