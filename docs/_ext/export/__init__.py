"""What readers take along: every page with cells as a notebook, and all of them in an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from export import downloads

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    downloads.setup(app)
    return {"env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
