"""The explorer: pictures that answer, and the proof that their numbers are torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooms import set_up

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = ("element", "build_step", "shares", "directive")


def setup(app: Sphinx) -> ExtensionMetadata:
    return set_up(app, __name__, PARTS)
