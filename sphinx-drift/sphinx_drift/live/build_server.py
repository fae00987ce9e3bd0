"""The build server: it has loaded what builds need of other people's modules, and forks builds.

It runs apart (:mod:`sphinx_drift.run.apart`) and imports third-party modules only: a build that
inherited the book's own would run yesterday's code. It has one thread and computes nothing, or its
children would hang.

A build is forked before there is anything to build, and stands by. Once it is told what has
changed, it builds if all that it has read is still current; else another one is forked, which reads
it anew. Another build may run every page in the background, until one is asked for.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import warnings
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

# Not by the package's name: this process may not import it.
from ..run.processes import thread_count  # noqa: TID252
from .build_process import IGNORED, BuildProcess, receive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def main(words: Sequence[str]) -> None:
    """Serve requests until whoever started this is gone."""
    for number in IGNORED:
        # A terminal sends these to all processes of a session, and whoever started this one decides
        # when it ends: by closing the socket.
        signal.signal(number, signal.SIG_IGN)
    builds = BuildScheduler(Connection(int(words[0])))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        builds.serve()
    builds.end()


def load(names: list[str]) -> dict[str, Any]:
    """Import modules that earlier builds imported; one that can't be is left to each build."""
    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # noqa: BLE001 - whatever a module does when it is imported
                refused.append(name)
    os.environ.pop("OPENBLAS_NUM_THREADS", None)  # it was for the imports
    gc.collect()
    # A collection in a child would write into every object that it inherits, and so copy the
    # memory that it shares with this process.
    gc.freeze()
    return {"refused": refused, "threads": thread_count()}


class BuildScheduler:
    """The builds of a session: the one that is asked for, one standing by, one in the background.

    One at a time writes. What is asked for ends the one in the background, or lets it come to its
    end if that is writing already, which takes a moment: half of it would be worse than either.
    """

    def __init__(self, client: Connection) -> None:
        self._client = client
        self._standby: BuildProcess | None = None
        self._background: BuildProcess | None = None
        self._next_background: dict[str, Any] | None = None
        """The request for the background that waits until a build stands by."""

    def serve(self) -> None:
        """Handle requests until whoever makes them is gone."""
        while True:
            builds = (each for each in (self._standby, self._background) if each is not None)
            ready = wait([self._client, *(build.connection for build in builds)])
            if self._client in ready:
                request = receive(self._client)
                if not request:
                    return
                self._handle(request)
            elif self._standby is not None and self._standby.connection in ready:
                self._follow_standby(self._standby)
            elif self._background is not None:
                self._follow_background(self._background)

    def end(self) -> None:
        """End what no one waits for any more."""
        for process in (self._standby, self._background):
            if process is not None:
                process.end()

    def _handle(self, request: dict[str, Any]) -> None:
        match request.pop("do"):
            case "load":
                self._client.send(load(request["names"]))
            case "stand_by":
                self._stand_by(request)
            case "build":
                for report in self._build(request):
                    self._client.send(report)
            case "background":
                self._next_background = request
                self._begin_background()

    def _stand_by(self, request: dict[str, Any]) -> None:
        """Have a build stand by, instead of the one that does: what that has read has changed."""
        if self._standby is not None:
            self._standby.end()
        self._standby = BuildProcess(request, self._client) if thread_count() == 1 else None

    def _follow_standby(self, standby: BuildProcess) -> None:
        standby.receive()
        if standby.is_over:
            standby.wait()
            self._standby = None
        self._begin_background()

    def _build(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Have a process build, the one standing by if it may, and yield its reports."""
        self._leave_background()
        changed = request.pop("changed")
        standby, self._standby = self._standby, None
        if standby is not None:
            if standby.request == request and standby.is_current(changed):
                yield from standby.reports()
                return
            standby.end()
        if refusal := _refusal():
            yield refusal
            return
        process = BuildProcess(request, self._client)
        process.go_on(None)
        yield from process.reports()

    def _begin_background(self) -> None:
        """Begin what is to be built in the background, once a build stands by for a save."""
        is_preparing = self._standby is not None and not self._standby.is_ready
        if self._next_background is None or is_preparing:
            return
        request, self._next_background = self._next_background, None
        if refusal := _refusal():
            self._client.send({"background": True, **refusal})
            return
        self._background = BuildProcess(request, self._client)
        self._background.go_on(None)

    def _follow_background(self, background: BuildProcess) -> None:
        was_writing = background.is_writing
        background.receive()
        if background.is_writing and not was_writing:
            background.go_on(None)
        if background.is_over:
            self._background = None
            self._client.send({"background": True, **background.outcome()})

    def _leave_background(self) -> None:
        """End the build in the background, or wait for its end if it is writing."""
        background, self._background, self._next_background = self._background, None, None
        if background is not None and background.is_writing:
            for _ in background.reports():
                pass
        elif background is not None:
            background.end()


def _refusal() -> dict[str, Any]:
    """Return the report that no build can be forked now, with the reason; an empty one if it can.

    A module that builds import may have started a thread when it was loaded here.
    """
    number = thread_count()
    return {} if number == 1 else {"cannot_fork": f"the build server has {number} threads, not one"}
