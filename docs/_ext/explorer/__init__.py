"""The explorer: pictures that answer; a test compares their numbers with torch's."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from explorer import directive, element, trained_model


def setup(app: Sphinx) -> ExtensionMetadata:
    element.setup(app)
    directive.setup(app)
    trained_model.setup(app)
    return {"env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}
