"""What the pages refer to: listings, formulas, exercises, and the names in code."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from reference import exercises, listing, mathml


def setup(app: Sphinx) -> ExtensionMetadata:
    if not app.tags.has("live"):  # while a page is written: to resolve names takes seconds
        app.setup_extension("sphinx_codeautolink")
    mathml.setup(app)
    listing.setup(app)
    exercises.setup(app)
    return {"env_version": 6, "parallel_read_safe": True, "parallel_write_safe": True}
