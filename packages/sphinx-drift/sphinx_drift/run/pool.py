"""The pages of a build, in the process that runs them: queued ahead, and fetched when needed."""

import asyncio
import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sphinx_drift.run.choice import DEVICE_VARIABLE, chosen_runner
from sphinx_drift.run.results import Execution, Request

if TYPE_CHECKING:  # loading it would have each build wait for its host
    from nbformat import NotebookNode

Job: TypeAlias = "tuple[NotebookNode, Request, Mapping[str, str]]"
"""What `run_page` takes: the cells, how they are run, and in which environment."""
Result: TypeAlias = "tuple[NotebookNode, Execution]"

_AHEAD_PER_CORE = 4
"""Pages in flight for each core where kernels are forked: a small page mostly waits for messages.

A kernel that Jupyter starts keeps a core busy with imports, and its threads get in others' way."""
_MEMORY_PER_PAGE = 512 * 2**20
_DESCRIPTORS_PER_PAGE = 40
"""A page in flight has 30, most for its sockets; more are for those that are run when asked for."""
_PAGES_ON_A_DEVICE = 4
"""Pages at a time on a GPU, whose memory they share: its libraries take 0.5 GB for each."""


class Pool:
    """Runs pages in threads of this process."""

    def __init__(self) -> None:
        """Load what runs a page."""
        import sphinx_drift.no_grammar  # noqa: F401, PLC0415 - in this process alone
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - clients need none of it

        self._run_page = run_page
        self._threads = ThreadPoolExecutor(_pages_at_a_time())
        self._queued: dict[bytes, Future[Result]] = {}
        self._locks: dict[object, threading.Lock] = {}
        self._on_device = threading.Semaphore(_PAGES_ON_A_DEVICE)

    def queue(self, jobs: Iterable[Job]) -> None:
        """Begin to run pages, in this order, each once; drop those that were queued before."""
        for future in self._queued.values():
            future.cancel()
        by_key = {_key(job): job for job in jobs}
        self._queued = {k: self._threads.submit(self._run, *job) for k, job in by_key.items()}

    def fetch(self, job: Job) -> Result:
        """Return a page with its outputs, and how it ended: as it was queued, or run now."""
        future = self._queued.pop(_key(job), None)
        if future is None or future.cancel():  # now, before the pages that nothing waits for
            return self._run(*job)
        return future.result()

    def _run(
        self, notebook: "NotebookNode", request: Request, environment: Mapping[str, str]
    ) -> Result:
        """Run a page; not beside its repetition, nor on a device beside many others.

        A page's repetition finds the files as the first has left them.
        """
        page = (request.folder, *(cell.source for cell in notebook.cells))
        on_cpu = environment.get(DEVICE_VARIABLE, "cpu") == "cpu"
        with (
            self._locks.setdefault(page, threading.Lock()),
            nullcontext() if on_cpu else self._on_device,
        ):
            return asyncio.run(self._run_page(notebook, request, environment))


def _pages_at_a_time() -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    pages = _AHEAD_PER_CORE * cores if chosen_runner() == "fork" else cores
    if hasattr(os, "sysconf"):
        pages = min(pages, memory_limit() // _MEMORY_PER_PAGE)
        if (descriptors := os.sysconf("SC_OPEN_MAX")) > 0:  # -1 is no limit
            pages = min(pages, descriptors // _DESCRIPTORS_PER_PAGE)
    return max(1, pages)


def memory_limit(
    groups: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> int:
    """Return how many bytes this process may use: the machine's, or its container's if less."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for row in groups.read_text("utf-8").splitlines() if groups.exists() else ():
        _, controllers, group = row.split(":", 2)
        folder = mounted / controllers / group.lstrip("/")
        for each in (folder, *folder.parents[: len(folder.parts) - len(mounted.parts)]):
            for name in ("memory.max", "memory.limit_in_bytes"):
                with suppress(OSError, ValueError):  # "max" is no limit
                    limits.append(int((each / name).read_text("utf-8")))
    return min(limits)


def _key(job: Job) -> bytes:
    """Return a digest of a page: its cells, and how they are run."""
    text = json.dumps([job[0], vars(job[1])], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()
