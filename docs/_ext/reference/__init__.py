"""What the pages refer to: listings, formulas, exercises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference import code_links, exercises, listing, mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    code_links.setup(app)
    mathml.setup(app)
    listing.setup(app)
    exercises.setup(app)
    return {"env_version": 5, "parallel_read_safe": True, "parallel_write_safe": True}
