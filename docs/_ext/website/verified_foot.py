"""The foot of a page: how many of its outputs were verified, when, and on what."""

from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util.i18n import format_date

from sphinx_drift.api import Kind, PageResult, describe_environment, results


def put_foot(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Add the foot to a page's template."""
    if app.builder.name != "epub":
        context["verified_foot"] = foot(app, pagename)


def foot(app: Sphinx, pagename: str) -> Markup:
    """Say how many of a page's outputs were verified, when, and on what."""
    page = results(app.env).get(pagename)
    verified, total = share(page) if page else (0, 0)
    if page is None or not total:
        return Markup()
    text = f"{counted(verified, total)} verified{_when(app, pagename)}"
    return Markup("{} ({}).").format(text, describe_environment([page]))


def share(page: PageResult) -> tuple[int, int]:
    """Return how many outputs of a page were verified, and how many there are."""
    outcomes = [o for o in page.outcomes if o.body_line or o.kind.fails]
    return sum(o.kind is Kind.VERIFIED for o in outcomes), len(outcomes)


def counted(verified: int, total: int) -> str:
    """Begin a sentence about so many outputs, whose end is "verified"."""
    if verified == total:
        return f"All {total} outputs on this page were"
    return f"{verified} of the {total} outputs on this page were"


def _when(app: Sphinx, pagename: str) -> str:
    data = NbMetadataCollector.get_exec_data(app.env, pagename)
    if not data:
        return ""
    return f" on {day_of(data['mtime'], app.config.language)}"


def day_of(seconds: float, language: str) -> str:
    """Name a day in the book's language, whatever that of the machine is."""
    return format_date("%-d %B %Y", date=datetime.fromtimestamp(seconds, UTC), language=language)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", put_foot)
