"""The explorer: pictures that answer; a test compares their numbers with torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer import directive, element, trained_model

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    element.setup(app)
    directive.setup(app)
    trained_model.setup(app)
    return {"env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}
