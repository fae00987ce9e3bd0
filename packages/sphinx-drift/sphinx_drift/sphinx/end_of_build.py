"""Report the results of all pages at the end of a build, and fail it."""

import os
import sys
from dataclasses import replace

from sphinx.application import Sphinx
from sphinx.util import logging

from sphinx_drift.model import PageResult
from sphinx_drift.report.formats import exit_status, to_github
from sphinx_drift.report.summary import unused_filters
from sphinx_drift.report.text import closing_line, outcome_texts, render, use_color
from sphinx_drift.sphinx.pages import is_built_alone
from sphinx_drift.sphinx.private_api import end_with, fail_build
from sphinx_drift.sphinx.quotations import check_quotations
from sphinx_drift.sphinx.state import State, state_of

_LOGGER = logging.getLogger(__name__)


def report_results(app: Sphinx, exception: Exception | None) -> None:
    """Report the results of all pages, those read by an earlier build too, and fail."""
    if exception is not None:
        return
    state = state_of(app.env)
    results = [
        result if name in state.ran else _as_before(result, name, state)
        for name, result in sorted(check_quotations(app).items())
    ]
    is_alone = is_built_alone(app)  # other pages may need what this one doesn't
    if not is_alone and (unused := unused_filters(state.settings.filters, results)):
        _LOGGER.warning("%s", unused, type="drift", subtype="filter")
    # The outputs a notebook happens to store needn't be checked; those a page documents must.
    left_out = any(result.left_out and not result.is_optional for result in results)
    required = left_out or bool(state.settings.require and not is_alone)
    if os.environ.get("GITHUB_ACTIONS"):
        for line in to_github(results, required=required):
            print(line)
    colored = use_color(sys.stderr)
    if exit_status(results, required=required):
        fail_build(app)
        _LOGGER.error("%s", f"\n{render(results, color=colored)}")
        return
    if texts := outcome_texts(results, color=colored):
        _LOGGER.info("%s", "\n\n".join(texts))
    # The builder's closing words come after every extension's: the summary ends them.
    end_with(app, closing_line(results, color=colored))


def _as_before(result: PageResult, name: str, state: State) -> PageResult:
    """Return the result of a page that was not read in this build, or has nothing to run."""
    page_state = state.pages[name]
    is_cached = bool(state.settings.cache and page_state.cache_key)
    return replace(result, from_cache=is_cached, was_run=is_cached or not page_state.seconds)
