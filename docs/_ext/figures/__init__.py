"""The book's figures: pictures of the computation, drawn when the book is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooms import set_up

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = ("numbered_blocks", "directive", "pictogram")


def setup(app: Sphinx) -> ExtensionMetadata:
    return set_up(app, __name__, PARTS)
