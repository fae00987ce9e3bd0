"""The site around the pages: outputs, search, the verified foot, and helpers for pages."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from website import citations, outputs, search, verified_foot


def setup(app: Sphinx) -> ExtensionMetadata:
    citations.setup(app)
    outputs.setup(app)
    search.setup(app)
    verified_foot.setup(app)
    return {"env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
