"""The process that runs a build's pages ahead of Sphinx, and how Sphinx asks it for their outputs.

Sphinx forks readers and writers, and a fork copies no thread: so threads, event loops and kernels
are in this process, which ends when whoever started it does. Pages go through the standard
interface of :class:`concurrent.futures.Executor`; a book can name another one for other machines.
"""

from __future__ import annotations

import atexit
import contextlib
import hmac
import json
import os
import pickle
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from importlib import import_module
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.run.choice import chosen, page_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from multiprocessing.connection import Connection

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Execution, Request

_AHEAD_PER_CORE = 4
"""Pages in flight for each core where kernels are forked: a small page mostly waits for messages.

A kernel that Jupyter starts keeps a core busy with imports, and its threads get in others' way."""
_MEMORY_PER_PAGE = 512 * 2**20
_LONGEST_START = 60.0
_SIGN_OF_LIFE, _PATIENCE = 5.0, 120.0
"""Seconds between two signs that a page still runs, and those without one after which it failed."""
_NO_SIGN = "the process that runs pages gave no sign of life"


class HostGoneError(ConnectionError):
    """The process that runs pages has ended, or gives no sign of life."""


# In the build ------------------------------------------------------------------------------


class Host:
    """The process that runs pages, as its owner sees it, and each process that the owner forks."""

    def __init__(self, preload: Iterable[str]) -> None:
        """Start it; it loads while this process does something else."""
        token = secrets.token_hex(16)
        self._address = (
            rf"\\.\pipe\drift-{token}" if sys.platform == "win32" else f"\0drift-{token}"
        )
        if sys.platform not in {"linux", "win32"}:  # an abstract address leaves no file behind
            self._address = str(Path(tempfile.mkdtemp(prefix=f"drift-{os.getpid()}-"), "pages"))
        self._key = secrets.token_bytes(16)
        self._owner = os.getpid()
        # -P: what lies in the working folder is no library of this process.
        code = f"import sys; sys.path.append({str(Path(__file__).parents[2])!r}); "
        code += "from sphinx_drift.run.host import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=page_environment(),
            start_new_session=True,  # a terminal's Ctrl-C ends the build, and the build ends this
        )
        settings = {"address": self._address, "key": self._key.hex(), "preload": list(preload)}
        assert self._process.stdin is not None  # noqa: S101 - it was started with a pipe
        self._stdin = self._process.stdin
        self._stdin.write(json.dumps(settings).encode() + b"\n")
        self._stdin.flush()
        # The process ends when this closes, so what is forked must not keep its copy open.
        if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
            os.register_at_fork(after_in_child=self._stdin.close)

    def connect(self) -> Connection[Any, Any]:
        """Return a new connection.

        Raises:
            HostGoneError: If nobody answers.

        """
        deadline = time.monotonic() + _LONGEST_START
        while True:
            try:
                connection = Client(self._address)
            except (ConnectionRefusedError, FileNotFoundError) as error:  # it still loads
                ended = os.getpid() == self._owner and self._process.poll() is not None
                if ended or time.monotonic() > deadline:
                    raise HostGoneError(f"the process that runs pages is gone: {error}") from error
                time.sleep(0.01)
            else:
                connection.send_bytes(self._key)  # a handshake would wait for one that is stopped
                return connection

    def close(self) -> None:
        """End it, and its kernels with it."""
        self._stdin.close()
        if os.getpid() == self._owner:
            try:
                self._process.wait(_SIGN_OF_LIFE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


_host: Host | None = None
_preload: tuple[str, ...] = ()


def preload(names: Iterable[str]) -> None:
    """Choose the libraries that are loaded once for all pages."""
    global _preload  # noqa: PLW0603 - one choice holds for all pages of a process
    _preload = tuple(names)


def preloaded() -> tuple[str, ...]:
    """Return the libraries that are loaded once for all pages."""
    return _preload


def start() -> Host:
    """Return the process that runs pages; the first call starts it."""
    global _host  # noqa: PLW0603 - there is one for a build
    if _host is None:
        _host = Host(_preload)
    return _host


def is_started() -> bool:
    """Return whether there is such a process already."""
    return _host is not None


@atexit.register
def close() -> None:
    """End the process that runs pages."""
    global _host  # noqa: PLW0603 - the next call starts another one
    if _host is not None:
        _host.close()
        _host = None


def queue(jobs: Iterable[tuple[str, NotebookNode, Request]], executor: str = "") -> None:
    """Submit pages to the executor, in this order; :func:`run` fetches each by its key.

    Those that were queued before and never asked for are dropped.

    Args:
        jobs: The key of each page, its cells and how it is run.
        executor: The function that returns the executor, ``module:function``; nothing for ours.

    """
    pages = [(key, notebook, request, request.environment()) for key, notebook, request in jobs]
    with start().connect() as connection:
        connection.send(("queue", executor, sys.path, pages))
        if not connection.poll(_PATIENCE):
            raise HostGoneError(_NO_SIGN)
        if error := connection.recv():
            raise ValueError(error)


def run(key: str, notebook: NotebookNode, request: Request) -> tuple[NotebookNode, Execution]:
    """Return a page with its outputs: the one that was queued by this key, or one run now.

    Raises:
        HostGoneError: If the process that runs pages is gone, or gives no sign of life.

    """
    try:
        with start().connect() as connection:
            connection.send(("run", key, notebook, request, request.environment()))
            while connection.poll(_PATIENCE):
                if (answer := connection.recv()) is not None:
                    result: tuple[NotebookNode, Execution] = answer
                    return result
    except (OSError, EOFError) as error:
        raise HostGoneError(f"the process that runs pages is gone: {error!r}") from error
    raise HostGoneError(_NO_SIGN)


# In the process itself ---------------------------------------------------------------------


def main() -> None:
    """Run pages until whoever started this is gone."""
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_owner, daemon=True).start()
    from sphinx_drift.run import fork_server, provisioner  # noqa: PLC0415 - it takes time

    if chosen() == "fork" and not provisioner.obstacle():
        provisioner.start_server(settings["preload"])  # it loads while this process imports
    if sys.platform == "linux":
        fork_server.adopt_orphans()
        _remove_leftovers()
    kept = Path(tempfile.mkdtemp(prefix=f"drift-{os.getpid()}-"))  # for this user alone
    pages = _Pages(bytes.fromhex(settings["key"]), kept)
    with Listener(settings["address"], backlog=64) as listener:
        while True:
            with contextlib.suppress(OSError, EOFError):  # somebody hung up
                connection = listener.accept()
                threading.Thread(target=pages.serve, args=[connection], daemon=True).start()


