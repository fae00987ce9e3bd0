"""Starts the helper processes that fork a child for each page, and ends them."""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "GoneError",
    "Helper",
    "adopt",
    "close",
    "helper",
    "orphaned",
    "preload",
    "slots",
    "start",
    "surroundings",
]

_preloaded: tuple[str, ...] = ()
"""What a helper loads, where it is installed, before it forks."""

# What a process reads once, when it starts or loads torch: another value needs a new helper.
_READ_ONCE = (
    *("GOMP_", "KMP_", "LD_", "MKL_", "OMP_", "OPENBLAS_", "PYTHON", "PYTORCH_", "TORCH_"),
    "DRIFT_DEVICE_SHARE",
)


class GoneError(RuntimeError):
    """The helper process is gone."""


class Helper:
    """The process that forks; it ends with the process that started it."""

    def __init__(self, surroundings: Mapping[str, str]) -> None:
        self.owner = os.getpid()
        self.read_once = _read_once(surroundings)
        self.address = f"\0sphinx-drift-{secrets.token_hex(16)}"
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self.address)
        listening.listen(64)
        code = Path(__file__).with_name("fork_server.py")
        told = ("--socket", str(listening.fileno()), "--slots", str(slots(surroundings)))
        with listening:
            self.process = subprocess.Popen(  # noqa: S603 - it is our own
                [sys.executable, "-P", str(code), *told, "--preload", *_preloaded],
                env={
                    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
                    # Threads that wait for each other sleep: pages share the cores. In small
                    # letters: libgomp reads them by the locale, and Turkish has another "I".
                    "OMP_WAIT_POLICY": "passive",
                    **surroundings,
                    "OPENBLAS_NUM_THREADS": "1",
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
            )

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return _connect(self.address)

    def close(self) -> None:
        """End the helper and all its children, if it is this process's."""
        assert self.process.stdin is not None  # noqa: S101 - it was started with a pipe
        self.process.stdin.close()
        if os.getpid() == self.owner:
            self.process.wait()


def slots(surroundings: Mapping[str, str]) -> int:
    """Return how many pages may run at a time: as many as cores, or fewer if they share a GPU."""
    cores = len(os.sched_getaffinity(0))
    pages, _, _ = surroundings.get("DRIFT_DEVICE_SHARE", "").partition(" ")
    return min(cores, int(pages)) if pages else cores


def _connect(address: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
    except OSError as error:
        connection.close()
        raise GoneError(f"the helper process is gone: {error}") from error
    return connection


class Adopted:
    """A helper that another process has started, and will end."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.read_once = _read_once(surroundings(None))

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return _connect(self.address)

    def close(self) -> None:
        """Leave it to its owner."""


def adopt(address: str) -> None:
    """Run pages in children of a helper that another process has started with this environment."""
    _helpers[None] = Adopted(address)


_helpers: dict[str | None, Helper | Adopted] = {}


def _read_once(surroundings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in surroundings.items() if name.startswith(_READ_ONCE)}


def helper(hash_seed: str | None = None) -> Helper | Adopted:
    """Return the helper for a hash seed, started anew if its environment no longer holds."""
    wanted = surroundings(hash_seed)
    found = _helpers.get(hash_seed)
    if found is not None and found.read_once != _read_once(wanted):
        _helpers.pop(hash_seed).close()
        found = None
    if found is None:
        found = _helpers[hash_seed] = Helper(wanted)
    return found


def surroundings(hash_seed: str | None) -> dict[str, str]:
    """Return the environment in which a page runs."""
    return {**os.environ, **({} if hash_seed is None else {"PYTHONHASHSEED": hash_seed})}


def preload(names: Iterable[str]) -> None:
    """Have the helpers that are started from now on load some libraries before they fork."""
    global _preloaded  # noqa: PLW0603 - one choice holds for all helpers of a process
    _preloaded = tuple(names)


def start(hash_seed: str | None = None) -> None:
    """Start the helper now, so that it loads while something else is done."""
    if possible():
        helper(hash_seed)


def possible() -> bool:
    """Tell whether processes can be forked and watched here."""
    return sys.platform.startswith("linux") and all(hasattr(os, name) for name in _NEEDED)


_NEEDED = ("fork", "pidfd_open", "register_at_fork", "sched_getaffinity")


@atexit.register
def close() -> None:
    """End all helpers that this process has started."""
    while _helpers:
        _helpers.popitem()[1].close()


def orphaned() -> bool:
    """Tell whether the build that this process was forked for is over: it was ended, say."""
    owners = {each.owner for each in _helpers.values() if isinstance(each, Helper)}
    owners -= {os.getpid()}
    for _ in range(50):
        if not all(map(_lives, owners)):
            return True
        if owners:
            time.sleep(0.01)  # whose helper is gone already may be about to go itself
    return False


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def _forget_ends() -> None:
    """Let a forked process not keep its parent's helpers alive."""
    for each in _helpers.values():
        if isinstance(each, Helper):
            assert each.process.stdin is not None  # noqa: S101 - it was started with a pipe
            each.process.stdin.close()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forget_ends)
