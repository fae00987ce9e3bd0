"""How a room, a folder of this one, is one extension of Sphinx: its parts are set up in turn."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def set_up(app: Sphinx, room: str, parts: Iterable[str], env_version: int = 1) -> ExtensionMetadata:
    """Set up the modules of a room, which can all read and write pages in parallel.

    Args:
        app: The application.
        room: The name of the package.
        parts: The names of its modules; of two with equal priorities, the first is called first.
        env_version: Another number whenever a part keeps other data in the environment.

    """
    for part in parts:
        importlib.import_module(f"{room}.{part}").setup(app)
    return {
        "env_version": env_version,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
