"""What tests ask of processes that they have started."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for what must come; a machine may be slow."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def python(
    *words: object, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of Python's in a folder, and return what it printed."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
