"""Links from code to documentation by sphinx-codeautolink, in each page that a build writes."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sphinx_codeautolink
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx_codeautolink.extension import SphinxCodeAutoLink
from sphinx_codeautolink.parse import NameBreak

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINK = "sphinx-codeautolink-a"


class LibraryLinks(SphinxCodeAutoLink):  # type: ignore[misc]  # untyped
    """Links the names of libraries alone, and in every page that this build has written.

    Stock links `print` and each variable too, and leaves pages without links whose source is as it
    was; see PROPOSALS.md.
    """

    def filter_and_resolve(self, transforms: list[Any], skipped: set[str], doc: str) -> None:
        """Leave out what is Python's own, and variables, which would lead to their class."""
        for transform in transforms:
            transform.names = [name for name in transform.names if is_of_library(name)]
        super().filter_and_resolve(transforms, skipped, doc)

    def apply_links(self, app: Sphinx, exception: Exception | None) -> None:
        """Put links into the pages that have none."""
        if (
            not self.do_nothing
            and exception is None
            and isinstance(app.builder, StandaloneHTMLBuilder)
        ):
            names = self.cache.transforms
            pages = {name: Path(app.builder.get_outfilename(name)) for name in names}
            self.outdated_docs = {
                name for name, page in pages.items() if LINK not in page.read_text("utf-8")
            }
        super().apply_links(app, exception)


def is_of_library(name: Any) -> bool:
    """Tell whether a name in code is that of something in a library."""
    first, last = name.import_components[0], name.import_components[-1]
    return not hasattr(builtins, first) and last not in list(NameBreak)


def setup(app: Sphinx) -> None:
    if app.tags.has("live"):  # while a page is written: to resolve names takes seconds
        return
    sphinx_codeautolink.SphinxCodeAutoLink = LibraryLinks
    app.setup_extension("sphinx_codeautolink")
