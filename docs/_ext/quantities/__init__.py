"""Every printed number knows where it comes from: marked on a page, lit by a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quantities import marking

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_values")
    marking.setup(app)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
