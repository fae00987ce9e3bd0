"""What no supported way gives of Sphinx: each use of it stands here.

`tests/test_private_api.py` says of each name what to do when it is no longer what it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.util.console import colorize

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def page_data(env: BuildEnvironment) -> Any:
    """Return what lasts as long as a page is being read, by name: Sphinx 8.2 renamed it."""
    return env.current_document if hasattr(env, "current_document") else env.temp_data


def fail_build(app: Sphinx) -> None:
    """Have the build's exit status be 1."""
    app.statuscode = 1


def colors_output() -> bool:
    """Return whether Sphinx may colour what it prints."""
    return colorize("bold", "") != ""
