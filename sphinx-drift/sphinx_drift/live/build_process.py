"""A build's process as the build server has it: forked with a pipe, let go on, and reaped."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

# Not by the package's name: the build server may not import it.
from ..run.processes import die_with  # noqa: TID252

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that the build server ignores, and a build does not."""


def receive(end: Connection) -> dict[str, Any]:
    """Return the next message; an empty one if the process at the other end is gone."""
    try:
        message: dict[str, Any] = end.recv()
    except (EOFError, OSError):
        return {}
    return message


class BuildProcess:
    """A process that prepares a build, and builds when it is told what has changed."""

    _ends: ClassVar[set[Connection]] = set()
    """This process's ends of the pipes of all its children, which none of them inherits."""

    def __init__(self, request: dict[str, Any], client: Connection) -> None:
        self.request = request
        self.is_ready = False
        self.is_writing = False
        self.is_over = False
        self._client = client
        self._final: dict[str, Any] = {}
        self.connection, theirs = Pipe()
        self._ends.add(self.connection)
        server = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            for end in self._ends:
                end.close()
            _be_the_build(request, client, theirs, server)
        theirs.close()  # the child alone has it, so that its end is seen when it ends

    def go_on(self, changed: list[str] | None) -> None:
        """Let it go on, with the files that have changed; None if it had read none before."""
        with contextlib.suppress(OSError):  # that it is gone is seen when it is read from
            self.connection.send(changed)

    def receive(self) -> dict[str, Any]:
        """Take in its next message, and return it; an empty one once it is over."""
        message = receive(self.connection)
        self.is_over = not message
        self.is_ready |= "is_ready" in message
        self.is_writing |= "is_writing" in message
        if "failures" in message and "is_early" not in message:
            self._final = message
        return message

    def is_current(self, changed: list[str]) -> bool:
        """Let it go on, and return whether it builds: what it has read may have changed."""
        self.go_on(changed)
        return any(message.get("is_current") for message in self._messages())

    def reports(self) -> Iterator[dict[str, Any]]:
        """Yield its reports; if it ended without a final one, how it ended instead."""
        yield from (message for message in self._messages() if "is_early" in message)
        yield self.outcome()

    def outcome(self) -> dict[str, Any]:
        """Return its final report, once it is over."""
        status = self.wait()
        return {"died": status} if status or not self._final else self._final

    def end(self) -> None:
        """End it before it has done anything, or in the middle."""
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Wait for its end, and end whatever it left running."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self.connection.close()
        self._ends.remove(self.connection)
        return status

    def _messages(self) -> Iterator[dict[str, Any]]:
        """Yield its messages until it is over, unless whoever asked for it goes away."""
        while not self.is_over:
            if self._client in wait([self.connection, self._client]):
                self.end()
                os._exit(0)  # and so end those in the background
            yield self.receive()


def _be_the_build(
    request: dict[str, Any], client: Connection, end: Connection, server: int
) -> NoReturn:
    try:
        os.setsid()  # what the build starts is in its group, and is killed with it
        die_with(server)
        client.close()
        for number in IGNORED:
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[:] = request["path"]
        importlib.invalidate_caches()
        before = frozenset(sys.modules)
        from sphinx_drift.live.build import build  # noqa: PLC0415 - the child alone may import it

        end.send(build(**request["build"], before=before, wait=end.recv, send=end.send))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - never back into the loop of the server
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(1)
