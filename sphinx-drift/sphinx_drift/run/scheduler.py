"""Decides in the fork server which page is forked when, and passes on what the children send."""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import socket
import struct
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from .page_process import DESCRIPTORS, PageProcess
from .processes import kill_group, thread_count
from .protocol import Frames, pack

if TYPE_CHECKING:
    from collections.abc import Callable

_CREDENTIALS = struct.Struct("3i")

_READY_AHEAD = 3
"""Pages that may be ready before Sphinx wants them while every core runs pages."""

_MOST_STALLED = 8
"""Pages that may wait to be told whether to go on after an error, before Sphinx wants them."""

_MOST_BUFFERED = 1 << 28
"""Bytes of outputs that are kept for Sphinx before pages wait for it."""

_OTHER_DESCRIPTORS = 64


def affordable_slots(slots: int) -> int:
    """Return how many pages may run at a time with the descriptors that a process may have."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    children = (most - _OTHER_DESCRIPTORS) // DESCRIPTORS
    return max(1, min(slots, (children - _MOST_STALLED) // 2))  # as many again may come to stall


class Job:
    """One page, from when it is asked for until all its messages are delivered."""

    def __init__(self, key: str, task: dict[str, Any], owner: socket.socket) -> None:
        self.key = key
        self.task = task
        self.owner = owner
        self.is_fetched = False
        self.may_raise: set[int] = set()
        """Known once it is fetched."""
        self.messages: list[bytes] = []
        self.size = 0
        """Bytes of them."""
        self.process: PageProcess | None = None
        self.raised: int | None = None
        """The cell that has raised, until the page is told whether to go on."""
        self.is_over = False


class Scheduler:
    """Takes jobs from connections, forks, and passes on the messages of the children.

    Args:
        server: The socket at which it listens.
        slots: How many pages may run at a time.
        prepare: Does before the fork what is the same for all pages.
        run_page: Runs a page in its child.

    """

    def __init__(
        self,
        server: socket.socket,
        slots: int,
        prepare: Callable[[dict[str, Any]], None],
        run_page: Callable[[dict[str, Any], dict[str, int]], None],
    ) -> None:
        self.server = server
        self.slots = slots
        self._prepare = prepare
        self._run_page = run_page
        self._connections: set[socket.socket] = set()
        self.jobs: list[Job] = []
        self._waiting: deque[Job] = deque()
        self.running: list[Job] = []
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Serve until standard input closes, or the guard is gone."""
        self._guard = os.pidfd_open(os.getppid())
        for end in (0, self._guard):
            self._selector.register(end, selectors.EVENT_READ, self._shut_down)
        self._selector.register(self.server, selectors.EVENT_READ, self._accept)
        while True:
            for key, _ in self._selector.select(self._time_left()):
                key.data()
            self._stop_overdue()
            while self._waiting and self.may_fork(self._waiting[0]):
                self._fork(self._waiting.popleft())

    def may_fork(self, job: Job) -> bool:
        """Return whether there is a core for one more page.

        Sphinx, which reads the pages, has one for itself once others are ready: it would else lag
        behind, and go on alone at the end.
        """
        # One that waits to be told whether to go on does not run: it waits for Sphinx, and so do
        # others then, but not one that Sphinx itself waits for.
        stalled = sum(job.raised is not None for job in self.running)
        computing = len(self.running) - stalled
        if computing >= self.slots:
            return False  # asked at each event, so the sums over all pages come after this
        if not job.is_fetched:
            buffered = sum(job.size for job in self.jobs)
            if stalled >= _MOST_STALLED or buffered >= _MOST_BUFFERED:
                return False
        ready = sum(job.is_over for job in self.jobs)
        return computing < (self.slots if ready < _READY_AHEAD else max(1, self.slots - 1))

    def _shut_down(self) -> None:
        """End, and take all children along."""
        pids = [job.process.pid for job in self.running if job.process]
        for pid in pids:
            kill_group(pid)
        for pid in pids:
            os.waitpid(pid, 0)
        os._exit(0)

    # Connections ----------------------------------------------------------------------

    def _accept(self) -> None:
        connection, _ = self.server.accept()
        size = _CREDENTIALS.size
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        if _CREDENTIALS.unpack(peer)[1] != os.getuid():
            connection.close()  # an abstract socket can be reached by every user
            return
        frames = Frames()

        def read() -> None:
            try:
                piece = connection.recv(1 << 16)
            except OSError:
                piece = b""
            if not piece:
                self._disconnect(connection)
                return
            for message, _ in frames.feed(piece):
                self._handle(connection, message)

        self._connections.add(connection)
        self._selector.register(connection, selectors.EVENT_READ, read)

    def _handle(self, connection: socket.socket, message: dict[str, Any]) -> None:
        """Queue jobs, or give a connection the one that it asks for."""
        if message["do"] == "fetch":
            self._fetch(connection, message)
            return
        for key, cells, way in message["jobs"]:
            self._add(key, {"cells": cells, **message["ways"][way]}, connection)

    def _fetch(self, connection: socket.socket, message: dict[str, Any]) -> None:
        """Give a connection the job that it has a key of, or a new one."""
        # Of two pages that are equal, each is run.
        queued = (job for job in self.jobs if not job.is_fetched)
        job = next((job for job in queued if job.key == message["key"]), None)
        if job is None:
            job = self._add(message["key"], message["job"], connection)
        job.owner, job.is_fetched = connection, True
        job.may_raise = set(message["may_raise"])
        if job in self._waiting:
            self._waiting.remove(job)
            self._waiting.appendleft(job)
        if job.raised is not None:
            self._answer(job)
        self._deliver(job)

    def _add(self, key: str, task: dict[str, Any], owner: socket.socket) -> Job:
        job = Job(key, task, owner)
        self.jobs.append(job)
        self._waiting.append(job)
        return job

    def _disconnect(self, connection: socket.socket) -> None:
        """Forget a connection that is closed, drop its jobs, and kill their children."""
        self._selector.unregister(connection)
        self._connections.remove(connection)
        connection.close()
        for job in [job for job in self.jobs if job.owner is connection]:
            self.jobs.remove(job)
            if job in self._waiting:
                self._waiting.remove(job)
            if job.process:
                kill_group(job.process.pid)  # it is reaped as any other that ends

    def _deliver(self, job: Job) -> None:
        """Send the messages of a finished job to whoever has fetched it."""
        if not (job.is_over and job.is_fetched and job in self.jobs):
            return
        self.jobs.remove(job)
        with contextlib.suppress(OSError):  # who is gone is noticed when it is read from
            job.owner.sendall(b"".join(job.messages))

    # Children -------------------------------------------------------------------------

    def _fork(self, job: Job) -> None:
        if (number := thread_count()) != 1:
            reason = f"the fork server has {number} threads, not one"
            self._finish(job, {"type": "cannot_fork", "reason": reason})
            return
        self._prepare(job.task)
        try:
            process = PageProcess(job.task, self._run_page, self._close_in_child)
        except OSError as error:
            reason = f"the fork server can't fork: {error}"
            self._finish(job, {"type": "cannot_fork", "reason": reason})
            return
        job.process = process
        self._reset_deadline(job)  # what runs before the first cell may hang too
        self.running.append(job)
        self._selector.register(
            process.events, selectors.EVENT_READ, lambda: self._read(job, process)
        )
        self._selector.register(
            process.watcher, selectors.EVENT_READ, lambda: self._reap(job, process)
        )

    def _close_in_child(self) -> None:
        """Close what a child has inherited: it would keep connections and pipes open after us."""
        self._selector.close()
        for end in (self.server, *self._connections):
            end.close()
        os.close(self._guard)
        for other in self.running:
            if other.process:
                other.process.close()

    def _read(self, job: Job, process: PageProcess) -> None:
        if job.process is None:
            return  # reaped by an event of the same round
        piece = os.read(process.events, 1 << 20)
        if not piece or not self._keep(job, process, piece):
            self._selector.unregister(process.events)

    def _keep(self, job: Job, process: PageProcess, piece: bytes) -> bool:
        """Keep what a child sends; end it, and it alone, if that is no message or too much."""
        try:
            for message, whole in process.frames.feed(piece):
                if not process.allowance.admits(message, len(whole)):
                    process.stop({"type": "excess"})
                    return False
                job.messages.append(whole)
                job.size += len(whole)
                self._note(job, process, message)
        except (LookupError, RecursionError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            process.stop({"type": "garbled", "reason": reason})
            return False
        return True

    def _note(self, job: Job, process: PageProcess, message: dict[str, Any]) -> None:
        """Follow a page from cell to cell: each has its time, and one that raised has to wait."""
        if message["type"] == "cell":
            self._reset_deadline(job)
        elif message["type"] == "ended":
            self._reset_deadline(job)  # what a cell left to be done may not take forever either
            if message["status"] != "ok":
                process.deadline = None
                job.raised = message["index"]
                self._answer(job)

    def _answer(self, job: Job) -> None:
        """Tell a page whose cell raised whether to go on, once somebody has asked for it."""
        if not job.is_fetched or job.process is None:
            return
        self._reset_deadline(job)
        job.process.answer(go_on=job.raised in job.may_raise)
        job.raised = None

    def _reap(self, job: Job, process: PageProcess) -> None:
        """Take in the last messages of a child that has ended, and end all that it had started."""
        kill_group(process.pid)  # its number is no other's until it is waited for
        if process.events in self._selector.get_map():
            while (piece := process.rest()) and self._keep(job, process, piece):
                pass
            self._selector.unregister(process.events)
        self._selector.unregister(process.watcher)
        self.running.remove(job)
        job.process = None
        self._finish(job, process.reap())

    def _finish(self, job: Job, message: dict[str, Any]) -> None:
        job.messages.append(pack(message))
        job.is_over = True
        self._deliver(job)

    # Time -----------------------------------------------------------------------------

    def _time_left(self) -> float | None:
        """Return how long nothing may happen before a cell has taken too long."""
        deadlines = [deadline for _, deadline in self._deadlines()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _deadlines(self) -> list[tuple[PageProcess, float]]:
        processes = (job.process for job in self.running)
        return [(each, each.deadline) for each in processes if each and each.deadline]

    def _reset_deadline(self, job: Job) -> None:
        """Let a page go on for as long as a cell may take."""
        if job.process and job.task["timeout"] is not None:
            job.process.deadline = time.monotonic() + job.task["timeout"]

    def _stop_overdue(self) -> None:
        now = time.monotonic()
        for process, deadline in self._deadlines():
            if deadline <= now:
                process.stop({"type": "timeout"})
