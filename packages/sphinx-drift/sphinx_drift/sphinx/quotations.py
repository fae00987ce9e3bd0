"""Numbers in sentences that a cell printed, wherever in the book."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxRole

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.source.quote import quote, read_quotation
from sphinx_drift.sphinx.positions import position_of_include, positions
from sphinx_drift.sphinx.private_api import PendingGlueReference
from sphinx_drift.sphinx.state import file_of, is_complete, record, state_of

_COPIED = (
    "a title, a glossary's term, a caption or a rubric can't quote a number, because Sphinx copies "
    "its text before all pages have run: put the number into a sentence"
)


class quoted_number(nodes.inline):  # noqa: N801 - docutils names nodes so
    """A number that a cell printed, wherever in the book; filled in once all pages are read."""


class PrintedRole(SphinxRole):
    """Quotes a number that a cell printed: ``{printed}`weights[1] .0%```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a node that is filled in later."""
        node = quoted_number("", "?", target=self.text, classes=["drift-quoted"])
        self.set_source_info(node)
        return [node], []


class QuoteNumbers(SphinxPostTransform):
    """Puts the numbers where they are quoted."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Fill in each number of a page that is written."""
        results = state_of(self.env).results.values()
        for node in self.document.findall(quoted_number):
            with suppress(ValueError):  # reported by check_quotations, once for all builders
                node[:] = [nodes.Text(quote(results, node["target"]))]


def keep_quotations(app: Sphinx, doctree: nodes.document) -> None:
    """Remember what a page shows of others; refuse what nothing would check or update.

    MyST-NB keeps what other pages glue in files that no expectation is compared with.
    """
    env = app.env
    nodes_quoting = [*doctree.findall(quoted_number)]
    found = positions(env, [(f"{{printed}}`{n['target']}`", n.line) for n in nodes_quoting])
    page = Path(env.doc2path(env.docname))
    quoted = [
        (n["target"], at if source == page else position_of_include(env, source, n.line))
        for n, at in zip(nodes_quoting, found, strict=True)
        for source in [Path(n.source or page)]
    ]
    glued = [*doctree.findall(PendingGlueReference)]
    env.metadata[env.docname] |= {"drift_quotations": quoted, "drift_glued": bool(glued)}
    found = positions(env, [(f"}}`{node.key}`", node.line) for node in glued])
    for node, at in zip(glued, found, strict=True) if is_complete(env) else ():
        message = (
            f"`{node.key}` is glued on {node.refdoc}: give its expectation there a `:name:`, and "
            "quote that here by `{printed}`"
        )
        record(env, Outcome(Kind.QUOTATION, message=message, **at))
    copied = {
        id(number) for copy in doctree.findall(_is_copied) for number in copy.findall(quoted_number)
    }
    for node, (_, at) in zip(nodes_quoting, quoted, strict=True):
        if id(node) in copied:
            record(env, Outcome(Kind.QUOTATION, message=_COPIED, **at))


def _is_copied(node: nodes.Node) -> bool:
    """Whether Sphinx copies the text of a node; of terms, it copies a glossary's."""
    if isinstance(node, nodes.term):
        return isinstance(node.parent.parent.parent, addnodes.glossary)
    return isinstance(node, (nodes.title, nodes.caption, nodes.rubric))


def names_quoted(metadata: Mapping[str, Any]) -> set[str]:
    """Return the names of the outputs that a page quotes."""
    names = set()
    for target, _ in metadata.get("drift_quotations", ()):
        with suppress(ValueError):  # reported by check_quotations
            names.add(read_quotation(target).name)
    return names


def check_quotations(app: Sphinx) -> dict[str, PageResult]:
    """Return the result of each page, with what it quotes that no cell printed."""
    env = app.env
    results = dict(state_of(env).results)
    known = results.values()
    if all(r.left_out for r in known) and not all(r.is_optional for r in known):
        return results  # nothing was run: that fails, and is all there is to say
    for docname, metadata in env.metadata.items():
        wrong = []
        for target, at in metadata.get("drift_quotations", ()):
            try:
                quote(known, target)
            except ValueError as error:
                wrong.append(Outcome(Kind.QUOTATION, message=str(error), **at))
        if wrong:
            result = results.get(docname) or PageResult(file_of(env, docname))
            results[docname] = replace(result, outcomes=(*result.outcomes, *wrong))
    return results
