"""The helper process: it has torch and IPython loaded, and forks a child for each page.

It is started by its path, and imports third-party packages and the files beside it only: a child
that inherited the book's own modules would run yesterday's code. It has one thread, computes
nothing and touches no CUDA: after either, a child would hang in its first operation.

Who owns, ends and closes what:

- **The helper** belongs to the process that started it, which holds the other end of its standard
  input and ends it by closing that end.
- **The guard** is the helper's parent, and small. When the helper is gone, however it went, what
  its pages had started becomes the child of the guard: it kills that, and ends. A helper whose
  guard is gone ends too.
- **A job** belongs to a connection: to the one that queued it, then to the one that fetched it. At
  the end of a connection its jobs are dropped, and their children killed. So nothing outlives the
  build that asked for it, whether it hangs up or is killed.
- **A child** is killed with its process group by the helper, and by the kernel if the helper dies.
  It closes all descriptors of the helper but the ends of its own four pipes; what it forks closes
  those on which it speaks with the helper, too. What it writes is counted here, and what is no
  message ends it alone.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import importlib.util
import io
import os
import resource
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
_PR_SET_CHILD_SUBREAPER = 36

_AHEAD = 3
"""Pages that may be ready before Sphinx wants them while every core runs pages."""

_STALLED = 8
"""Pages that may wait to be told whether to go on after an error, before Sphinx wants them."""

_KEPT = 1 << 28
"""Bytes of outputs that are kept for Sphinx before pages wait for it."""

_ROOM = 1 << 20
"""Bytes beyond its limit that a child may write: it stops itself, and says why, before."""

_DESCRIPTORS = 4
"""Descriptors that the helper has of a child."""
_OTHER_DESCRIPTORS = 64


def main() -> None:
    """Load what pages need, then serve until whoever started this is gone."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--socket", type=int, required=True)
    arguments.add_argument("--preload", nargs="*", default=[])
    arguments.add_argument("--slots", type=int, required=True)
    arguments.add_argument("--guarded", action="store_true", help="there is a guard already")
    given = arguments.parse_args()
    # Whoever started this decides when it ends: by closing standard input.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    inherited = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    if not given.guarded:
        _leave_a_guard(given.socket)
    gc.disable()  # what is loaded stays: looking for waste in it takes a third of the time
    wire, limit, page = map(_beside, ("protocol", "limit", "child"))
    page.INHERITED.update(inherited)
    _preload(given, inherited, page.HIDDEN.load)
    kernel = page.make_kernel()
    # What a fresh process would have: the children's own environment comes with each job.
    os.environ.pop("OPENBLAS_NUM_THREADS", None)
    gc.freeze()
    gc.enable()
    server = socket.socket(fileno=given.socket)
    Helper(server, _affordable(given.slots), wire, limit, page, kernel).serve()


def _affordable(slots: int) -> int:
    """Return how many pages may run at a time with the descriptors that a process may have."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    children = (most - _OTHER_DESCRIPTORS) // _DESCRIPTORS
    return max(1, min(slots, (children - _STALLED) // 2))  # as many again may come to stall


# The guard ----------------------------------------------------------------------------


def _leave_a_guard(listening: int) -> None:
    """Go on in a child; its parent ends what the pages of a helper that is gone had started."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    helper = os.fork()
    if helper == 0:
        return
    for fd in (0, listening):  # whoever waits for the helper sees at once that it is gone
        os.close(fd)
    pid = 0
    while pid != helper:
        pid, status = os.wait()  # others are what pages have left, and have ended
    while sum(map(_kill, _children())):  # then those whose parents these were
        with contextlib.suppress(ChildProcessError):
            os.wait()
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _children() -> list[int]:
    """Return the children of this process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                found.append(int(folder.name))
    return found


# The helper ---------------------------------------------------------------------------


def _beside(name: str) -> Any:
    """Load a file beside this one under a name that no page will import."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"_sphinx_drift_{name}", path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[spec.name] = module  # type: ignore[union-attr]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    del module.__file__  # no page depends on it
    return module


def _preload(
    given: argparse.Namespace,
    inherited: dict[signal.Signals, Any],
    load: Callable[[str], None],
) -> None:
    """Import modules; start over without one that says something, which pages must show."""
    for name in given.preload:
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
            rest = [other for other in given.preload if other != name]
            for number, handler in inherited.items():
                signal.signal(number, handler)
            words = [sys.argv[0], "--guarded", "--socket", str(given.socket)]
            words += ["--slots", str(given.slots), "--preload", *rest]
            os.execv(sys.executable, [sys.executable, "-P", *words])  # noqa: S606


