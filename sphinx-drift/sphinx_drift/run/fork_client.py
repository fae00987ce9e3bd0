"""Starts the fork servers, connects to them, and ends them."""

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

from sphinx_drift.run.apart import command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_preloaded: tuple[str, ...] = ()
"""What a fork server loads, where it is installed, before it forks."""

# What a process reads once, when it starts or loads torch: another value needs another server.
_READ_ONCE = (
    *("GOMP_", "KMP_", "LD_", "MKL_", "OMP_", "OPENBLAS_", "PYTHON", "PYTORCH_", "TORCH_"),
    "DRIFT_DEVICE_SHARE",
)


_LONGEST_IMPORT = 120
"""Seconds that a library which is loaded in advance may take: one that hangs is left to pages."""


class AdoptedForkServer:
    """A fork server that another process has started, and will end."""

    def __init__(self, address: str, environment: Mapping[str, str]) -> None:
        self.address = address
        self.read_once = _read_once(environment)

    def connect(self) -> socket.socket:
        """Return a new connection."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.address)
        except OSError:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Leave it to its owner."""


class ForkServer(AdoptedForkServer):
    """A fork server that this process has started, with which it ends.

    This process has the only other end of the server's standard input: the server ends when that
    is closed, which the kernel does if this process is killed.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        # An abstract address: no file is left behind, whatever ends.
        super().__init__(f"\0sphinx-drift-{secrets.token_hex(16)}", environment)
        self.owner = os.getpid()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self.address)
        listening.listen(64)  # here: a client may connect while the server still loads
        options = (
            *("--socket", str(listening.fileno()), "--slots", str(slots(environment))),
            *("--import-limit", str(_LONGEST_IMPORT)),
        )
        with listening:  # from then on the server alone has it
            self.process = subprocess.Popen(  # noqa: S603 - it is our own
                command("run.fork_server", *options, "--preload", *_preloaded),
                env={
                    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
                    # Threads that wait for each other sleep: pages share the cores. In small
                    # letters: libgomp reads them by the locale, and Turkish has another "I".
                    "OMP_WAIT_POLICY": "passive",
                    **environment,
                    "OPENBLAS_NUM_THREADS": "1",  # it starts its threads when it is loaded
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
            )

    def close(self) -> None:
        """End the server and all its children; in a forked process, close the end alone."""
        assert self.process.stdin is not None  # noqa: S101 - it was started with a pipe
        self.process.stdin.close()
        if os.getpid() == self.owner:
            self.process.wait()


def slots(environment: Mapping[str, str]) -> int:
    """Return how many pages may run at a time: as many as cores, or fewer if they share a GPU."""
    cores = len(os.sched_getaffinity(0))
    pages, _, _ = environment.get("DRIFT_DEVICE_SHARE", "").partition(" ")
    return min(cores, int(pages)) if pages else cores


def adopt(address: str, preloaded: Iterable[str]) -> None:
    """Run pages in children of a server that another process has started with this environment."""
    preload(preloaded)
    _servers[None] = AdoptedForkServer(address, page_environment(None))


_servers: dict[str | None, AdoptedForkServer] = {}
"""Those of this process, by the hash seed of their pages."""


def _read_once(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_ONCE)}


def fork_server(hash_seed: str | None = None) -> AdoptedForkServer:
    """Return the server for a hash seed; another one if it was started in another environment.

    Raises:
        ConnectionError: If the build was interrupted.

    """
    if _given_up:
        raise ConnectionError("the build was interrupted")
    environment = page_environment(hash_seed)
    server = _servers.get(hash_seed)
    if server is not None and server.read_once != _read_once(environment):
        _servers.pop(hash_seed).close()
        server = None
    if server is None:
        server = _servers[hash_seed] = ForkServer(environment)
    return server


def page_environment(hash_seed: str | None) -> dict[str, str]:
    """Return the environment in which a page runs."""
    return {**os.environ, **({} if hash_seed is None else {"PYTHONHASHSEED": hash_seed})}


def preload(names: Iterable[str]) -> None:
    """Have the servers that are started from now on load some libraries before they fork."""
    global _preloaded  # noqa: PLW0603 - one choice holds for all servers of a process
    _preloaded = tuple(names)


def is_started() -> bool:
    """Return whether there is a server already: this process has started or adopted one."""
    return None in _servers


def start() -> None:
    """Start the server now, so that it loads while something else is done."""
    if can_fork():
        fork_server()


def can_fork() -> bool:
    """Return whether processes can be forked and watched here."""
    return sys.platform.startswith("linux") and all(hasattr(os, name) for name in _NEEDED)


_NEEDED = ("fork", "pidfd_open", "register_at_fork", "sched_getaffinity")


@atexit.register
def close() -> None:
    """End all servers that this process has started."""
    while _servers:
        _servers.popitem()[1].close()


_given_up = False
"""Whether the build of this process was interrupted."""


def give_up() -> None:
    """End all servers, and so all pages: nothing is to run any more."""
    global _given_up  # noqa: PLW0603 - a process is interrupted once
    _given_up = True
    close()


def is_over() -> bool:
    """Return whether the build that this process is of is over: it was interrupted, or ended."""
    if _given_up:
        return True
    owners = {each.owner for each in _servers.values() if isinstance(each, ForkServer)}
    owners -= {os.getpid()}
    for _ in range(50):
        if not all(map(_is_alive, owners)):
            return True
        if owners:
            time.sleep(0.01)  # whose server is gone already may be about to go itself
    return False


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def _close_inherited_ends() -> None:
    """Close in a forked process its parent's ends: they would keep the parent's servers alive."""
    for each in _servers.values():
        each.close()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_close_inherited_ends)
