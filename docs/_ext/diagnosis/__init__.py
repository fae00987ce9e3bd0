"""My numbers differ: which documented value pasted numbers are, or which mistake makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnosis import number_box, printed_values

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    printed_values.setup(app)
    number_box.setup(app)
    return {"env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}
