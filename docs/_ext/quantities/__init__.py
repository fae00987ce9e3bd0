"""Every printed number knows where it comes from: marked on a page, lit by a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension(f"{__name__}.marking")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
