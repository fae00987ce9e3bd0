"""What the foot of a page says: how many of its outputs were verified, when, where and on what."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util.i18n import format_date

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.report.text import describe_environment
from sphinx_drift.sphinx.state import results_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from sphinx_drift.compare.outcomes import PageResult


def put_foot(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give a page's template its foot."""
    if app.builder.name != "epub":
        context["verified_foot"] = foot(app, pagename)


def foot(app: Sphinx, pagename: str) -> Markup:
    """Say how many of a page's outputs were verified, when, at which commit, on what."""
    page = results_of(app.env).get(pagename)
    verified, total = share(page) if page else (0, 0)
    if page is None or not total:
        return Markup()
    parts = [f"{counted(verified, total)} verified", _when(app, pagename), _commit()]
    return Markup("{} ({}).").format(" ".join(filter(None, parts)), describe_environment([page]))


def share(page: PageResult) -> tuple[int, int]:
    """Return how many outputs of a page were verified, and how many there are."""
    outcomes = [o for o in page.outcomes if o.body_line or o.kind.fails]
    compared = page.policy is not Policy.STRUCTURE
    return sum(o.kind is Kind.VERIFIED and compared for o in outcomes), len(outcomes)


def counted(verified: int, total: int) -> str:
    """Begin a sentence about so many outputs, whose end is "verified"."""
    if total == 1:
        return f"The one output on this page was{'' if verified else ' not'}"
    if verified == total:
        return f"All {total} outputs on this page were"
    return f"{verified} of the {total} outputs on this page were"


def _when(app: Sphinx, pagename: str) -> str:
    data = NbMetadataCollector.get_exec_data(app.env, pagename)
    if not data:
        return ""
    return f"on {day_of(data['mtime'], app.config.language)}"


def day_of(seconds: float, language: str) -> str:
    """Name a day in the book's language, whatever that of the machine is."""
    return format_date("%-d %B %Y", date=datetime.fromtimestamp(seconds, UTC), language=language)


@cache
def _commit() -> str:
    """Name the commit that the book was built from, and say if files were changed since."""
    try:
        commit, changed = (
            subprocess.run(  # noqa: S603 - its words are the two below
                ["git", *words],  # noqa: S607 - the git that made the checkout
                cwd=Path(__file__).parent,
                check=True,
                capture_output=True,
                text=True,
                timeout=20,
            ).stdout.strip()
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.SubprocessError):
        commit, changed = os.environ.get("SELFATTN_COMMIT", "")[:10], ""
    if not commit:
        return ""
    return f"at commit {commit}{' with later changes' if changed else ''}"


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", put_foot)
