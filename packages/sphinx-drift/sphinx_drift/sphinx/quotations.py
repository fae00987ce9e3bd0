"""Numbers in sentences that a cell printed, wherever in the book."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxRole

from sphinx_drift.model import Kind, Outcome, Page, PageResult
from sphinx_drift.source.quote import quote
from sphinx_drift.sphinx.private_api import PendingGlueReference, code_outputs, named_texts
from sphinx_drift.sphinx.state import file_of, record, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_COPIED = (
    "a title, a term or a text with a name can't quote a number, because Sphinx copies "
    "its text before all pages have run: put the number into a sentence"
)

_NOT_YET = "?\u2060"  # an invisible mark, by which a copy is known


class quoted_number(nodes.inline):  # noqa: N801 - docutils names nodes so
    """A number that a cell printed, wherever in the book; filled in once all pages are read."""


class PrintedRole(SphinxRole):
    """Quotes a number that a cell printed: ``{printed}`weights[1] .0%```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place for the number."""
        node = quoted_number("", _NOT_YET, target=self.text, classes=["drift-quoted"])
        self.set_source_info(node)
        return [node], []


class KeepOutputs(SphinxTransform):
    """Leaves what cells printed as they did: not translated, its quotes and dashes untouched."""

    default_priority = 15  # Sphinx chooses at 10 what is translated, and translates at 20

    def apply(self, **_: Any) -> None:
        """Exempt outputs."""
        for output in code_outputs(self.document):
            for text in output.findall(nodes.TextElement):
                if not isinstance(text, nodes.caption):  # which its author has written
                    text["translatable"] = text["support_smartquotes"] = False


class KeepGluedText(SphinxTransform):
    """Leaves the quotes and dashes of what is glued into sentences as the cell printed them."""

    default_priority = 740  # Sphinx makes them typographical at 750

    def apply(self, **_: Any) -> None:
        """Exempt glued texts."""
        for text in _glued_in(self.document):
            text["support_smartquotes"] = False


class QuoteNumbers(SphinxPostTransform):
    """Puts the numbers where they are quoted."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Fill in each number of a page that is written."""
        numbers = [*self.document.findall(quoted_number)]
        named = named_outcomes(self.env) if numbers else {}
        for node in numbers:
            node[:] = [nodes.Text(quoted_text(named, node["target"]))]


def named_outcomes(env: BuildEnvironment) -> Mapping[str, Sequence[Outcome]]:
    """Return the outcomes that have a name, by it."""
    named: dict[str, list[Outcome]] = {}
    for page in state_of(env).results.values():
        for outcome in page.outcomes:
            if outcome.name:
                named.setdefault(outcome.name, []).append(outcome)
    return named


def quoted_text(named: Mapping[str, Sequence[Outcome]], target: str) -> str:
    """Return what a page shows for a quotation."""
    try:
        return quote(named, target)
    except ValueError:
        return "?"  # reported by check_quotations, once for all builders


def keep_quotations(app: Sphinx, doctree: nodes.document) -> None:
    """Remember what a page quotes, and where."""
    quoted = [(node["target"], node.line or 1) for node in doctree.findall(quoted_number)]
    if quoted:
        app.env.metadata[app.env.docname]["drift_quotations"] = quoted
    # What other pages glue is shown here.
    glued = [(g.refdoc, g.key, g.line or 1) for g in doctree.findall(PendingGlueReference)]
    if glued:
        app.env.metadata[app.env.docname]["drift_glued"] = glued
    kinds = (nodes.title, nodes.term, nodes.caption, nodes.rubric)
    if any(any(_glued_in(text)) for kind in kinds for text in doctree.findall(kind)):
        app.env.metadata[app.env.docname]["drift_glued_title"] = True
    for copied in doctree.findall(lambda node: isinstance(node, (nodes.title, nodes.term))):
        for number in copied.findall(quoted_number):
            record(app.env, Outcome(Kind.QUOTATION, number.line or 1, message=_COPIED))


def _glued_in(text: nodes.Element) -> Iterator[nodes.inline]:
    for node in text.findall(nodes.inline):
        if {"pasted-text", "output"} & {*node["classes"]}:
            yield node


def is_left_out(results: Mapping[str, PageResult]) -> bool:
    """Whether a book with text pages was not run at all: that fails, and is all there is to say."""
    pages = results.values()
    return all(page.left_out for page in pages) and not all(page.stored for page in pages)


def _undocumented(env: BuildEnvironment, docname: str) -> Iterator[Outcome]:
    """Yield what a page that must be complete shows of others that document it nowhere."""
    state, metadata = state_of(env), env.metadata[docname]
    page = state.settings.applied_to(Page(), Path(env.doc2path(docname)))
    if not (page.complete or metadata.get("drift_complete")):
        return
    for source, name, line in metadata.get("drift_glued", ()):
        result = state.results.get(source)
        cell = env.metadata[source].get("drift_glues", {}).get(name) if result else None
        kinds = {o.kind for o in result.outcomes if o.cell == cell} if result else set()
        if kinds <= {Kind.NO_EXPECTATION}:
            message = f"`{name}` is shown here, and no expectation of {source} documents it"
            yield Outcome(Kind.UNDOCUMENTED, line, message=message)


def check_quotations(app: Sphinx) -> dict[str, PageResult]:
    """Return what came of each page, with what it quotes that no cell printed."""
    env = app.env
    results, named = dict(state_of(env).results), named_outcomes(env)
    if is_left_out(results):
        return results
    copied = defaultdict[str, list[str]](list)
    for label, page_of, text in named_texts(env):
        if _NOT_YET in text:
            copied[page_of].append(label)
    for docname, metadata in env.metadata.items():
        wrong = [
            Outcome(Kind.QUOTATION, 1, message=f"the name {label} copies a text: {_COPIED}")
            for label in copied.get(docname, ())
        ]
        for target, line in metadata.get("drift_quotations", []):
            try:
                quote(named, target)
            except ValueError as error:
                wrong.append(Outcome(Kind.QUOTATION, line, message=str(error)))
        wrong += _undocumented(env, docname)
        if wrong:
            page = results.get(docname) or PageResult(file_of(env, docname))
            results[docname] = replace(page, outcomes=(*page.outcomes, *wrong))
    return results
