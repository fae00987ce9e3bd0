"""The resident helper: it has loaded what builds need of other people's modules, and forks builds.

It is started by its path and imports third-party modules only: a build that inherited the book's
own would run yesterday's code. It has one thread and computes nothing, or its children would hang.

A build is forked before there is anything to build, and stands ready. It builds when it is given
the word if all that it has read is still so; else another one is forked, which reads it anew.
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
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Serve requests until whoever started this is gone."""
    wire = socket.socket(fileno=int(sys.argv[1]))
    for number in _IGNORED:
        # Whoever started this decides when it ends: by closing the socket.
        signal.signal(number, signal.SIG_IGN)
    standing: Child | None = None
    with contextlib.suppress(BrokenPipeError), wire.makefile("rw", encoding="ascii") as lines:
        for line in lines:
            request = json.loads(line)
            if "load" in request:
                answers = iter([load(request["load"])])
            elif "word" in request:
                answers = build(request, standing, wire)
                standing = None
            else:
                standing = Child(request, wire) if threads() == 1 else None
                continue
            for answer in answers:
                lines.write(json.dumps(answer) + "\n")
                lines.flush()
    if standing is not None:
        standing.end()


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


def build(
    request: dict[str, Any], standing: Child | None, wire: socket.socket
) -> Iterator[dict[str, Any]]:
    """Have a child build, the one that stands ready if it may, and yield all that it says."""
    changed = request.pop("word")
    if standing is not None:
        if standing.request == request and standing.holds(changed):
            yield from standing.hear()
            return
        standing.end()
    if threads() != 1:
        yield {"unfit": f"the helper process has {threads()} threads, not one"}
        return
    child = Child(request, wire)
    child.give(None)
    yield from child.hear()


class Child:
    """A process that makes all ready for a build, and builds when it is given the word."""

    def __init__(self, request: dict[str, Any], wire: socket.socket) -> None:
        self.request = request
        self._wire = wire
        self._reading, writing = os.pipe()
        word, self._word = os.pipe()
        forker = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._reading)
            os.close(self._word)
            _become(request, wire, word, writing, forker)
        os.close(word)
        os.close(writing)
        self._messages = self._listen()

    def give(self, changed: list[str] | None) -> None:
        """Give the word, with the files that have changed; nothing if it has read none before."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._word, json.dumps(changed).encode() + b"\n")

    def holds(self, changed: list[str]) -> bool:
        """Give the word, and hear whether it builds: what it has read may be of yesterday."""
        self.give(changed)
        return bool(next(self._messages, {}).get("holds"))

    def hear(self) -> Iterator[dict[str, Any]]:
        """Yield what it says, and how it ended if that is not what was asked for."""
        last: dict[str, Any] = {}
        for message in self._messages:
            if message.get("early"):
                yield message
            else:
                last = message
        status = self._wait()
        yield {"died": status} if status or not last else last

    def end(self) -> None:
        """End it before it has done anything, or in the middle."""
        os.kill(self.pid, signal.SIGKILL)
        self._wait()

    def _wait(self) -> int:
        """Wait for its end, and end whatever it left running."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self._reading)
        os.close(self._word)
        return status

    def _listen(self) -> Iterator[dict[str, Any]]:
        """Yield all that it says, unless whoever asked for it goes away."""
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._reading, selectors.EVENT_READ)
            selector.register(self._wire, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._wire:
                        self.end()
                        os._exit(0)
                    piece = os.read(self._reading, 1 << 16)
                    if not piece:
                        return
                    *lines, rest = (rest + piece).split(b"\n")
                    yield from map(json.loads, lines)


def _become(
    request: dict[str, Any], wire: socket.socket, word: int, writing: int, forker: int
) -> NoReturn:
    """Be the build."""
    try:
        os.setsid()  # what the build starts is in its group, and goes with it
        die_with(forker)
        os.close(wire.detach())
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[:] = request["path"]
        importlib.invalidate_caches()
        before = frozenset(sys.modules)
        from selfattn.live.build import build  # noqa: PLC0415 - the child alone may import it

        with open(word, encoding="ascii") as given, open(writing, "w", encoding="ascii") as answer:

            def tell(message: dict[str, Any]) -> None:
                answer.write(json.dumps(message) + "\n")
                answer.flush()

            said = build(
                **request["build"], before=before, word=lambda: json.loads(next(given)), tell=tell
            )
            tell(said)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - never back into the loop of the helper
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(1)


def die_with(parent: int) -> None:
    """Have this process end when its parent does."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    main()
