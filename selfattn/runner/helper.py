"""The helper process: it has torch and IPython loaded, and forks a child for each page.

It is started by its path, and imports third-party packages and the two files beside it only: a
child that inherited the book's own modules would run yesterday's code. It has one thread, computes
nothing and touches no CUDA: after either, a child would hang in its first operation.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import importlib.util
import io
import itertools
import os
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_CREDENTIALS = struct.Struct("3i")
_PR_SET_PDEATHSIG = 1

_AHEAD = 3
"""Pages that may be ready before Sphinx wants them while every core runs pages."""


def main() -> None:
    """Load what pages need, then serve until whoever started this is gone."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--socket", type=int, required=True)
    arguments.add_argument("--preload", nargs="*", default=[])
    arguments.add_argument("--slots", type=int, required=True)
    given = arguments.parse_args()
    # Whoever started this decides when it ends: by closing standard input.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    inherited = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    gc.disable()  # what is loaded stays: looking for waste in it takes a third of the time
    wire, page = _beside("wire"), _beside("page")
    page.INHERITED.update(inherited)
    _preload(given.preload, inherited, page.HIDDEN.load)
    kernel = page.make_kernel()
    # What a fresh process would have: the children's own environment comes with each job.
    os.environ.pop("OPENBLAS_NUM_THREADS", None)
    gc.freeze()
    gc.enable()
    Helper(socket.socket(fileno=given.socket), given.slots, wire, page, kernel).serve()


