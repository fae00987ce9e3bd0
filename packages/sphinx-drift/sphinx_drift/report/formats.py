"""Report to machines: exit status, GitHub annotations."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sphinx_drift.model import PageResult
from sphinx_drift.report.summary import is_nothing
from sphinx_drift.report.text import outcome_text


def exit_status(results: Sequence[PageResult], *, required: bool = True) -> int:
    """Return 0 if all is verified, 1 if an output drifted, 2 if something is not known.

    A check of nothing fails only if something is required.
    """
    statuses = {outcome.kind.status for result in results for outcome in result.outcomes} - {0}
    return min(statuses, default=2 if required and is_nothing(results) else 0)


def to_github(results: Sequence[PageResult], *, required: bool = True) -> Iterator[str]:
    """Yield a GitHub workflow command for each failure, which shows it beside its line."""
    if required and is_nothing(results):
        yield "::error title=nothing-checked::nothing was checked"
    for result in results:
        for outcome in result.outcomes:
            if outcome.kind.fails:
                yield (
                    f"::error file={_property(_in_repository(result.file))},line={outcome.line},"
                    f"title={_property(outcome.kind.label)}::{_data(outcome_text(result, outcome))}"
                )


def _in_repository(file: str) -> str:
    """Return the name of a file as GitHub knows it, wherever in its repository this runs."""
    root = os.environ.get("GITHUB_WORKSPACE", "")
    path = Path(os.path.abspath(file))  # noqa: PTH100 - GitHub knows no ".."
    return path.relative_to(root).as_posix() if root and path.is_relative_to(root) else file


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
