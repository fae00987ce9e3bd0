"""Tests in a browser need more than the others, and run when they are asked for by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

BROWSER = Path(__file__).with_name("browser")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass by the tests in a browser, unless the command line names them."""
    named = any("browser" in Path(word.split("::")[0]).parts for word in config.args)
    return True if collection_path == BROWSER and not named else None
