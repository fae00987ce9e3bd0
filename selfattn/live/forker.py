"""The resident helper: it has loaded what builds need of other people's modules, and forks builds.

It is started by its path and imports third-party modules only: a build that inherited the book's
own would run yesterday's code. It has one thread and computes nothing, or its children would hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Serve requests until whoever started this is gone."""
    wire = socket.socket(fileno=int(sys.argv[1]))
    for number in _IGNORED:
        # Whoever started this decides when it ends: by closing the socket.
        signal.signal(number, signal.SIG_IGN)
    with wire.makefile("rw", encoding="ascii") as lines:
        for line in lines:
            request = json.loads(line)
            answer = load(request["load"]) if "load" in request else build(request, wire)
            lines.write(json.dumps(answer) + "\n")
            lines.flush()


def load(names: list[str]) -> dict[str, Any]:
    """Import modules that earlier builds imported; one that can't be is left to each build."""
    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # noqa: BLE001 - whatever a module does when it is imported
                refused.append(name)
    os.environ.pop("OPENBLAS_NUM_THREADS", None)  # it was for the imports
    gc.collect()
    gc.freeze()  # what is shared with the children stays shared
    return {"refused": refused, "threads": threads()}


def threads() -> int:
    """Count the threads of this process."""
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def build(request: dict[str, Any], wire: socket.socket) -> dict[str, Any]:
    """Fork a build, and return what it says of itself."""
    if threads() != 1:
        return {"unfit": f"the helper process has {threads()} threads, not one"}
    reading, writing = os.pipe()
    forker = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _become(request, wire, writing, forker)
    os.close(writing)
    said = _hear(pid, reading, wire)
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)  # whatever the build left running
    if status or not said:
        return {"died": status}
    found: dict[str, Any] = json.loads(said)
    return found


def _hear(pid: int, reading: int, wire: socket.socket) -> bytes:
    """Return all that a build says, unless whoever asked for it goes away."""
    said = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        selector.register(wire, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is wire:
                    os.killpg(pid, signal.SIGKILL)
                    os._exit(0)
                piece = os.read(reading, 1 << 16)
                if not piece:
                    return bytes(said)
                said += piece


def _become(request: dict[str, Any], wire: socket.socket, writing: int, forker: int) -> NoReturn:
    """Be the build."""
    try:
        os.setsid()  # what the build starts is in its group, and goes with it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != forker:
            os._exit(1)
        wire.close()
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[:] = request["path"]
        importlib.invalidate_caches()
        before = frozenset(sys.modules)
        from selfattn.live.build import build  # noqa: PLC0415 - the child alone may import it

        said = json.dumps(build(**request["build"], before=before))
        with open(writing, "w", encoding="ascii") as answer:
            answer.write(said)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - never back into the loop of the helper
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    main()
