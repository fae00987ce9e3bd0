"""The process that runs a build's pages ahead of Sphinx, and how it is asked.

Sphinx forks readers and writers, and a fork copies no thread: so threads, event loops and kernels
are in this process, which ends when whoever started it does. Whoever needs a page connects to it.
A message is the name of a file, in a folder that only this user can open, or nothing, which is a
sign of life: so outputs wait for Sphinx on the disk, and no message is so long that sending it
could take time. A request begins with a key from that folder; what another user sends, or what is
longer, isn't read.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import pickle
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Client, Listener
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from sphinx_drift.run.choice import SCRATCH, chosen, page_environment
from sphinx_drift.run.results import Ending, Execution, Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from multiprocessing.connection import Connection

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Request

    Page = tuple[NotebookNode, Request, Mapping[str, str]]
    """What `run_page` takes: the cells, how they are run, and in which environment."""

_AHEAD_PER_CORE = 4
"""Pages in flight for each core where kernels are forked: a small page mostly waits for messages.

A kernel that Jupyter starts keeps a core busy with imports, and its threads get in others' way."""
_MEMORY_PER_PAGE = 512 * 2**20
_BEAT = 1.0
"""Seconds between two signs of life."""
_PATIENCE = 120.0
"""Seconds without one after which a page failed."""
_LONGEST_END = 5.0
_FORGOTTEN = 86_400.0
_GRACE = 60.0
"""Seconds that an executor may take to start a machine, besides the time of a page's cells."""
_PAUSE = 0.01
_READY = "ready"
"""The file that shows that the process listens: looked for while it starts."""
_KEY = "key"
"""The file with what each request begins with."""
_LENGTHS = 32, 8
"""Bytes of the key, and of the name of a file."""
_BACKLOG = 4096
"""Clients that a stopped process leaves waiting: more than a book has pages to give up."""


# In the build ------------------------------------------------------------------------------


class Host:
    """The process that runs pages, as its owner sees it, and each process that the owner forks."""

    preload: tuple[str, ...] = ()
    """The libraries that are loaded once for all pages."""
    process: Any = None
    """A :class:`subprocess.Popen`, once it is started."""

    def start(self) -> None:
        """Start it, unless it is; it loads while this process does something else."""
        if self.process:
            return
        chosen()  # refuses what there is not
        self._owner = os.getpid()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}-{self._owner}-"))
        Path(self._folder, _KEY).write_bytes(secrets.token_bytes(_LENGTHS[0]))
        # -P: what lies in the working folder is no library of this process.
        code = f"import sys; sys.path.append({str(Path(__file__).parents[2])!r}); "
        code += "from sphinx_drift.run.host import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, str(self._folder), *self.preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=page_environment(),
            start_new_session=True,  # a terminal's Ctrl-C ends the build, and the build ends this
        )
        # The process ends when its input closes, so what is forked must not keep a copy open.
        if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
            os.register_at_fork(after_in_child=self.process.stdin.close)

    def ask(self, *request: Any) -> Any:
        """Return the answer to a request, once there is one.

        - ``"queue", executor, sys.path, pages``: have pages run, in this order; those that were
          queued before and never asked for are dropped. The executor is the function that returns
          it, ``module:function``, and nothing for ours. The answer is what is wrong with it.
        - ``"run", page``: the answer is the page with its outputs and how it ended: the one that
          was queued, or one run now.

        Raises:
            ConnectionError: If the process is gone, or gives no sign of life.

        """
        self.start()
        # Waits are counted, not time: who was asleep with the whole machine has missed no sign.
        silence = 0.0
        try:
            name = _keep(self._folder, request)
            while not Path(self._folder, _READY).exists() and silence < _PATIENCE:
                if os.getpid() == self._owner and self.process.poll() is not None:
                    break  # nobody will answer
                time.sleep(_PAUSE)
                silence += _PAUSE
            with Client(_address(self._folder)) as connection:
                connection.send_bytes(Path(self._folder, _KEY).read_bytes() + name)
                while silence < _PATIENCE:
                    if not connection.poll(_BEAT):
                        silence += _BEAT
                    elif name := connection.recv_bytes():
                        return _take(self._folder, name)
                    else:
                        silence = 0.0
        except (EOFError, ConnectionError, FileNotFoundError) as error:
            raise ConnectionError("the process that runs pages is gone") from error
        raise ConnectionError("the process that runs pages gave no sign of life")

    def close(self) -> None:
        """End it, and its kernels with it."""
        process, self.process = self.process, None
        if process is None or os.getpid() != self._owner:
            return
        process.stdin.close()
        try:
            process.wait(_LONGEST_END)
        except subprocess.TimeoutExpired:  # it was stopped, say
            process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


