"""What no supported way gives of Sphinx: each use of it stands here.

`tests/test_private_api.py` says of each name what to do when it is no longer what it was.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from sphinx.config import Config
from sphinx.util.console import colorize
from sphinx.util.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def print_settings(mark: str) -> None:
    """Print what ``conf.py`` in a folder says, as JSON: the arguments are the folder, and names."""
    _, folder, *names = sys.argv
    written: Any = written_settings(Config.read(folder, overrides={}, tags=Tags()))
    found = {name: written[name] for name in names if name in written}
    print(f"\n{mark}{json.dumps(found, default=str)}")


def written_settings(config: Config) -> Iterable[str]:
    """Return the names that conf.py gives a value, whether anybody asks for them or not."""
    return config._raw_config  # noqa: SLF001 - nothing public has them
