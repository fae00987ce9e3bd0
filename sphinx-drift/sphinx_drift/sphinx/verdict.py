"""Tells at the end of a build what came of every page and fails it; one builder only does that."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx import version_info
from sphinx.builders.dummy import DummyBuilder
from sphinx.util import logging

from sphinx_drift.report.formats import exit_status, to_github, to_json
from sphinx_drift.report.text import (
    closing_line,
    entries,
    render,
    unused_filters,
    use_color,
)
from sphinx_drift.run.choice import chosen
from sphinx_drift.sphinx.private_api import colors_output, fail_build
from sphinx_drift.sphinx.quotations import check_quotations
from sphinx_drift.sphinx.ratchet import check_ratchet
from sphinx_drift.sphinx.settings import NOTHING_EXECUTED
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.compare.outcomes import PageResult

_LOGGER = logging.getLogger(__name__)


class DriftBuilder(DummyBuilder):
    """Runs and checks every page and writes nothing but the report: ``sphinx-build -b drift``."""

    name = "drift"
    epilog = "The report is in %(outdir)s: drift.txt and drift.json."

    def write_documents(self, docnames: AbstractSet[str]) -> None:
        """Write nothing."""

    if version_info < (8, 1):  # it has no `write_documents`, and resolves each page to write it

        def write(self, *_: object, **__: object) -> None:  # type: ignore[misc]  # final by now
            """Write nothing."""


def all_results_of(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page, and of what pages quote, in the order of their names."""
    state, results = state_of(env), check_quotations(env)
    final = {}
    for docname, page in sorted(results.items()):
        was_run = docname in state.ran or not state.seconds.get(docname)
        final[docname] = replace(page, was_run=was_run)
    return final


def report_results(app: Sphinx, exception: Exception | None) -> None:
    """Tell what came of every page, those read by an earlier build too, and fail."""
    if exception is not None:
        return
    if chosen() == "off":
        _LOGGER.warning("%s", NOTHING_EXECUTED, type="drift", subtype="off")
        fail_build(app)
        return
    by_name = all_results_of(app.env)
    results = check_ratchet(app, by_name)
    state, level = state_of(app.env), app.config.drift_severity
    if unused := unused_filters(state.settings.filters, results):
        _LOGGER.warning("drift_filters: %s", unused, type="drift", subtype="filter")
    # What a notebook happens to have stored needn't be checked; what a page documents must be.
    left_out = any(page.left_out and not page.stored for page in results)
    required = bool(state.settings.complete) or left_out
    status = exit_status(results, required=required)
    if app.builder.name == DriftBuilder.name:
        text = _encoded(render(results, verbose=True) + "\n")
        Path(app.outdir, "drift.txt").write_text(text, "utf-8")
        told = to_json(results, status=0 if level == "warning" else status)
        Path(app.outdir, "drift.json").write_text(told, "utf-8")
    if os.environ.get("GITHUB_ACTIONS"):
        lines = to_github(results, level=level, required=required)
        sys.stdout.writelines(_encoded(f"{line}\n") for line in lines)
    # Sphinx colours under CI too; a report is coloured for a terminal, if Sphinx may colour.
    colored = use_color(sys.stderr) and colors_output()
    if status:
        if level == "warning":
            _LOGGER.warning("%s", f"\n{render(results, color=colored)}")
        else:
            fail_build(app)
            _LOGGER.error("%s", f"\n{render(results, color=colored)}")
        return
    if texts := entries(results, color=colored):
        _LOGGER.info("%s", "\n\n".join(texts))
    # The builder's closing words come after every extension's: the summary ends them.
    last = closing_line(results, color=colored).replace("%", "%%")
    epilog = f"{app.builder.epilog}\n\n{last}" if app.builder.epilog else last
    app.builder.epilog = epilog  # type: ignore[misc]  # of this builder alone


def _encoded(text: str) -> str:
    """Write out what can't be encoded: a notebook may have stored half of a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode()
