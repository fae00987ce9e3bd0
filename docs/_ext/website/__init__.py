"""The site around the pages: theme, contents, search, previews, and what is written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooms import set_up

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = (
    *("address", "sidebar", "verified_foot", "theme", "permalinks", "reading_order"),
    *("reading_times", "social_preview", "search_index", "sitemap", "moved_pages", "offline"),
    "stale_pages",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    return set_up(app, __name__, PARTS)