HOST = Host()
"""The one of this process."""
atexit.register(HOST.close)


def _address(folder: Path) -> str:
    """Return where the process listens: on Linux, where no folder's path is too long for it."""
    if sys.platform == "win32":
        return rf"\\.\pipe\{folder.name}"
    return f"\0{folder.name}" if sys.platform == "linux" else str(folder / "socket")


def _keep(folder: Path, content: Any) -> bytes:
    """Write something into a file, and return the file's name."""
    name = secrets.token_bytes(_LENGTHS[1])
    Path(folder, name.hex()).write_bytes(pickle.dumps(content))
    return name


def _is_ours(connection: Connection) -> bool:
    """Whether the other end belongs to this user, where the system tells."""
    if sys.platform != "linux":  # there the folder, or the pipe, is this user's alone
        return True
    with socket.socket(fileno=os.dup(connection.fileno())) as end:
        size = struct.calcsize("3i")
        peer = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return int(peer[1]) == os.getuid()


def _take(folder: Path, name: bytes) -> Any:
    path = folder / name.hex()
    content = pickle.loads(path.read_bytes())  # noqa: S301 - only this user can write there
    path.unlink()
    return content


# In the process itself ---------------------------------------------------------------------


def main() -> None:
    """Run pages until whoever started this is gone."""
    folder, libraries = Path(sys.argv[1]), sys.argv[2:]
    threading.Thread(target=_serve, args=[folder, libraries], daemon=True).start()
    os.read(0, 1)  # not `sys.stdin`: what an executor forks closes that, and would wait for it
    os.dup2(1, 2)  # nobody reads what threads complain of now
    from forked_kernels import fork_server, provisioner  # noqa: PLC0415 - it takes time

    try:
        provisioner.close_servers()
        if sys.platform == "linux":  # what has left its group, if the fork server was killed
            fork_server.kill_children()
        ended = folder.rename(f"{folder}-ended")  # nothing more is written there
        for each in (ended, *Path(tempfile.gettempdir()).glob(f"{SCRATCH}-{os.getpid()}-*")):
            shutil.rmtree(each, ignore_errors=True)
    finally:
        os._exit(0)


def _serve(folder: Path, libraries: Sequence[str]) -> None:
    with Listener(_address(folder), backlog=_BACKLOG) as listener:
        Path(folder, _READY).touch()
        from forked_kernels import fork_server, provisioner  # noqa: PLC0415 - the same

        if chosen() == "fork" and not provisioner.obstacle():
            provisioner.start_server(libraries)  # it loads while this process imports
        if sys.platform == "linux":
            fork_server.adopt_orphans()
            _remove_leftovers()
        pages = _Pages(folder)
        while True:
            threading.Thread(target=pages.answer, args=[listener.accept()], daemon=True).start()


