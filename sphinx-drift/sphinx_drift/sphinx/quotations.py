"""Numbers in sentences and titles that a cell printed, wherever in the book."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxRole

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.source.quote import read_quotation
from sphinx_drift.sphinx.builds import build_of, file_of, record
from sphinx_drift.sphinx.private_myst import PendingGlueReference
from sphinx_drift.sphinx.quoted import fill_copies, fill_nodes, quotation, quoted_number
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


class Printed(SphinxRole):
    """Quotes a number that a cell printed: ``{printed}`weights[1] .0%```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place for the number."""
        node = quotation(self.text)
        self.set_source_info(node)
        return [node], []


class QuoteNumbers(SphinxPostTransform):
    """Puts the numbers where they are quoted."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Fill in each number of a page that is written."""
        fill_nodes(self.document, lambda target: quoted_text(named_outcomes(self.env), target))


class QuoteNumbersInReferences(QuoteNumbers):
    """Puts them into the titles too that references to them show, once these are resolved."""

    default_priority = 990


def fill_titles(_app: Sphinx, env: BuildEnvironment) -> None:
    """Fill in the numbers in titles, which any page may show."""
    build_of(env).in_titles = fill_copies(env, partial(quoted_text, named_outcomes(env)))


def quoted_by_page(env: BuildEnvironment) -> dict[str, list[str]]:
    """Return the numbers that each page shows of others: what it quotes, and those in titles."""
    in_titles = [f"{target} {number}" for target, number in build_of(env).in_titles.items()]
    named = named_outcomes(env)
    runs = state_of(env).runs
    glued = sorted(f"{name} {run.shown}" for name, run in runs.items())
    quoted = {
        name: [quoted_text(named, target) for target, _ in metadata["drift_quotations"]]
        for name, metadata in env.metadata.items()
        if "drift_quotations" in metadata
    }
    return {
        name: [
            *quoted.get(name, ()),
            *in_titles,
            *(glued if env.metadata.get(name, {}).get("drift_glued") else ()),
        ]
        for name in env.found_docs
    }


def named_outcomes(env: BuildEnvironment) -> Mapping[str, Sequence[Outcome]]:
    """Return the outcomes that have a name, by it."""
    named: dict[str, list[Outcome]] = {}
    for page in state_of(env).results.values():
        for outcome in page.outcomes:
            if outcome.name:
                named.setdefault(outcome.name, []).append(outcome)
    return named


def quoted_text(named: Mapping[str, Sequence[Outcome]], target: str) -> str:
    """Return what stands for a quotation on the page."""
    try:
        return quote(named, target)
    except ValueError:
        return "?"  # said by check_quotations, once for all builders


def quote(named: Mapping[str, Sequence[Outcome]], target: str) -> str:
    """Return a number that a cell of the book printed.

    Raises:
        ValueError: If there is none, or several outputs have the name.

    """
    quotation = read_quotation(target)
    outcomes = named.get(quotation.name, ())
    if len(outcomes) != 1:
        raise ValueError(f"{len(outcomes) or 'no'} expectations are named {quotation.name}")
    if outcomes[0].kind is Kind.UNCHECKED:
        raise ValueError(
            f"{quotation.name} is unchecked, so nobody knows that its numbers are right"
        )
    return quotation.of(outcomes[0].executed)


def keep_quotations(app: Sphinx, doctree: nodes.document) -> None:
    """Remember what a page quotes, and where."""
    quoted = [(node["target"], node.line or 1) for node in doctree.findall(quoted_number)]
    if quoted:
        app.env.metadata[app.env.docname]["drift_quotations"] = quoted
    if any(doctree.findall(PendingGlueReference)):  # what other pages glue is shown here
        app.env.metadata[app.env.docname]["drift_glued"] = True
    # What {term} refers to is the term's text, which may not change with a number.
    message = "a term of a glossary can't quote a number: put the number into its definition"
    for glossary in doctree.findall(addnodes.glossary):
        for term in glossary.findall(nodes.term):
            if any(term.findall(quoted_number)):
                record(app.env, Outcome(Kind.QUOTATION, glossary.line or 1, message=message))


def check_quotations(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page, with what it quotes that no cell printed."""
    results, named = dict(state_of(env).results), named_outcomes(env)
    for docname, metadata in env.metadata.items():
        wrong: list[Outcome] = []
        for target, line in metadata.get("drift_quotations", []):
            try:
                quote(named, target)
            except ValueError as error:
                wrong.append(Outcome(Kind.QUOTATION, line, message=str(error)))
        if wrong:
            page = results.get(docname) or PageResult(file_of(env, docname))
            results[docname] = replace(page, outcomes=(*page.outcomes, *wrong))
    return results
