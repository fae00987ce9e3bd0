"""The build server: it has loaded what builds need of other people's modules, and forks builds.

It runs apart (:mod:`sphinx_drift.run.apart`) and imports third-party modules only: a build that
inherited the book's own would run yesterday's code. It has one thread and computes nothing, or its
children would hang.

A build is forked before there is anything to build, and stands by. Once it is told what has
changed, it builds if all that it has read is still current; else another one is forked, which reads
it anew. Another build may run every page in the background, until one is asked for.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

# Not by the package's name: this process may not import it.
from ..run.processes import die_with, thread_count  # noqa: TID252

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main"]

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(words: Sequence[str]) -> None:
    """Serve requests until whoever started this is gone."""
    for number in _IGNORED:
        # A terminal sends these to all processes of a session, and whoever started this one decides
        # when it ends: by closing the socket.
        signal.signal(number, signal.SIG_IGN)
    builds = BuildScheduler(socket.socket(fileno=int(words[0])))
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
    # A collection in a child would write into every object that it inherits, and so copy the
    # memory that it shares with this process.
    gc.freeze()
    return {"refused": refused, "threads": thread_count()}


class BuildScheduler:
    """The builds of a session: the one that is asked for, one standing by, one in the background.

    One at a time writes. What is asked for ends the one in the background, or lets it come to its
    end if that is writing already, which takes a moment: half of it would be worse than either.

    Args:
        client: The socket of whoever has started this process.

    """

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._rest = b""
        self._standby: BuildProcess | None = None
        self._background: BuildProcess | None = None
        self._next_background: dict[str, Any] | None = None
        """The request for the background that waits until a build stands by."""

    def serve(self) -> None:
        """Handle requests until whoever makes them is gone."""
        while True:
            source = self._wait()
            if source is self._client:
                piece = self._client.recv(1 << 16)
                if not piece:
                    return
                *lines, self._rest = (self._rest + piece).split(b"\n")
                for line in lines:
                    self._handle(json.loads(line))
            elif source is self._standby:
                self._follow_standby(self._standby)
            elif source is self._background:
                self._follow_background(self._background)

    def end(self) -> None:
        """End what no one waits for any more."""
        for process in (self._standby, self._background):
            if process is not None:
                process.end()

    def _wait(self) -> Any:
        """Wait for a request, or a message of a build, and return where it is to be read."""
        with selectors.DefaultSelector() as selector:
            for source in (self._client, self._standby, self._background):
                if source is not None:
                    selector.register(source, selectors.EVENT_READ)
            return selector.select()[0][0].fileobj

    def _handle(self, request: dict[str, Any]) -> None:
        match request.pop("do"):
            case "load":
                self._send(load(request["names"]))
            case "stand_by":
                self._stand_by(request)
            case "build":
                for report in self._build(request):
                    self._send(report)
            case "background":
                self._next_background = request
                self._begin_background()

    def _send(self, message: dict[str, Any]) -> None:
        self._client.sendall(json.dumps(message).encode() + b"\n")

    def _stand_by(self, request: dict[str, Any]) -> None:
        """Have a build stand by, instead of the one that does: what that has read has changed."""
        if self._standby is not None:
            self._standby.end()
        self._standby = BuildProcess(request, self._client) if thread_count() == 1 else None

    def _follow_standby(self, standby: BuildProcess) -> None:
        standby.receive()
        if standby.is_over:
            standby.wait()
            self._standby = None
        self._begin_background()

    def _build(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Have a process build, the one standing by if it may, and yield its reports."""
        self._leave_background()
        changed = request.pop("changed")
        standby, self._standby = self._standby, None
        if standby is not None:
            if standby.request == request and standby.is_current(changed):
                yield from standby.reports()
                return
            standby.end()
        if refusal := _refusal():
            yield refusal
            return
        process = BuildProcess(request, self._client)
        process.go_on(None)
        yield from process.reports()

    def _begin_background(self) -> None:
        """Begin what is to be built in the background, once a build stands by for a save."""
        is_preparing = self._standby is not None and not self._standby.is_ready
        if self._next_background is None or is_preparing:
            return
        request, self._next_background = self._next_background, None
        if refusal := _refusal():
            self._send({"background": True, **refusal})
            return
        self._background = BuildProcess(request, self._client)
        self._background.go_on(None)

    def _follow_background(self, background: BuildProcess) -> None:
        was_writing = background.is_writing
        background.receive()
        if background.is_writing and not was_writing:
            background.go_on(None)
        if background.is_over:
            self._background = None
            self._send({"background": True, **background.outcome()})

    def _leave_background(self) -> None:
        """End the build in the background, or wait for its end if it is writing."""
        background, self._background, self._next_background = self._background, None, None
        if background is not None and background.is_writing:
            for _ in background.reports():
                pass
        elif background is not None:
            background.end()


