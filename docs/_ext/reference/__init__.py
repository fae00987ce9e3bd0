"""What the pages refer to: listings, symbols, formulas, exercises, links and tables of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooms import set_up

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
    return set_up(app, __name__, PARTS)
