"""The site around the pages: theme, contents, search, previews, and what is written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = (
    "address",
    "theme",
    "permalinks",
    "reading_order",
    "reading_times",
    "search_index",
    "social_preview",
    "sitemap",
    "moved_pages",
    "offline",
    "stale_pages",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    for name in PARTS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
