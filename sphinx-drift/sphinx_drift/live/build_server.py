"""The resident helper: it has loaded what builds need of other people's modules, and forks builds.

It is started by its path and imports third-party modules only: a build that inherited the book's
own would run yesterday's code. It has one thread and computes nothing, or its children would hang.

A build is forked before there is anything to build, and stands ready. It builds when it is given
the word if all that it has read is still so; else another one is forked, which reads it anew.
Another build may run every page in the background, until one is asked for.
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
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Serve requests until whoever started this is gone."""
    for number in _IGNORED:
        # Whoever started this decides when it ends: by closing the socket.
        signal.signal(number, signal.SIG_IGN)
    builds = Builds(socket.socket(fileno=int(sys.argv[1])))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        builds.serve()
    builds.end()


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


class Builds:
    """The builds of a session: the one that is asked for, one that stands ready, one behind them.

    One at a time writes. What is asked for ends the one in the background, or lets it come to its
    end if that is writing already, which takes a moment: half of it would be worse than either.
    """

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire
        self._rest = b""
        self._standing: Child | None = None
        self._background: Child | None = None
        self._next: dict[str, Any] | None = None
        """The request for the background that waits until a build stands ready."""

    def serve(self) -> None:
        """Obey requests until whoever makes them is gone."""
        while True:
            source = self._source()
            if source is self._wire:
                piece = self._wire.recv(1 << 16)
                if not piece:
                    return
                *lines, self._rest = (self._rest + piece).split(b"\n")
                for line in lines:
                    self._obey(json.loads(line))
            elif source is self._standing:
                self._follow_standing(self._standing)
            elif source is self._background:
                self._follow_background(self._background)

    def end(self) -> None:
        """End what no one waits for any more."""
        for child in (self._standing, self._background):
            if child is not None:
                child.end()

    def _source(self) -> Any:
        """Wait for whoever has something to say."""
        with selectors.DefaultSelector() as selector:
            for source in (self._wire, self._standing, self._background):
                if source is not None:
                    selector.register(source, selectors.EVENT_READ)
            return selector.select()[0][0].fileobj

    def _obey(self, request: dict[str, Any]) -> None:
        match request.pop("do"):
            case "load":
                self._answer(load(request["names"]))
            case "stand":
                self._stand(request)
            case "build":
                for answer in self._build(request):
                    self._answer(answer)
            case "background":
                self._next = request
                self._begin_background()

    def _answer(self, message: dict[str, Any]) -> None:
        self._wire.sendall(json.dumps(message).encode() + b"\n")

    def _stand(self, request: dict[str, Any]) -> None:
        """Have a build stand ready; the one that does so has read what is no longer so."""
        if self._standing is not None:
            self._standing.end()
        self._standing = Child(request, self._wire) if threads() == 1 else None

    def _follow_standing(self, standing: Child) -> None:
        standing.receive()
        if standing.is_over:
            standing.wait()
            self._standing = None
        self._begin_background()

    def _build(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Have a child build, the one that stands ready if it may, and yield all that it says."""
        self._leave_background()
        changed = request.pop("changed")
        standing, self._standing = self._standing, None
        if standing is not None:
            if standing.request == request and standing.holds(changed):
                yield from standing.hear()
                return
            standing.end()
        if why := _unfit():
            yield why
            return
        child = Child(request, self._wire)
        child.give(None)
        yield from child.hear()

    def _begin_background(self) -> None:
        """Begin what is to be built in the background, once a build stands ready for a save."""
        if self._next is None or (self._standing is not None and not self._standing.is_ready):
            return
        request, self._next = self._next, None
        if why := _unfit():
            self._answer({"background": True, **why})
            return
        self._background = Child(request, self._wire)
        self._background.give(None)

    def _follow_background(self, background: Child) -> None:
        asks = background.is_writing
        background.receive()
        if background.is_writing and not asks:
            background.give(None)
        if background.is_over:
            self._background = None
            self._answer({"background": True, **background.outcome()})

    def _leave_background(self) -> None:
        """End the build in the background, or wait for its end if it is writing."""
        background, self._background, self._next = self._background, None, None
        if background is not None and background.is_writing:
            for _ in background.hear():
                pass
        elif background is not None:
            background.end()


def _unfit() -> dict[str, Any]:
    """Say why no build can be forked now; nothing if one can."""
    number = threads()
    return {} if number == 1 else {"unfit": f"the helper process has {number} threads, not one"}


class Child:
    """A process that makes all ready for a build, and builds when it is given the word."""

    _ends: ClassVar[set[int]] = set()
    """This process's ends of the pipes of all its children, which none of them inherits."""

    def __init__(self, request: dict[str, Any], wire: socket.socket) -> None:
        self.request = request
        self.is_ready = False
        self.is_writing = False
        self.is_over = False
        self._wire = wire
        self._rest = b""
        self._last: dict[str, Any] = {}
        self._reading, writing = os.pipe()
        word, self._word = os.pipe()
        self._ends.update((self._reading, self._word))
        self._messages = self._listen()
        forker = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            for end in self._ends:
                os.close(end)
            _become(request, wire, word, writing, forker)
        os.close(word)
        os.close(writing)

    def fileno(self) -> int:
        """Return where its messages come from."""
        return self._reading

    def give(self, changed: list[str] | None) -> None:
        """Give the word, with the files that have changed; nothing if it has read none before."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._word, json.dumps(changed).encode() + b"\n")

    def receive(self) -> list[dict[str, Any]]:
        """Return what it says; what it says last is its report."""
        piece = os.read(self._reading, 1 << 16)
        self.is_over = not piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        messages = []
        for message in map(json.loads, lines):
            if "ready" in message:
                self.is_ready = True
            elif "writing" in message:
                self.is_writing = True
            else:
                messages.append(message)
                self._last = {} if message.get("early") else message
        return messages

    def holds(self, changed: list[str]) -> bool:
        """Give the word, and hear whether it builds: what it has read may be of yesterday."""
        self.give(changed)
        return bool(next(self._messages, {}).get("holds"))

    def hear(self) -> Iterator[dict[str, Any]]:
        """Yield what it says, and how it ended if that is not what was asked for."""
        yield from (message for message in self._messages if message.get("early"))
        yield self.outcome()

    def outcome(self) -> dict[str, Any]:
        """Return what came of it, once all is said."""
        status = self.wait()
        return {"died": status} if status or "failures" not in self._last else self._last

    def end(self) -> None:
        """End it before it has done anything, or in the middle."""
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Wait for its end, and end whatever it left running."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        for end in (self._reading, self._word):
            os.close(end)
            self._ends.discard(end)
        return status

    def _listen(self) -> Iterator[dict[str, Any]]:
        """Yield all that it says, unless whoever asked for it goes away."""
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            selector.register(self._wire, selectors.EVENT_READ)
            while not self.is_over:
                if any(key.fileobj is self._wire for key, _ in selector.select()):
                    self.end()
                    os._exit(0)  # and so end those in the background
                yield from self.receive()


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
        from sphinx_drift.live.build import build  # noqa: PLC0415 - the child alone may import it

        with open(word, encoding="ascii") as given, open(writing, "w", encoding="ascii") as answer:

            def tell(message: dict[str, Any]) -> None:
                answer.write(json.dumps(message) + "\n")
                answer.flush()

            report = build(
                **request["build"], before=before, word=lambda: json.loads(next(given)), tell=tell
            )
            tell(report)
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
