"""What the pages refer to: listings, symbols, formulas, exercises, links and tables of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = (
    "inventories",
    "mathml",
    "cell_links",
    "name_links",
    "listing",
    "notation",
    "exercises",
    "recorded_table",
    "verified_counts",
    "verified_devices",
    "cost",
    "build_cost",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    for name in PARTS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
