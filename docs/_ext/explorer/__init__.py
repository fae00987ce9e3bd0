"""The explorer: pictures that answer, and the proof that their numbers are torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = ("element", "build_step", "shares", "directive")


def setup(app: Sphinx) -> ExtensionMetadata:
    for name in PARTS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
