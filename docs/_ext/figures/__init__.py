"""The book's figures: pictures of the computation, drawn when the book is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures import directive, numbered_blocks

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_values")
    numbered_blocks.setup(app)
    directive.setup(app)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
