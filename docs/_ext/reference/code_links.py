"""Links from code to documentation by sphinx-codeautolink, in each page that a build writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sphinx_codeautolink
from sphinx_codeautolink.extension import SphinxCodeAutoLink

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINK = "sphinx-codeautolink-a"


class LinkWrittenPages(SphinxCodeAutoLink):  # type: ignore[misc]  # untyped
    """Links also the pages whose source is as it was, but which this build has written anew.

    Stock leaves those without links; see PROPOSALS.md.
    """

    def apply_links(self, app: Sphinx, exception: Exception | None) -> None:
        """Put links into the pages that have none."""
        if not self.do_nothing and exception is None:
            names = self.cache.transforms
            pages = {name: Path(app.builder.get_outfilename(name)) for name in names}
            self.outdated_docs = {
                name for name, page in pages.items() if LINK not in page.read_text("utf-8")
            }
        super().apply_links(app, exception)


def setup(app: Sphinx) -> None:
    if app.tags.has("live"):  # while a page is written: to resolve names takes seconds
        return
    sphinx_codeautolink.SphinxCodeAutoLink = LinkWrittenPages
    app.setup_extension("sphinx_codeautolink")
