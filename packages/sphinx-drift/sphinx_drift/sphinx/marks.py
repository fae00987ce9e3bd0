"""The mark below an output that says whether it was verified, how, on what and when."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from sphinx_drift.compare.compare import Policy
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.report.excerpts import many
from sphinx_drift.report.summary import describe_environment


class drift_mark(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """A mark below an output, which says whether it was verified."""


# For a reader who asks what "verified" means.
_POLICY_SENTENCES = {
    Policy.EXACT: "Each word and each digit that was compared is the documented one.",
    Policy.PORTABLE: "Each number that was compared is the documented one, up to rounding.",
}


STYLE = Path(__file__).with_name("static") / "drift-mark.css"


def add_static_path(_: Sphinx, config: Config) -> None:
    """Have the style of marks copied beside pages, before Sphinx compares what conf.py says."""
    config.html_static_path = [*config.html_static_path, str(STYLE.parent)]


def _has_marks(app: Sphinx) -> bool:
    """Whether this build's readers can open marks: on web pages, and not in an e-book."""
    return app.builder.format == "html" and app.builder.name != "epub"


def add_marks(app: Sphinx) -> None:
    """Have marks written, and give pages their style, before that of a theme."""
    if not _has_marks(app):
        return
    app.add_css_file(STYLE.name, priority=100)
    if (name := app.builder.name) in app.registry.translation_handlers:
        # Others have nodes for this very builder, and so Sphinx looks for ours there alone.
        app.add_node(drift_mark, override=True, **{name: (visit_mark, None)})


def mark_of(outcome: Outcome, result: PageResult, ran_at: float) -> drift_mark:
    """Return the mark of an output: its outcome, as short as can be, and details to unfold."""
    day = f"Run on {datetime.fromtimestamp(ran_at, UTC):%Y-%m-%d}."
    details = [*_details(outcome, result), day]
    return drift_mark(
        "", label=outcome.kind.label, summary=_summary(outcome, result), details=details
    )


def _summary(outcome: Outcome, result: PageResult) -> str:
    """Say what came of an output."""
    label, waived = outcome.kind.label, len(outcome.verdict.waived)
    if outcome.kind is Kind.NOT_COMPARED:
        return f"not compared here: {outcome.message}"
    if outcome.kind is Kind.UNCHECKED:
        return f"{label}: {outcome.message}"
    text = f"{label}, {waived} waived" if waived else label
    is_verified = outcome.kind is Kind.VERIFIED
    return f"{text}, from the cache" if result.from_cache and is_verified else text


def _details(outcome: Outcome, result: PageResult) -> Iterator[str]:
    """Say how an output was compared, what was forgiven, and on what it ran."""
    verdict = outcome.verdict
    if outcome.kind is Kind.VERIFIED:
        if outcome.reference_only:
            yield f"It holds on the reference environment alone: {outcome.reference_only}."
        elif not verdict.waived:
            yield _POLICY_SENTENCES[result.policy]
        if result.from_cache:
            yield "An earlier run printed it, and the cache has kept it."
    for waiver in verdict.waived:
        yield f"{waiver.documented} → {waiver.executed}: {waiver.reason}"
    if verdict.accepted:
        yield f"Up to rounding in {many(len(verdict.accepted), 'number')}."
    yield describe_environment([result])


def visit_mark(translator: Any, node: drift_mark) -> None:
    """Write the mark: what came of the output, and behind it how, on what and when."""
    details = "".join(f"<span>{translator.encode(word)}</span> " for word in node["details"])
    translator.body.append(
        f'<div class="drift-mark drift-{node["label"].replace(" ", "-")}"><details>'
        f"<summary>{translator.encode(node['summary'])}</summary><p>{details}</p></details></div>\n"
    )
    raise nodes.SkipNode


def drop_marks(app: Sphinx, doctree: nodes.document, _: str) -> None:
    """Leave the marks out elsewhere: no other writer has to know them."""
    if not _has_marks(app):
        for mark in [*doctree.findall(drift_mark)]:
            mark.parent.remove(mark)
