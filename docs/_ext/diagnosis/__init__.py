"""My numbers differ: which documented value pasted numbers are, or which mistake makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooms import set_up

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = ("printed_values", "mistake_table", "number_box")


def setup(app: Sphinx) -> ExtensionMetadata:
    return set_up(app, __name__, PARTS)
