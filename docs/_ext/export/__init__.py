"""What readers take along: every page with cells as a notebook, and all of them in an archive."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    if not app.tags.has("live"):  # while a page is written: pictures alone take seconds
        app.setup_extension("export.downloads")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
