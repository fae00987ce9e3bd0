"""What an author writes: expectations, and what is refused because nothing would check it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from myst_nb.core.read import UnexpectedCellDirective
from myst_parser.config.main import TopmatterReadError, read_topmatter
from sphinx.util.docutils import SphinxDirective

from sphinx_drift.model import Kind, Outcome, Page
from sphinx_drift.settings import table_in
from sphinx_drift.source.markdown import NEVER_CHECKED, NEVER_RUN
from sphinx_drift.sphinx.client import IS_NOTEBOOK
from sphinx_drift.sphinx.marks import drift_mark, mark_details, mark_text
from sphinx_drift.sphinx.private_api import code_cells, page_data
from sphinx_drift.sphinx.state import record, state_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ExpectedOutput(SphinxDirective):
    """What the cell before it must print: shown as a mark, checked by the page's client."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put the mark of this expectation's outcome below the cell's output."""
        unclaimed = self.state.document.attributes.get("drift_unclaimed", {})
        at_top = _at_top_level(self) and _of_the_page(self)
        if not at_top or self.lineno not in unclaimed:
            if not self.state.document.attributes.get("drift_failed"):
                text = "\n".join(self.content).strip()
                _record_unseen(self, NEVER_CHECKED, text)
            return []
        outcome = unclaimed.pop(self.lineno)
        if outcome is None:
            return []
        page = state_of(self.env).results[self.env.docname]
        label = outcome.kind.label
        summary, details = mark_text(outcome, label), mark_details(outcome, page)
        return [
            drift_mark("", label=label, summary=summary, details=details, docname=self.env.docname)
        ]


class NestedCell(UnexpectedCellDirective, SphinxDirective):  # type: ignore[misc]  # untyped
    """A code cell where none is run: inside a directive, or on a page that is no notebook."""

    def run(self) -> list[nodes.Node]:
        """Record that it wasn't run if the page must be complete; else MyST-NB warns of it."""
        file = Path(self.env.doc2path(self.env.docname))
        try:
            own = table_in(read_topmatter(file.read_text("utf-8-sig")) or {}, "drift")
        except TopmatterReadError:  # MyST's parser says it
            own = {}
        page = Page(complete=own.get("complete") is True)
        if not state_of(self.env).settings.applied_to(page, file).complete:
            return [*super().run()]
        _record_unseen(self, NEVER_RUN)
        return []


def find_included(app: Sphinx, doctree: nodes.document) -> None:
    """Record the cells of files that a page includes by a parser of notebooks: none is checked."""
    page = Path(app.env.doc2path(app.env.docname))
    for cell in code_cells(doctree):
        file = Path(cell.source or page)
        is_page = file == page or (file.exists() and file.samefile(page))
        if not is_page:
            message = f"a code cell is never checked: it is in {file.name}, which the page includes"
            record(app.env, Outcome(Kind.NESTED, 1, message=message))


def _record_unseen(directive: SphinxDirective, message: str, documented: str = "") -> None:
    """Record that something is never looked at, or once that nothing on its page is."""
    env = directive.env
    if IS_NOTEBOOK in page_data(env):  # `eval-rst` reads what it holds into another document
        record(env, _nested(directive, message, documented))
        return
    missing = (
        "its cells are never run: that takes a page in Markdown, "
        "with `file_format: mystnb` in its front matter"
    )
    page = state_of(env).results.get(env.docname)
    if page is None or all(outcome.message != missing for outcome in page.outcomes):
        record(env, Outcome(Kind.UNREADABLE, 1, message=missing))


def _nested(directive: SphinxDirective, message: str, documented: str) -> Outcome:
    """Say that something is never looked at, and in which file if the page includes it."""
    if not _of_the_page(directive):
        source = Path(directive.state.document.reporter.source or "")
        message = f"{message}: line {directive.lineno} of {source.name}, which the page includes"
    return Outcome(Kind.NESTED, directive.lineno, message=message, documented=documented)


def _of_the_page(directive: SphinxDirective) -> bool:
    """Whether a directive is in the page itself, not in a file that it includes."""
    source = Path(directive.state.document.reporter.source or "")
    return source == Path(directive.env.doc2path(directive.env.docname))


def _at_top_level(directive: SphinxDirective) -> bool:
    """Whether a directive is in nothing but sections."""
    node: nodes.Node | None = directive.state_machine.node
    while isinstance(node, nodes.section):
        node = node.parent
    return isinstance(node, nodes.document)
