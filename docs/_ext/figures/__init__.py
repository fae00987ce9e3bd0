"""The book's figures: pictures of the computation, drawn when the book is built."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from figures import directive, numbered_blocks


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_values")
    numbered_blocks.setup(app)
    directive.setup(app)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
