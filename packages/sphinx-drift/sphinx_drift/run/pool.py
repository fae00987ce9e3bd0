"""The pages of a build, in the process that runs them: queued ahead, and fetched when needed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from sphinx_drift.run.choice import chosen_runner
from sphinx_drift.run.results import Ending, Execution, Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Request

    Page = tuple[NotebookNode, Request, Mapping[str, str]]
    """What `run_page` takes: the cells, how they are run, and in which environment."""
    Result = tuple[NotebookNode, Execution]

_AHEAD_PER_CORE = 4
"""Pages in flight for each core where kernels are forked: a small page mostly waits for messages.

A kernel that Jupyter starts keeps a core busy with imports, and its threads get in others' way."""
_MEMORY_PER_PAGE = 512 * 2**20
_PAGES_ON_A_DEVICE = 4
"""Pages at a time on a GPU, whose memory they share: its libraries take 0.5 GB for each."""
_GRACE = 60.0
"""Seconds that an executor may take to start a machine, besides the time of a page's cells."""


class Pool:
    """Runs pages in threads of this process, or by the executor that the book names."""

    def __init__(self) -> None:
        """Load what runs a page."""
        # A grammar of web addresses that jsonschema would build, in 0.4 s: notebooks need none.
        sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
        from sphinx_drift.run.page import run_page  # noqa: PLC0415 - who asks needs none of it

        self._run_page = run_page
        self._threads = ThreadPoolExecutor(_pages_at_a_time())
        self._executor: Any = None
        self._page_ended = threading.Condition()
        self._queued: dict[bytes, Future[Result]] = {}
        self._locks: dict[object, threading.Lock] = {}
        self._on_device = threading.Semaphore(_PAGES_ON_A_DEVICE)

    def queue(self, executor: str, path: Iterable[str], pages: Iterable[Page]) -> None:
        """Begin to run pages, in this order; drop those that were queued before.

        Args:
            executor: The function that returns the executor, ``module:function``; or nothing.
            path: The folders in which its module may be.
            pages: The pages; two that are the same run once.

        Raises:
            ValueError: If there is no such executor.

        """
        for future in self._queued.values():
            future.cancel()
        self._queued = {}
        if executor and self._executor is None:
            sys.path += [folder for folder in path if folder not in sys.path]
            try:
                self._executor = resolve_name(executor)()
            except (Exception, SystemExit) as error:
                reason = f"{type(error).__name__}: {error}"
                raise ValueError(f"{executor}: expected an executor, got {reason}") from error
        for key, page in {_key(page): page for page in pages}.items():
            with suppress(Exception):  # who asks for the page is told
                self._queued[key] = self._submit(page)

    def run(self, page: Page) -> Result:
        """Return a page with its outputs, and how it ended: as it was queued, or run now."""
        future = self._queued.pop(_key(page), None)
        if self._executor is None:
            # Before the pages that nobody waits for.
            is_new = future is None or future.cancel()
            return self._run_here(*page) if is_new else future.result()  # type: ignore[union-attr]
        try:
            return self._wait_for(future or self._submit(page), _limit(page))
        except Exception as error:  # noqa: BLE001 - a book's executor may raise anything
            message = f"the executor: {type(error).__name__}: {error}"
            return page[0], Execution(failure=Failure(Ending.COULD_NOT_CHECK, -1, message))

    def _submit(self, page: Page) -> Future[Result]:
        if self._executor is None:
            return self._threads.submit(self._run_here, *page)
        future: Future[Result] = self._executor.submit(self._run_page, *page)
        future.add_done_callback(self._notify)
        return future

    def _notify(self, _: Future[Result]) -> None:
        with self._page_ended:
            self._page_ended.notify_all()

    def _wait_for(self, future: Future[Result], limit: float | None) -> Result:
        """Return what an executor makes of a page, unless it ends no page at all for so long."""
        with self._page_ended:
            while not future.done():
                if not self._page_ended.wait(limit):
                    raise TimeoutError(f"no page has ended for {limit} seconds")
        return future.result()

    def _run_here(
        self, notebook: NotebookNode, request: Request, environment: Mapping[str, str]
    ) -> Result:
        """Run a page; not beside its second run, nor on a device beside many others.

        A page's second run finds the files as the first has left them.
        """
        page = (request.folder, *(cell.source for cell in notebook.cells))
        on_cpu = environment.get("DRIFT_DEVICE", "cpu") == "cpu"
        with (
            self._locks.setdefault(page, threading.Lock()),
            nullcontext() if on_cpu else self._on_device,
        ):
            return self._run_page(notebook, request, environment)


def _pages_at_a_time() -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    pages = _AHEAD_PER_CORE * cores if chosen_runner() == "fork" else cores
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        pages = min(pages, memory // _MEMORY_PER_PAGE)
    return max(1, pages)


def _limit(page: Page) -> float | None:
    """Return the seconds in which an executor must have ended some page; None for any time."""
    notebook, request, _ = page
    return request.timeout and request.timeout * (len(notebook.cells) + 2) + _GRACE


def _key(page: Page) -> bytes:
    """Return what tells a page from others: its cells, and how they are run."""
    text = json.dumps([page[0], vars(page[1])], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()
