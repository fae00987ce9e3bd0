"""A build's process as the build server has it: forked with two pipes, let go on, and reaped."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import signal
import sys
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

# Not by the package's name: the build server may not import it.
from ..run.processes import die_with  # noqa: TID252

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that the build server ignores, and a build does not."""


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
        for number in IGNORED:
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