def _shown(warning: warnings.WarningMessage) -> bool:
    """Tell whether Python shows a warning of its kind that a library's own import gives."""
    hidden = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    return not issubclass(warning.category, hidden)


class Job:
    """One page, from when it is asked for until all is delivered."""

    def __init__(self, key: str, task: dict[str, Any], owner: socket.socket) -> None:
        self.key = key
        self.task = task
        self.owner = owner
        self.fetched = False
        self.may_raise: set[int] = set()
        """Known once it is fetched."""
        self.log: list[bytes] = []
        self.size = 0
        self.child: Child | None = None
        self.raised: int | None = None
        self.over = False


class Child:
    """A running page: its process, and the ends of its pipes."""

    def __init__(self, pid: int, fds: dict[str, int], frames: Any, allowance: Any) -> None:
        self.pid = pid
        self.fds = fds
        self.frames = frames
        self.allowance = allowance
        self.watcher = os.pidfd_open(pid)
        self.deadline: float | None = None
        self.ending: dict[str, Any] = {"type": "over"}
        """What its page is told of its end."""


class Helper:
    """Takes jobs from connections, forks, and passes on what children tell."""

    def __init__(  # noqa: PLR0913, PLR0917 - the modules are loaded by path
        self, server: socket.socket, slots: int, wire: Any, limit: Any, page: Any, kernel: Any
    ) -> None:
        self.server = server
        self.slots = slots
        self.wire = wire
        self.limit = limit
        self.page = page
        self.kernel = kernel
        self.connections: set[socket.socket] = set()
        self.jobs: list[Job] = []
        self.queued: dict[str, Job] = {}
        """Those that nobody has fetched yet, by their keys."""
        self.waiting: deque[Job] = deque()
        self.running: list[Job] = []
        self.selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Serve until standard input closes, or the guard is gone."""
        guard = os.pidfd_open(os.getppid())
        for end in (0, guard):
            self.selector.register(end, selectors.EVENT_READ, self._leave)
        self.selector.register(self.server, selectors.EVENT_READ, self._accept)
        while True:
            for key, _ in self.selector.select(self._patience()):
                key.data()
            self._stop_late()
            while self.waiting and self._may_fork(self.waiting[0]):
                self._fork(self.waiting.popleft())

    def _may_fork(self, job: Job) -> bool:
        """Tell whether there is a core for one more page.

        Sphinx, which reads the pages, has one for itself once others are ready: it would else lag
        behind, and go on alone at the end.
        """
        # One that waits to be told whether to go on does not run: it waits for Sphinx, and so do
        # others then, but not one that Sphinx itself waits for.
        stalled = sum(job.raised is not None for job in self.running)
        computing = len(self.running) - stalled
        if computing >= self.slots:
            return False  # asked at each event, so the sums over all pages come after this
        if not job.fetched:
            kept = sum(job.size for job in self.jobs)
            if stalled >= _STALLED or kept >= _KEPT:
                return False
        ready = sum(job.over for job in self.jobs)
        return computing < (self.slots if ready < _AHEAD else max(1, self.slots - 1))

    def _leave(self) -> None:
        """Take all children along."""
        children = [job.child.pid for job in self.running if job.child]
        for pid in children:
            _kill_all(pid)
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

        self.connections.add(connection)
        self.selector.register(connection, selectors.EVENT_READ, read)

    def _obey(self, connection: socket.socket, message: dict[str, Any]) -> None:
        if message["do"] == "fetch":
            self._fetch(connection, message)
            return
        for key, cells, way in message["jobs"]:
            job = self._add(key, {"cells": cells, **message["ways"][way]}, connection)
            self.queued[key] = job
        with contextlib.suppress(OSError):  # the answer: all is loaded, and pages begin
            connection.sendall(self.wire.pack({"type": "begun"}))

    def _fetch(self, connection: socket.socket, message: dict[str, Any]) -> None:
        """Give a connection the job that it has a key of, or a new one."""
        # A job that is fetched has left the queue: of two pages that are equal, each is run.
        job = self.queued.pop(message["key"], None)
        if job is None:
            job = self._add(message["key"], message["job"], connection)
        job.owner, job.fetched = connection, True
        job.may_raise = set(message["may_raise"])
        if job in self.waiting:
            self.waiting.remove(job)
            self.waiting.appendleft(job)
        if job.raised is not None:
            self._answer(job)
        self._deliver(job)

    def _add(self, key: str, task: dict[str, Any], owner: socket.socket) -> Job:
        job = Job(key, task, owner)
        self.jobs.append(job)
        self.waiting.append(job)
        return job

    def _hang_up(self, connection: socket.socket) -> None:
        """Forget whoever is gone, and drop the jobs that were theirs."""
        self.selector.unregister(connection)
        self.connections.remove(connection)
        connection.close()
        for job in [job for job in self.jobs if job.owner is connection]:
            self.jobs.remove(job)
            self.queued.pop(job.key, None)
            if job in self.waiting:
                self.waiting.remove(job)
            if job.child:
                _kill_all(job.child.pid)

    def _deliver(self, job: Job) -> None:
        """Send what a finished job told to whoever has fetched it."""
        if not (job.over and job.fetched and job in self.jobs):
            return
        self.jobs.remove(job)
        with contextlib.suppress(OSError):
            job.owner.sendall(b"".join(job.log))

    # Children -------------------------------------------------------------------------

    def _fork(self, job: Job) -> None:
        threads = len(list(Path("/proc/self/task").iterdir()))
        if threads != 1:
            self._finish(
                job, {"type": "unfit", "why": f"the helper has {threads} threads, not one"}
            )
            return
        self.page.prepare(job.task)
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
        limit = job.task["output_limit"] + _ROOM
        allowance = self.limit.Allowance(limit)
        job.child = child = Child(pid, mine, self.wire.Frames(limit), allowance)
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
            for end in (self.server, *self.connections):
                end.close()
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
            self.page.run_page(self.kernel, job.task, fds, self.wire, self.limit)
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
        if not piece or not self._keep(job, child, piece):
            self.selector.unregister(child.fds["events"])

    def _keep(self, job: Job, child: Child, piece: bytes) -> bool:
        """Keep what a child tells; end it, and it alone, if that is no message or too much."""
        try:
            for message, whole in child.frames.feed(piece):
                if not child.allowance.admits(message, len(whole)):
                    self._stop(child, {"type": "excess"})
                    return False
                job.log.append(whole)
                job.size += len(whole)
                self._follow(job, child, message)
        except (LookupError, RecursionError, TypeError, ValueError) as error:
            self._stop(child, {"type": "garbled", "why": f"{type(error).__name__}: {error}"})
            return False
        return True

    def _follow(self, job: Job, child: Child, message: dict[str, Any]) -> None:
        """Do what a message asks for."""
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
        if not job.fetched or job.child is None:
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
        _kill_all(child.pid)  # its number is no other's until it is waited for
        if child.fds["events"] in self.selector.get_map():
            os.set_blocking(child.fds["events"], False)
            with contextlib.suppress(BlockingIOError):
                while piece := os.read(child.fds["events"], 1 << 20):
                    if not self._keep(job, child, piece):
                        break
            self.selector.unregister(child.fds["events"])
        os.set_blocking(child.fds["err"], False)
        words = b""
        with contextlib.suppress(BlockingIOError):
            words = os.read(child.fds["err"], 1 << 16)
        self.selector.unregister(child.watcher)
        for fd in (*child.fds.values(), child.watcher):
            os.close(fd)
        _, status = os.waitpid(child.pid, 0)
        self.running.remove(job)
        job.child = None
        last = {
            "status": os.waitstatus_to_exitcode(status),
            "words": words.decode(errors="replace"),
        }
        self._finish(job, {**child.ending, **last})

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
        if job.child and job.task["timeout"] is not None:
            job.child.deadline = time.monotonic() + job.task["timeout"]

    def _stop_late(self) -> None:
        now = time.monotonic()
        for job in self.running:
            if job.child and job.child.deadline and job.child.deadline <= now:
                self._stop(job.child, {"type": "timeout"})

    def _stop(self, child: Child, ending: dict[str, Any]) -> None:
        """Kill a child, and tell its page why."""
        child.ending, child.deadline = ending, None
        _kill_all(child.pid)


def _kill_all(pid: int) -> None:
    """Kill a child with what it has started."""
    _kill(pid)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def _kill(pid: int) -> bool:
    """Kill a process, and tell whether that can be done."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


if __name__ == "__main__":
    main()