def _beside(name: str) -> Any:
    """Load a file beside this one under a name that no page will import."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"_selfattn_runner_{name}", path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[spec.name] = module  # type: ignore[union-attr]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    del module.__file__  # no page depends on it
    return module


def _preload(
    names: list[str], inherited: dict[signal.Signals, Any], load: Callable[[str], None]
) -> None:
    """Import modules; start over without one that says something, which pages must show."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            continue
        said = io.StringIO()
        with (
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            warnings.simplefilter("default")
            load(name)
        if said.getvalue() or [w for w in warned if _shown(w)]:
            rest = [other for other in names if other != name]
            for number, handler in inherited.items():
                signal.signal(number, handler)
            words = [*sys.argv[: sys.argv.index("--preload")], "--preload", *rest]
            os.execv(sys.executable, [sys.executable, "-P", *words])  # noqa: S606


def _shown(warning: warnings.WarningMessage) -> bool:
    """Tell whether Python shows a warning of its kind that a library's own import gives."""
    hidden = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    return not issubclass(warning.category, hidden)


class Job:
    """One page, from when it is asked for until all is told."""

    def __init__(self, key: str, said: dict[str, Any]) -> None:
        self.key = key
        self.said = said
        self.log: list[bytes] = []
        self.asker: socket.socket | None = None
        self.may_raise: set[int] | None = None
        self.child: Child | None = None
        self.raised: int | None = None
        self.over = False


class Child:
    """A running page: its process, and the ends of its pipes."""

    def __init__(self, pid: int, fds: dict[str, int], frames: Any) -> None:
        self.pid = pid
        self.fds = fds
        self.frames = frames
        self.watcher = os.pidfd_open(pid)
        self.deadline: float | None = None
        self.timed_out = False


class Helper:
    """Takes jobs from connections, forks, and passes on what children tell."""

    def __init__(
        self, server: socket.socket, slots: int, wire: Any, page: Any, kernel: Any
    ) -> None:
        self.server = server
        self.slots = slots
        self.wire = wire
        self.page = page
        self.kernel = kernel
        self.jobs: dict[str, Job] = {}
        self.waiting: deque[Job] = deque()
        self.running: list[Job] = []
        self.more = itertools.count()
        self.selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Serve until standard input closes."""
        self.selector.register(0, selectors.EVENT_READ, self._leave)
        self.selector.register(self.server, selectors.EVENT_READ, self._accept)
        while True:
            for key, _ in self.selector.select(self._patience()):
                key.data()
            self._stop_late()
            while self.waiting and self._may_fork():
                self._fork(self.waiting.popleft())

    def _may_fork(self) -> bool:
        """Tell whether there is a core for one more page.

        Sphinx, which reads the pages, has one for itself once others are ready: it would else lag
        behind, and go on alone at the end.
        """
        # One that waits to be told whether to go on does not run.
        busy = sum(job.raised is None for job in self.running)
        ready = sum(job.over for job in self.jobs.values())
        return busy < (self.slots if ready < _AHEAD else max(1, self.slots - 1))

    def _leave(self) -> None:
        """Take all children along."""
        children = [job.child.pid for job in self.running if job.child]
        for pid in children:
            _kill(pid)
        for pid in children:
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
        frames = self.wire.Frames()

        def read() -> None:
            try:
                piece = connection.recv(1 << 16)
            except OSError:
                piece = b""
            if not piece:
                self._hang_up(connection)
                return
            for message, _ in frames.feed(piece):
                self._obey(connection, message)

        self.selector.register(connection, selectors.EVENT_READ, read)

    def _obey(self, connection: socket.socket, message: dict[str, Any]) -> None:
        if message["do"] == "queue":
            for key, cells, way in message["jobs"]:
                self._job(key, {"cells": cells, **message["ways"][way]})
            return
        job = self._job(message["key"], message["job"])
        if job.asker:  # of two pages that are equal, each is run
            job = self._job(f"{message['key']} {next(self.more)}", message["job"])
        job.asker = connection
        job.may_raise = set(message["may_raise"])
        if job in self.waiting:
            self.waiting.remove(job)
            self.waiting.appendleft(job)
        if job.raised is not None:
            self._answer(job)
        self._deliver(job)

    def _job(self, key: str, said: dict[str, Any]) -> Job:
        """Return the job of a key that nobody has fetched yet, or a new one."""
        job = self.jobs.get(key)
        if job is None:
            job = self.jobs[key] = Job(key, said)
            self.waiting.append(job)
        return job

    def _hang_up(self, connection: socket.socket) -> None:
        """Forget whoever is gone, with the jobs that nobody else will fetch."""
        self.selector.unregister(connection)
        connection.close()
        for job in [job for job in self.jobs.values() if job.asker is connection]:
            del self.jobs[job.key]
            if job in self.waiting:
                self.waiting.remove(job)
            if job.child:
                _kill(job.child.pid)

    def _deliver(self, job: Job) -> None:
        """Send what a finished job told to whoever asked for it."""
        if not job.over or job.asker is None:
            return
        self.jobs.pop(job.key, None)
        with contextlib.suppress(OSError):
            job.asker.sendall(b"".join(job.log))
        job.asker = None

    # Children -------------------------------------------------------------------------

    def _fork(self, job: Job) -> None:
        threads = len(list(Path("/proc/self/task").iterdir()))
        if threads != 1:
            self._finish(
                job, {"type": "unfit", "why": f"the helper has {threads} threads, not one"}
            )
            return
        self.page.prepare(job.said)
        ends: dict[str, int] = {}
        try:
            for name in ("events", "control", "out", "err"):
                ends[f"{name} read"], ends[f"{name} write"] = os.pipe()
            pid = os.fork()
        except OSError as error:
            for fd in ends.values():
                os.close(fd)
            self._finish(job, {"type": "unfit", "why": f"the helper can't fork: {error}"})
            return
        if pid == 0:
            self._become(job, ends)
        mine = {
            "events": ends.pop("events read"),
            "control": ends.pop("control write"),
            "err": ends.pop("err read"),
        }
        for fd in ends.values():
            os.close(fd)
        job.child = child = Child(pid, mine, self.wire.Frames())
        self.running.append(job)
        self.selector.register(mine["events"], selectors.EVENT_READ, lambda: self._hear(job))
        self.selector.register(child.watcher, selectors.EVENT_READ, lambda: self._bury(job))

    def _become(self, job: Job, ends: dict[str, int]) -> None:
        """Be the child."""
        try:
            helper = os.getppid()
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != helper:
                os._exit(1)
            os.setsid()  # what the page starts is in its group, and goes with it
            self.selector.close()
            self.server.close()
            for other in self.jobs.values():
                if other.asker:
                    other.asker.close()
            for other in self.running:
                for fd in (*other.child.fds.values(), other.child.watcher):  # type: ignore[union-attr]
                    os.close(fd)
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(ends["out write"], 1)
            os.dup2(ends["err write"], 2)
            fds = {
                "events": ends["events write"],
                "control": ends["control read"],
                "out": ends["out read"],
                "err": ends["err read"],
            }
            for name in ("events read", "control write", "out write", "err write"):
                os.close(ends[name])
            self.page.run_page(self.kernel, job.said, fds, self.wire)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - never back into the helper's own loop
            told = {"type": "broken", "why": traceback.format_exc()}
            self.wire.write_all(ends["events write"], self.wire.pack(told))
        finally:
            os._exit(1)

    def _hear(self, job: Job) -> None:
        child = job.child
        if child is None:
            return
        piece = os.read(child.fds["events"], 1 << 20)
        if not piece:
            self.selector.unregister(child.fds["events"])
            return
        for message, whole in child.frames.feed(piece):
            job.log.append(whole)
            if message["type"] == "cell":
                self._give_time(job)
            elif message["type"] == "ended":
                self._give_time(job)  # what a cell left to be done may not take forever either
                if message["status"] != "ok":
                    child.deadline = None
                    job.raised = message["index"]
                    self._answer(job)

    def _answer(self, job: Job) -> None:
        """Tell a page whose cell raised whether to go on, once somebody has asked for it."""
        if job.may_raise is None or job.child is None:
            return
        self._give_time(job)
        go_on = job.raised in job.may_raise
        job.raised = None
        with contextlib.suppress(OSError):
            os.write(job.child.fds["control"], b"+" if go_on else b"-")

    def _bury(self, job: Job) -> None:
        """Take in the last words of a child that is gone, and all that it had started."""
        child = job.child
        assert child is not None  # noqa: S101 - only a running job has a watcher
        _, status = os.waitpid(child.pid, 0)
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        os.set_blocking(child.fds["events"], False)
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(child.fds["events"], 1 << 20):
                job.log += [whole for _, whole in child.frames.feed(piece)]
        os.set_blocking(child.fds["err"], False)
        words = b""
        with contextlib.suppress(BlockingIOError):
            words = os.read(child.fds["err"], 1 << 16)
        for fd in (child.fds["events"], child.watcher):
            with contextlib.suppress(KeyError):
                self.selector.unregister(fd)
        for fd in (*child.fds.values(), child.watcher):
            os.close(fd)
        self.running.remove(job)
        job.child = None
        over = {
            "type": "timeout" if child.timed_out else "over",
            "status": os.waitstatus_to_exitcode(status),
            "words": words.decode(errors="replace"),
        }
        self._finish(job, over)

    def _finish(self, job: Job, message: dict[str, Any]) -> None:
        job.log.append(self.wire.pack(message))
        job.over = True
        self._deliver(job)

    # Time -----------------------------------------------------------------------------

    def _patience(self) -> float | None:
        """Return how long nothing may happen before a cell has taken too long."""
        deadlines = [job.child.deadline for job in self.running if job.child and job.child.deadline]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _give_time(self, job: Job) -> None:
        """Let a page go on for as long as a cell may take."""
        if job.child and job.said["timeout"] is not None:
            job.child.deadline = time.monotonic() + job.said["timeout"]

    def _stop_late(self) -> None:
        now = time.monotonic()
        for job in self.running:
            child = job.child
            if child and child.deadline and child.deadline <= now:
                child.timed_out, child.deadline = True, None
                _kill(child.pid)


def _kill(pid: int) -> None:
    """Kill a child with what it has started."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
