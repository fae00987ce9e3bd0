"""The process that runs a build's pages ahead of Sphinx, and how it is asked: by files in a folder.

Sphinx forks readers and writers, and a fork copies no thread: so threads, event loops and kernels
are in this process, which ends when whoever started it does. Whoever needs a page writes a request
into a folder that only this user can open, and waits for the answer beside it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import pickle
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.run.choice import SCRATCH, chosen, page_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Request

    Page = tuple[NotebookNode, Request, Mapping[str, str]]
    """What `run_page` takes: the cells, how they are run, and in which environment."""

_AHEAD_PER_CORE = 4
"""Pages in flight for each core where kernels are forked: a small page mostly waits for messages.

A kernel that Jupyter starts keeps a core busy with imports, and its threads get in others' way."""
_MEMORY_PER_PAGE = 512 * 2**20
_PAUSE = 0.005
"""Seconds between two looks into the folder."""
_PATIENCE = 120.0
"""Seconds without a sign of life after which a page failed."""
_LONGEST_END = 5.0
_FORGOTTEN = 86_400.0
_ALIVE, _KEPT = "alive", "kept"
"""In the folder: the file that is touched as a sign of life, and outputs that wait for Sphinx."""


class HostGoneError(Exception):
    """The process that runs pages has ended, or gives no sign of life."""


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
        # For this user alone.
        self._folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}-{self._owner}-"))
        Path(self._folder, _ALIVE).touch()
        # -P: what lies in the working folder is no library of this process.
        code = f"import sys; sys.path.append({str(Path(__file__).parents[2])!r}); "
        code += "from sphinx_drift.run.host import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, str(self._folder), *self.preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # nothing comes but its end
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
            HostGoneError: If the process that runs pages is gone, or gives no sign of life.

        """
        self.start()
        answer = self._folder / f"{secrets.token_hex(8)}.answer"
        silence, sign = 0.0, 0
        try:
            _write(answer.with_suffix(".request"), request)
            while not answer.exists():
                time.sleep(_PAUSE)
                if self._is_gone():
                    raise HostGoneError("the process that runs pages is gone")
                last, sign = sign, Path(self._folder, _ALIVE).stat().st_mtime_ns
                # Pauses, not time: who was asleep with the whole machine has missed no sign.
                silence = silence + _PAUSE if sign == last else 0.0
                if silence > _PATIENCE:
                    raise HostGoneError("the process that runs pages gave no sign of life")
            return _take(answer)
        except FileNotFoundError as error:  # it has removed the folder at its end
            raise HostGoneError("the process that runs pages is gone") from error

    def _is_gone(self) -> bool:
        if sys.platform == "win32":  # where nothing is forked
            return self.process.poll() is not None
        return bool(select.select([self.process.stdout], [], [], 0)[0])

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
        process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)


HOST = Host()
"""The one of this process."""
atexit.register(HOST.close)


def _write(path: Path, content: Any) -> None:
    """Write a file that nobody sees before it is whole."""
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(content))
    part.replace(path)


def _take(path: Path) -> Any:
    content = pickle.loads(path.read_bytes())  # noqa: S301 - only this user can write there
    path.unlink()
    return content


# In the process itself ---------------------------------------------------------------------


def main() -> None:
    """Run pages until whoever started this is gone."""
    folder, libraries = Path(sys.argv[1]), sys.argv[2:]
    os.dup(1)  # closes with this process, and what this starts has no copy: so others see its end
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    threading.Thread(target=_serve, args=[folder, libraries], daemon=True).start()
    os.read(0, 1)  # not `sys.stdin`: what an executor forks closes that, and would wait for it
    from sphinx_drift.kernels import fork_server, provisioner  # noqa: PLC0415 - it takes time

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
    try:
        from sphinx_drift.kernels import fork_server, provisioner  # noqa: PLC0415 - the same

        if chosen() == "fork" and not provisioner.obstacle():
            provisioner.start_server(libraries)  # it loads while this process imports
        if sys.platform == "linux":
            fork_server.adopt_orphans()
            _remove_leftovers()
        pages = _Pages(folder)
        while True:
            Path(folder, _ALIVE).touch()
            pages.serve()
            time.sleep(_PAUSE)
    except Exception:  # noqa: BLE001 - the disk is full, say: nobody waits for what can't come
        if folder.exists():  # else this is the end
            traceback.print_exc()
            os._exit(1)


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
        self._folder = folder
        Path(folder, _KEPT).mkdir()
        self._ahead: Executor = ThreadPoolExecutor(_in_flight())
        self._at_once: Executor = ThreadPoolExecutor(64)
        self._is_ours = True
        self._queued: dict[bytes, Future[Any]] = {}
        self._awaited: dict[Path, tuple[Future[Any], NotebookNode]] = {}
        """By the files of their answers."""
        self._locks: dict[object, threading.Lock] = {}

    def serve(self) -> None:
        """Take in what is asked for, and answer what is done."""
        for path in self._folder.glob("*.request"):
            answer, (kind, *request) = path.with_suffix(".answer"), _take(path)
            if kind == "queue":
                _write(answer, self._queue(*request))
            else:
                (page,) = request
                self._awaited[answer] = self._fetch(page), page[0]
        for answer, (future, notebook) in [*self._awaited.items()]:
            if future.done():
                del self._awaited[answer]
                _answer(answer, future, notebook)

    def _queue(self, executor: str, path: list[str], pages: Iterable[Page]) -> str:
        for future in self._queued.values():
            future.cancel()
        if executor and self._is_ours:
            sys.path += [folder for folder in path if folder not in sys.path]
            try:
                self._ahead = self._at_once = _load(executor)
                self._is_ours = False
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the book's own
                return f"{executor}: expected an executor, got {type(error).__name__}: {error}"
        by_key = {_key(page): page for page in pages}
        self._queued = {key: self._submit(self._ahead, page) for key, page in by_key.items()}
        return ""

    def _fetch(self, page: Page) -> Future[Any]:
        future = self._queued.pop(_key(page), None)
        if future is None or (self._is_ours and future.cancel()):
            return self._submit(self._at_once, page)  # before all those that nobody waits for
        return future

    def _submit(self, pool: Any, page: Page) -> Future[Any]:
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - it takes time

        try:
            future: Future[Any] = pool.submit(self._run if self._is_ours else run_page, *page)
        except Exception as error:  # noqa: BLE001 - it is the book's own
            future = Future()
            future.set_exception(error)
        return future

    def _run(
        self, notebook: NotebookNode, request: Request, environment: Mapping[str, str]
    ) -> Path:
        """Run a page, and keep its outputs in a file: much may wait for Sphinx."""
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - it takes time

        # A page's second run finds the files as the first has left them. On a device one page has
        # all the memory, and no other can take it away.
        page = (request.folder, *(cell.source for cell in notebook.cells))
        alone = page if environment.get("DRIFT_DEVICE", "cpu") == "cpu" else "device"
        with self._locks.setdefault(alone, threading.Lock()):
            result = run_page(notebook, request, environment)
        path = Path(self._folder, _KEPT, secrets.token_hex(8))
        _write(path, result)
        return path


def _key(page: Page) -> bytes:
    """Return what tells a page from others: its cells, and how they are run."""
    text = json.dumps([page[0], vars(page[1])], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()


def _load(name: str) -> Executor:
    """Call the function that a book names, ``module:function``, and return its executor."""
    module, _, function = name.partition(":")
    executor: Executor = getattr(import_module(module), function)()
    executor.submit  # noqa: B018 - an executor has it
    return executor


def _answer(answer: Path, future: Future[Any], notebook: NotebookNode) -> None:
    """Write what came of a page: a result of our own is in a file already."""
    from sphinx_drift.run.results import Ending, Execution, Failure  # noqa: PLC0415 - the same

    try:
        result = future.result()
    except Exception as error:  # noqa: BLE001 - a book's executor may raise anything
        message = f"the executor raised {type(error).__name__}: {error}"
        result = notebook, Execution(failure=Failure(Ending.RUNNER_FAILED, -1, message))
    if isinstance(result, Path):
        result.replace(answer)
    else:
        _write(answer, result)


def _in_flight() -> int:
    """Return how many pages may run at a time: the cores' share, within the memory there is."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pages = (_AHEAD_PER_CORE if chosen() == "fork" else 1) * (cores or 1)
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        available = next(line.split()[1] for line in lines if line.startswith("MemAvailable"))
        pages = min(pages, int(available) * 1024 // _MEMORY_PER_PAGE)
    return max(1, pages)