def _end_with_owner() -> None:
    from sphinx_drift.run import fork_server, provisioner  # noqa: PLC0415 - the same

    sys.stdin.read()
    try:
        provisioner.close_servers()
        if sys.platform == "linux":  # what has left its group, if the fork server was killed
            fork_server.kill_children()
        for folder in Path(tempfile.gettempdir()).glob(f"drift-{os.getpid()}-*"):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)


def _remove_leftovers() -> None:
    """Remove the folders of such processes of this user that were killed."""
    for folder in Path(tempfile.gettempdir()).glob("drift-*-*"):
        with contextlib.suppress(OSError, ValueError):
            owner = int(folder.name.split("-")[1])
            if folder.stat().st_uid == os.getuid() and not Path("/proc", str(owner)).exists():
                shutil.rmtree(folder)


class _Pages:
    """The pages of a build: those that run ahead, and those that somebody waits for."""

    def __init__(self, key: bytes = b"", kept: Path = Path()) -> None:
        self._key = key
        self._forks = chosen() == "fork"
        self._ahead: Executor | None = None
        self._is_local = True
        self._at_once = ThreadPoolExecutor(64)
        self._futures: dict[str, Future[Any]] = {}
        self._kept = kept
        self._device = threading.Lock()
        self._one_run: dict[tuple[str, ...], threading.Lock] = {}
        """For each page, so that its second run finds the files as the first has left them."""

    def serve(self, connection: Connection[Any, Any]) -> None:
        """Answer one request."""
        with connection, contextlib.suppress(OSError, EOFError):
            # Before anything is unpickled: who has no key may be anybody.
            if not hmac.compare_digest(connection.recv_bytes(64), self._key):
                return
            kind, *rest = connection.recv()
            if kind == "queue":
                connection.send(self._queue(*rest))
                return
            future = self._future(*rest)
            while True:
                try:
                    result = future.result(_SIGN_OF_LIFE)
                    break
                except Exception as error:  # noqa: BLE001 - a book's executor may raise anything
                    if future.done():
                        result = _failed(rest[1], error)
                        break
                    connection.send(None)
            if isinstance(result, Path):
                path, result = result, pickle.loads(result.read_bytes())  # noqa: S301 - ours
                path.unlink()
            connection.send(result)

    def _queue(self, executor: str, path: list[str], pages: list[Any]) -> str:
        for future in self._futures.values():
            future.cancel()
        self._futures.clear()
        if self._ahead is None:
            sys.path += [folder for folder in path if folder not in sys.path]
            try:
                self._ahead = (
                    _load(executor) if executor else ThreadPoolExecutor(_in_flight(self._forks))
                )
            except Exception as error:  # noqa: BLE001 - it is the book's own
                return f"{executor}: expected an executor, got {type(error).__name__}: {error}"
            self._is_local = not executor
        for key, *page in pages:
            if self._is_local:
                self._futures[key] = self._ahead.submit(self._run_ahead, key, *page)
            else:
                self._futures[key] = self._submit(*page)
        return ""

    def _future(self, key: str, *page: Any) -> Future[Any]:
        future = self._futures.pop(key, None)
        if future is None or (self._is_local and future.cancel()):
            return self._submit(*page)  # before all those that nobody waits for
        return future

    def _submit(self, *page: Any) -> Future[Any]:
        if self._is_local or self._ahead is None:
            return self._at_once.submit(self._run, *page)
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - it takes time

        return self._ahead.submit(run_page, *page)

    def _run_ahead(self, key: str, *page: Any) -> Path:
        """Run a page, and keep its outputs in a file: much may wait for Sphinx."""
        result = self._run(*page)
        path = self._kept / key
        path.write_bytes(pickle.dumps(result))
        return path

    def _run(
        self, notebook: NotebookNode, request: Request, environment: Mapping[str, str]
    ) -> tuple[NotebookNode, Execution]:
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - it takes time

        # On a device one page has all the memory, and others can't take it away.
        alone = environment.get("DRIFT_DEVICE", "cpu") != "cpu"
        page = (str(request.folder), *(cell.source for cell in notebook.cells))
        one_run = self._one_run.setdefault(page, threading.Lock())
        with one_run, self._device if alone else contextlib.nullcontext():
            return run_page(notebook, request, environment, forks=self._forks)


def _load(name: str) -> Executor:
    """Call the function that a book names, ``module:function``, and return its executor."""
    module, _, function = name.partition(":")
    executor: Executor = getattr(import_module(module), function)()
    executor.submit  # noqa: B018 - an executor has it
    return executor


def _failed(notebook: NotebookNode, error: Exception) -> tuple[NotebookNode, Execution]:
    """Return the run of a page that an executor did not run."""
    from sphinx_drift.run.results import Ending, Execution, Failure  # noqa: PLC0415 - the same

    message = f"the executor raised {type(error).__name__}: {error}"
    return notebook, Execution(failure=Failure(Ending.RUNNER_FAILED, -1, message))


def _in_flight(forks: bool) -> int:  # noqa: FBT001 - whether kernels are forked
    """Return how many pages may run at a time: the cores' share, within the memory there is."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pages = (_AHEAD_PER_CORE if forks else 1) * (cores or 1)
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        available = next(line.split()[1] for line in lines if line.startswith("MemAvailable"))
        pages = min(pages, int(available) * 1024 // _MEMORY_PER_PAGE)
    return max(1, pages)