def _refusal() -> dict[str, Any]:
    """Return the report that no build can be forked now, with the reason; an empty one if it can.

    A module that builds import may have started a thread when it was loaded here.
    """
    number = thread_count()
    return {} if number == 1 else {"cannot_fork": f"the build server has {number} threads, not one"}


class BuildProcess:
    """A process that prepares a build, and builds when it is told what has changed.

    It has two pipes: one on which it is told to go on, and one for its messages.
    """

    _ends: ClassVar[set[int]] = set()
    """This process's ends of the pipes of all its children, which none of them inherits."""

    def __init__(self, request: dict[str, Any], client: socket.socket) -> None:
        self.request = request
        self.is_ready = False
        self.is_writing = False
        self.is_over = False
        self._client = client
        self._rest = b""
        self._last: dict[str, Any] = {}
        self._messages_end, messages = os.pipe()
        control, self._control_end = os.pipe()
        self._ends.update((self._messages_end, self._control_end))
        self._messages = self._receive_all()
        server = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            for end in self._ends:
                os.close(end)
            _be_the_build(request, client, control, messages, server)
        # The child alone has these, so that their end is seen when it ends.
        os.close(control)
        os.close(messages)

    def fileno(self) -> int:
        """Return where its messages come from."""
        return self._messages_end

    def go_on(self, changed: list[str] | None) -> None:
        """Let it go on, with the files that have changed; None if it had read none before."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control_end, json.dumps(changed).encode() + b"\n")

    def receive(self) -> list[dict[str, Any]]:
        """Return the reports in what it has sent; the last of all is its final one."""
        piece = os.read(self._messages_end, 1 << 16)
        self.is_over = not piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        messages = []
        for message in map(json.loads, lines):
            if "is_ready" in message:
                self.is_ready = True
            elif "is_writing" in message:
                self.is_writing = True
            else:
                messages.append(message)
                self._last = {} if message.get("is_early") else message
        return messages

    def is_current(self, changed: list[str]) -> bool:
        """Let it go on, and return whether it builds: what it has read may have changed."""
        self.go_on(changed)
        return bool(next(self._messages, {}).get("is_current"))

    def reports(self) -> Iterator[dict[str, Any]]:
        """Yield its reports; if it ended without a final one, how it ended instead."""
        yield from (message for message in self._messages if message.get("is_early"))
        yield self.outcome()

    def outcome(self) -> dict[str, Any]:
        """Return its final report, once it is over."""
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
        for end in (self._messages_end, self._control_end):
            os.close(end)
            self._ends.discard(end)
        return status

    def _receive_all(self) -> Iterator[dict[str, Any]]:
        """Yield all its reports, unless whoever asked for it goes away."""
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            selector.register(self._client, selectors.EVENT_READ)
            while not self.is_over:
                if any(key.fileobj is self._client for key, _ in selector.select()):
                    self.end()
                    os._exit(0)  # and so end those in the background
                yield from self.receive()


def _be_the_build(
    request: dict[str, Any], client: socket.socket, control: int, messages: int, server: int
) -> NoReturn:
    try:
        os.setsid()  # what the build starts is in its group, and is killed with it
        die_with(server)
        os.close(client.detach())
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[:] = request["path"]
        importlib.invalidate_caches()
        before = frozenset(sys.modules)
        from sphinx_drift.live.build import build  # noqa: PLC0415 - the child alone may import it

        with (
            open(control, encoding="ascii") as instructions,
            open(messages, "w", encoding="ascii") as answers,
        ):

            def send(message: dict[str, Any]) -> None:
                answers.write(json.dumps(message) + "\n")
                answers.flush()

            report = build(
                **request["build"],
                before=before,
                wait=lambda: json.loads(next(instructions)),
                send=send,
            )
            send(report)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - never back into the loop of the server
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(1)
