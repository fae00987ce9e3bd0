"""My numbers differ: which documented value pasted numbers are, or which mistake makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = ("printed_values", "mistake_table", "number_box")


def setup(app: Sphinx) -> ExtensionMetadata:
    for name in PARTS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
