"""What an author writes: expectations, and what is refused because nothing would check it."""

from dataclasses import replace
from pathlib import Path

from docutils import nodes
from myst_nb.core.read import UnexpectedCellDirective
from sphinx.util.docutils import SphinxDirective

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome
from sphinx_drift.source.markdown import CONVERTED, IN_NOTEBOOK, NEVER_CHECKED, NEVER_RUN, Fence
from sphinx_drift.source.metadata import read_front
from sphinx_drift.source.read_source import is_notebook
from sphinx_drift.sphinx.client import Claim
from sphinx_drift.sphinx.positions import position, position_of_include
from sphinx_drift.sphinx.state import current_page_state, is_complete, record

_NO_NOTEBOOK = (
    "its cells are never run: that takes a page in Markdown, "
    "with `file_format: mystnb` in its front matter"
)


class ExpectedOutput(SphinxDirective):
    """What the cell before it must print: shown as a mark, checked by the page's client."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put the mark of this expectation's outcome below the cell's output."""
        claims: list[Claim] | None = self.state.document.attributes.get("drift_claims", [])
        if claims is None:  # the check itself failed, which is reported
            return []
        content = "\n".join(self.content).strip()
        claim = next((claim for claim in claims if _same(claim.content, content)), None)
        if claim is None or not (_at_top_level(self) and _of_the_page(self)):
            _record_unseen(self, content)
            return []
        claims.remove(claim)
        return [claim.mark] if claim.mark else []


class NestedCell(UnexpectedCellDirective, SphinxDirective):  # type: ignore[misc]  # untyped
    """A code cell where none is run: inside a directive, or on a page that is no notebook."""

    def run(self) -> list[nodes.Node]:
        """Record that it wasn't run if the page must be complete; else MyST-NB warns of it."""
        if not is_complete(self.env):
            return [*super().run()]
        _record_unseen(self)
        return []


def _same(source: str, content: str) -> bool:
    """Whether a text of the source is what docutils has made of it."""
    return [row.rstrip() for row in source.splitlines()] == [
        row.rstrip() for row in content.splitlines()
    ]


def _record_unseen(directive: SphinxDirective, documented: str | None = None) -> None:
    """Record that something is never looked at, or once that nothing on its page is."""
    env, page = directive.env, Path(directive.env.doc2path(directive.env.docname))
    message = NEVER_RUN if documented is None else NEVER_CHECKED
    if not _of_the_page(directive):
        source = Path(directive.state.document.reporter.source or "")
        found = position_of_include(env, source, directive.lineno)
    elif "drift_complete" in env.metadata[env.docname]:  # it is a notebook, whatever its format
        fence = _found(directive, is_expectation=documented is not None)
        if fence is not None:
            record(env, replace(fence.unread, documented=documented or ""))
            return
        found = position(env, directive.lineno)
        if documented is not None and is_notebook(page):
            message += f"\n{IN_NOTEBOOK}"
        elif page.name.endswith(tuple(env.config.nb_custom_formats)):
            message += f"\n{CONVERTED}"
    else:
        outcome = Outcome(Kind.UNREADABLE, 1, message=_why_no_notebook(page))
        result = current_page_state(env).result
        if result is None or outcome not in result.outcomes:
            record(env, outcome)
        return
    record(env, Outcome(Kind.NESTED, message=message, documented=documented or "", **found))


def _why_no_notebook(page: Path) -> str:
    """Say why MyST-NB takes a page for one that has no cells to run."""
    try:
        if page.suffix == ".md":
            read_front(page.read_text("utf-8-sig"))
    except ValueError as error:
        return f"its cells are never run: {error}"
    return _NO_NOTEBOOK


def _found(directive: SphinxDirective, *, is_expectation: bool) -> Fence | None:
    """Return what our own reading of the page has found that a directive is; None if nothing."""
    nested: list[Fence] = directive.state.document.attributes.get("drift_nested", [])
    content = "\n".join([*directive.arguments, *directive.content])
    for fence in nested:
        text = f"{fence.argument}\n{fence.content}"
        if fence.is_expectation is is_expectation and _same(text.strip(), content.strip()):
            nested.remove(fence)
            return fence
    return None


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
