"""The small mark below an output that says whether it was verified, how, on what and when."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

from sphinx_drift.compare.compare import Policy
from sphinx_drift.model import Kind
from sphinx_drift.report.summary import describe_environment
from sphinx_drift.sphinx.private_api import execution_data

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.model import Outcome, PageResult


class drift_mark(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The small mark below an output that says whether it was verified."""


# What the policies ask for, to a reader who asks what "verified" means.
_POLICY_SENTENCES = {
    Policy.EXACT: "Each word and each digit that was compared is the documented one.",
    Policy.PORTABLE: "Each number that was compared is the documented one, up to rounding.",
}


STYLE = Path(__file__).with_name("static") / "drift-mark.css"


def add_static_path(_: Sphinx, config: Config) -> None:
    """Have the style of marks copied beside pages, before Sphinx compares what conf.py says."""
    config.html_static_path = [*config.html_static_path, str(STYLE.parent)]


def add_style(app: Sphinx) -> None:
    """Give pages the style of marks, before that of a theme; an e-book has no marks."""
    if app.builder.name == "epub":
        app.config.html_static_path.remove(str(STYLE.parent))
    else:
        app.add_css_file(STYLE.name, priority=100)


def mark_text(outcome: Outcome, label: str) -> str:
    """Say what came of an output, as short as can be."""
    if outcome.kind is Kind.NOT_COMPARED:
        return f"not compared here: {outcome.message}"
    if outcome.kind is Kind.UNCHECKED:
        return f"{label}: {outcome.message}"
    waived = len(outcome.verdict.waived)
    return f"{label}, {waived} waived" if waived else label


def mark_details(outcome: Outcome, page: PageResult) -> list[str]:
    """Say how it was compared, what was forgiven, and on what it ran."""
    verdict = outcome.verdict
    if outcome.kind in (Kind.UNCHECKED, Kind.NOT_COMPARED):
        return [describe_environment([page])]
    waived = [f"{w.documented} → {w.executed}: {w.reason}" for w in verdict.waived]
    is_verified = outcome.kind is Kind.VERIFIED
    sentences = [_POLICY_SENTENCES[page.policy]] if is_verified and not waived else []
    if outcome.reference_only and is_verified:
        sentences = [f"It holds on the reference environment alone: {outcome.reference_only}."]
    places = len(verdict.accepted)
    rounded = [f"Up to rounding in {places} place{'s' * (places > 1)}."] if places else []
    if page.from_cache:
        sentences.append("An earlier run printed it, and the cache has kept it.")
    return [*sentences, *waived, *rounded, describe_environment([page])]


def visit_mark(translator: Any, node: drift_mark) -> None:
    """Write the mark: what came of the output, and behind it how, on what and when."""
    words = [*node["details"], *_day(translator.builder.env, node["docname"])]
    details = "".join(f"<span>{translator.encode(word)}</span> " for word in words)
    translator.body.append(
        f'<div class="drift-mark drift-{node["label"].replace(" ", "-")}"><details>'
        f"<summary>{translator.encode(node['summary'])}</summary><p>{details}</p></details></div>\n"
    )
    raise nodes.SkipNode


def _day(env: BuildEnvironment, docname: str) -> list[str]:
    """Return the day on which a page was run."""
    data = execution_data(env, docname)
    return [f"Run on {datetime.fromtimestamp(data['mtime'], UTC):%Y-%m-%d}."] if data else []


def drop_marks(app: Sphinx, doctree: nodes.document, _: str) -> None:
    """Leave the marks out where readers can't open them: no other writer has to know them."""
    if app.builder.format != "html":
        for mark in [*doctree.findall(drift_mark)]:
            mark.parent.remove(mark)
