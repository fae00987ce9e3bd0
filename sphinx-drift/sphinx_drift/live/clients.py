"""Starts the build server of a live session, and talks to it."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import Pipe
from typing import Any

from sphinx_drift.live.build_process import receive
from sphinx_drift.run.apart import command

_LOGGER = logging.getLogger(__name__)

_LONGEST_PAUSE = 10.0
"""Seconds before a server is started again that can't start."""

_Send = Callable[[dict[str, Any]], object]


class BuildServer:
    """The process that forks a build for each save; another one takes its place if it ends.

    This process has the only other end of its socket: it ends when that is closed, which the kernel
    does if this process is killed.
    """

    def __init__(self) -> None:
        self._restarts = 0
        """How many servers have taken another one's place since one has last answered."""
        self._start()

    def _start(self) -> None:
        self._end, theirs = Pipe()
        with theirs:  # from then on the server alone has it
            self.process = subprocess.Popen(  # noqa: S603 - it is our own
                command("live.build_server", str(theirs.fileno())),
                env={
                    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
                    **os.environ,
                    "OPENBLAS_NUM_THREADS": "1",
                    "OMP_NUM_THREADS": "1",  # a build that has threads can't fork
                },
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._loaded: set[str] = set()

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # that it is gone is seen when it is to answer
            self._end.send(message)

    def _receive(self) -> dict[str, Any]:
        message = receive(self._end)
        if not message:
            return {"died": self.process.wait()}
        self._restarts = 0
        return message

    def stand_by(self, book: dict[str, Any]) -> None:
        """Have a process prepare all that the next build needs."""
        self._send(_request("stand_by", book))

    def build(self, book: dict[str, Any], changed: list[str], send: _Send) -> dict[str, Any]:
        """Build a book; by a new server, if this one is gone or may not fork any more."""
        report = self._request_build(book, changed, send)
        if self.renew_after(report):
            report = self._request_build(book, changed, send)
        return report

    def _request_build(
        self, book: dict[str, Any], changed: list[str], send: _Send
    ) -> dict[str, Any]:
        self._send({**_request("build", book), "changed": changed})
        while (report := self._receive()).get("is_early") or "background" in report:
            if "background" not in report:  # that of one is out of date, if it has just ended
                send(report)
        return report

    def build_in_background(self, book: dict[str, Any]) -> None:
        """Have a build go on in the background until one is asked for, or it ends."""
        self._send(_request("background", book))

    def wait(self, seconds: float) -> dict[str, Any] | None:
        """Return what came of the build in the background, if it ends before the time is up."""
        return self._receive() if self._end.poll(seconds) else None

    def renew_after(self, report: dict[str, Any]) -> bool:
        """Start a new server, and return that, if this one is gone or may not fork any more."""
        if "cannot_fork" not in report and self.process.poll() is None:
            return False
        self.close()
        # The first at once: it was killed, say. One that can't start can't the next moment either.
        pause = min(0.1 * (2**self._restarts - 1), _LONGEST_PAUSE)
        if self.process.returncode:
            again = f"it is started again in {pause:.1f} s" if pause else "it is started again"
            status = self.process.returncode
            _LOGGER.warning("the process that forks builds ended (%d): %s", status, again)
        time.sleep(pause)
        self._restarts += 1
        self._start()
        return True

    def load(self, names: list[str]) -> None:
        """Have it import for the next builds what builds have imported."""
        new = [name for name in names if name not in self._loaded]
        if new:
            self._loaded.update(new)
            self._send({"do": "load", "names": new})
            self._receive()

    def close(self) -> None:
        """End it, with the builds that it may be at."""
        self._end.close()
        self.process.wait()


def _request(what: str, book: dict[str, Any]) -> dict[str, Any]:
    return {"do": what, "build": book, "environment": dict(os.environ), "path": sys.path}
