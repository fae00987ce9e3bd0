"""Where the modules are that tests import, and which tests run only when asked for by name.

Tests in a browser need more than the others.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
BROWSER = TESTS / "browser"

# The tests' own helpers, the site's extensions and the commands are modules, not packages.
sys.path[:0] = map(str, (TESTS, ROOT / "docs" / "_ext", ROOT / "tools"))


def pytest_configure() -> None:
    """Let what tests start hear Ctrl-C: a shell has what it starts in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass by the tests in a browser, unless the command line names them."""
    named = any("browser" in Path(word.split("::")[0]).parts for word in config.args)
    return True if collection_path == BROWSER and not named else None
