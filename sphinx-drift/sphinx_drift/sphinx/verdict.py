"""Tells at the end of a build what came of every page and fails it; keeps the ratchet."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.report.formats import exit_status, to_github
from sphinx_drift.report.summary import unused_filters
from sphinx_drift.report.text import closing_line, entries, render, use_color
from sphinx_drift.run.choice import is_ci
from sphinx_drift.sphinx.private_api import fail_build
from sphinx_drift.sphinx.quotations import check_quotations, is_left_out
from sphinx_drift.sphinx.state import file_of, state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx

_LOGGER = logging.getLogger(__name__)


def all_results_of(app: Sphinx) -> dict[str, PageResult]:
    """Return what came of each page, and of what pages quote, in the order of their names."""
    state, results = state_of(app.env), check_quotations(app)
    final = {}
    for docname, page in sorted(results.items()):
        was_run = docname in state.ran or not state.seconds.get(docname)
        final[docname] = replace(page, was_run=was_run)
    return final


def report_results(app: Sphinx, exception: Exception | None) -> None:
    """Tell what came of every page, those read by an earlier build too, and fail."""
    if exception is not None:
        return
    by_name = all_results_of(app)
    results = _check_ratchet(app, by_name)
    state, level = state_of(app.env), app.config.drift_severity
    if unused := unused_filters(state.settings.filters, results):
        _LOGGER.warning("drift_filters: %s", unused, type="drift", subtype="filter")
    # What a notebook happens to have stored needn't be checked; what a page documents must be.
    left_out = any(page.left_out and not page.stored for page in results)
    required = bool(state.settings.complete) or left_out
    status = exit_status(results, required=required)
    if os.environ.get("GITHUB_ACTIONS"):
        lines = to_github(results, level=level, required=required)
        sys.stdout.writelines(_encoded(f"{line}\n") for line in lines)
    colored = use_color(sys.stderr)
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


def _check_ratchet(app: Sphinx, results: Mapping[str, PageResult]) -> list[PageResult]:
    """Return all results, with a failure for each page that has fewer verified than ever.

    The file that ``drift_ratchet`` names is committed. A build writes it where pages have more than
    it says, but under CI; a page that has fewer, or is gone, fails until its line is deleted.
    """
    if not app.config.drift_ratchet or is_left_out(results):
        return [*results.values()]
    path = Path(app.confdir, app.config.drift_ratchet)
    try:
        before = _counts_in(path)
    except (AttributeError, OSError, OverflowError, TypeError, ValueError) as error:
        message = (
            f"`drift_ratchet` names it ({error}); mend or delete it, and build once without CI"
        )
        unreadable = Outcome(Kind.UNREADABLE, 1, message=message)
        return [*results.values(), PageResult(str(path), (unreadable,))]
    # What holds on the reference environment alone is documented elsewhere too.
    counted = (Kind.VERIFIED, Kind.NOT_COMPARED)
    verified = {
        name: sum(outcome.kind in counted for outcome in page.outcomes)
        for name, page in results.items()
    }
    fewer = {name: number for name, number in before.items() if verified.get(name, 0) < number}
    after = before | {name: n for name, n in verified.items() if n > before.get(name, 0)}
    if not is_ci() and (after != before or not path.exists()):
        try:
            path.write_text(json.dumps(after, indent=2, sort_keys=True) + "\n", "utf-8")
        except OSError as error:  # such as a folder that is mounted to be read
            _LOGGER.warning("drift_ratchet: %s", error, type="drift", subtype="ratchet")
    failed = dict(results)
    for name, number in fewer.items():
        file = file_of(app.env, name) if name in app.env.found_docs else name
        page, now = results.get(name) or PageResult(file), verified.get(name, 0)
        message = f"{app.config.drift_ratchet} has {number} for {name}, and {now} are verified"
        outcome = Outcome(Kind.FEWER, 1, message=message)
        failed[name] = replace(page, outcomes=(*page.outcomes, outcome))
    return [*failed.values()]


def _counts_in(path: Path) -> dict[str, int]:
    if not path.exists() and not is_ci():
        return {}
    return {str(name): int(number) for name, number in json.loads(path.read_text("utf-8")).items()}
