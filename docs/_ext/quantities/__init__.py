"""Every printed number knows where it comes from: marked on a page, lit by a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooms import set_up

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = ("marking",)


def setup(app: Sphinx) -> ExtensionMetadata:
    return set_up(app, __name__, PARTS)