def _remove_leftovers() -> None:
    """Remove the folders of such processes of this user that were killed, a day after.

    Until then they may belong to a process that isn't seen from here, in another container, say.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH}-*-*"):
        with contextlib.suppress(OSError, ValueError):
            owner, found = int(folder.name.split("-")[2]), folder.stat()
            is_old = time.time() - found.st_mtime > _FORGOTTEN
            if is_old and found.st_uid == os.getuid() and not Path("/proc", str(owner)).exists():
                shutil.rmtree(folder)


class _Pages:
    """The pages of a build: those that run ahead, and those that somebody waits for."""

    def __init__(self, folder: Path) -> None:
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - it takes time

        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        ahead = _AHEAD_PER_CORE * cores if chosen() == "fork" else cores
        if hasattr(os, "sysconf"):
            memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
            ahead = max(1, min(ahead, memory // _MEMORY_PER_PAGE))
        self._folder, self._run_page = folder, run_page
        self._key = Path(folder, _KEY).read_bytes()
        self._ahead: Any = ThreadPoolExecutor(ahead)
        self._at_once: Any = ThreadPoolExecutor(64)
        self._is_ours = True
        self._last_end = 0.0
        """When a page ended last: an executor that ends none for long answers no more."""
        self._queued: dict[bytes, Future[Any]] = {}
        self._locks: dict[object, threading.Lock] = {}

    def answer(self, connection: Connection) -> None:
        """Answer a client's request."""
        with connection, contextlib.suppress(EOFError, OSError):  # the client may be gone
            message = connection.recv_bytes(sum(_LENGTHS)) if _is_ours(connection) else b""
            key, name = message[: _LENGTHS[0]], message[_LENGTHS[0] :]
            if not secrets.compare_digest(key, self._key):
                return
            kind, *request = _take(self._folder, name)
            if kind == "queue":
                answer: Any = self._queue(*request)
            else:
                answer = self._wait_for(connection, *request)
            is_file = isinstance(answer, bytes)
            connection.send_bytes(answer if is_file else _keep(self._folder, answer))

    def _queue(self, executor: str, path: list[str], pages: Iterable[Page]) -> str:
        for future in self._queued.values():
            future.cancel()
        if executor and self._is_ours:
            sys.path += [folder for folder in path if folder not in sys.path]
            try:
                self._ahead = self._at_once = resolve_name(executor)()
                self._is_ours = False
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the book's own
                return f"{executor}: expected an executor, got {type(error).__name__}: {error}"
        self._queued = {}
        for key, page in {_key(page): page for page in pages}.items():
            with contextlib.suppress(Exception):  # whoever asks for the page hears of it
                self._queued[key] = self._submit(self._ahead, page)
        return ""

    def _wait_for(self, connection: Connection, page: Page) -> Any:
        """Return what comes of a page, or the file that has it; give signs of life until then."""
        done = threading.Event()
        try:
            future = self._fetch(page)
            future.add_done_callback(lambda _: done.set())
            asked = time.monotonic()
            while not done.wait(_BEAT):
                connection.send_bytes(b"")
                idle = time.monotonic() - max(asked, self._last_end)
                if not self._is_ours and (limit := _limit(page)) and idle > limit:
                    message = f"the executor has ended no page for {limit} seconds"
                    return page[0], Execution(failure=Failure(Ending.RUNNER_FAILED, -1, message))
            return future.result()
        except Exception as error:  # noqa: BLE001 - a book's executor may raise anything
            message = f"the executor raised {type(error).__name__}: {error}"
            return page[0], Execution(failure=Failure(Ending.RUNNER_FAILED, -1, message))

    def _fetch(self, page: Page) -> Future[Any]:
        future = self._queued.pop(_key(page), None)
        if future is None or (self._is_ours and future.cancel()):
            return self._submit(self._at_once, page)  # before all those that nobody waits for
        return future

    def _submit(self, executor: Any, page: Page) -> Future[Any]:
        future: Future[Any] = executor.submit(self._run if self._is_ours else self._run_page, *page)
        future.add_done_callback(self._note_end)
        return future

    def _note_end(self, _: Future[Any]) -> None:
        self._last_end = time.monotonic()

    def _run(
        self, notebook: NotebookNode, request: Request, environment: Mapping[str, str]
    ) -> bytes:
        """Run a page, and keep its outputs in a file: much may wait for Sphinx."""
        # A page's second run finds the files as the first has left them. On a device one page has
        # all the memory, and no other can take it away.
        page = (request.folder, *(cell.source for cell in notebook.cells))
        alone = page if environment.get("DRIFT_DEVICE", "cpu") == "cpu" else "device"
        with self._locks.setdefault(alone, threading.Lock()):
            return _keep(self._folder, self._run_page(notebook, request, environment))


def _limit(page: Page) -> float | None:
    """Return the seconds in which an executor must have ended some page; None for any time."""
    notebook, request, _ = page
    return request.timeout and request.timeout * (len(notebook.cells) + 2) + _GRACE


def _key(page: Page) -> bytes:
    """Return what tells a page from others: its cells, and how they are run."""
    text = json.dumps([page[0], vars(page[1])], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()
