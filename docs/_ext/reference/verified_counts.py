"""`{verified-counts}`: how many outputs this build verified on each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from later import show_later
from reference.table import table
from sphinx_drift.api import count, results

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


class verified_counts(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The place of the table of this build's counts, known once all pages are read."""


class VerifiedCounts(SphinxDirective):
    """Show how many outputs this build verified on each page."""

    def run(self) -> list[nodes.Node]:
        return [verified_counts()]


def fill(app: Sphinx, docname: str, node: nodes.Element) -> nodes.table:
    """Return the table."""
    return table(["page", "cells", "outputs verified"], page_counts(app.env))


def page_counts(env: BuildEnvironment) -> list[tuple[str, int, int]]:
    """Return what was verified: a row for each page, and one for all."""
    pages = results(env)
    rows = [
        (env.titles[name].astext(), page.cells, count([page]).verified)
        for name, page in sorted(pages.items())
        if page.cells
    ]
    total = count(pages.values())
    return [*rows, ("all pages", sum(row[1] for row in rows), total.verified)]


def setup(app: Sphinx) -> None:
    app.add_directive("verified-counts", VerifiedCounts)
    show_later(app, verified_counts, fill)
