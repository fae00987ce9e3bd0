"""The processes of a live session: the helper that forks builds, the pages' helper, the server."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sphinx_drift.configuration import find_preload
from sphinx_drift.run import fork_client

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Forker", "Server", "Session"]

_BESIDE = Path(__file__).parent
_LOGGER = logging.getLogger(__name__)
_ATTEMPTS = 2
"""How often a build in the background that is killed, say, is begun before that is told."""

_Tell = Callable[[dict[str, Any]], object]


class Lines:
    """Messages to and from a process that this one has started, one a line."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; that the process is gone is seen when its answer is asked for."""
        with contextlib.suppress(OSError):
            self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> dict[str, Any] | None:
        """Return the next message; none if the process is gone."""
        while b"\n" not in self._rest:
            try:
                piece = self._end.recv(1 << 16)
            except OSError:
                piece = b""
            if not piece:
                return None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def wait(self, seconds: float) -> bool:
        """Tell whether there is a message, or the process is gone, before the time is up."""
        return b"\n" in self._rest or bool(select.select([self._end], [], [], seconds)[0])

    def close(self) -> None:
        """Let the process know that no more will come: it ends."""
        self._end.close()


class Forker:
    """The process that forks a build for each save; another one takes its place if it ends."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        code = str(_BESIDE / "forker.py")
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - it is our own
                [sys.executable, "-P", code, str(theirs.fileno())],
                env={
                    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
                    **os.environ,
                    "OPENBLAS_NUM_THREADS": "1",
                    "OMP_NUM_THREADS": "1",  # a build that has threads can't fork
                },
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._lines = Lines(ours)
        self._loaded: set[str] = set()

    def _read(self) -> dict[str, Any]:
        message = self._lines.receive()
        return {"died": self.process.wait()} if message is None else message

    def stand_ready(self, wanted: dict[str, str]) -> None:
        """Have a process make all ready for the next build."""
        self._lines.send(_request("stand", wanted))

    def build(self, wanted: dict[str, str], changed: list[str], tell: _Tell) -> dict[str, Any]:
        """Build a book; by a new helper, if this one is gone or may not fork any more.

        Args:
            wanted: What to build, and where.
            changed: The files that have changed since the build before.
            tell: Called with what the build says before its end.

        """
        answer = self._ask_for(wanted, changed, tell)
        if self.renew_after(answer):
            answer = self._ask_for(wanted, changed, tell)
        return answer

    def _ask_for(self, wanted: dict[str, str], changed: list[str], tell: _Tell) -> dict[str, Any]:
        self._lines.send({**_request("build", wanted), "changed": changed})
        while (answer := self._read()).get("early") or "background" in answer:
            if "background" not in answer:  # that of one is out of date, if it has just ended
                tell(answer)
        return answer

    def build_behind(self, wanted: dict[str, str]) -> None:
        """Have a build go on in the background until one is asked for, or it ends."""
        self._lines.send(_request("background", wanted))

    def wait(self, seconds: float) -> dict[str, Any] | None:
        """Return what came of the build in the background, if it ends before the time is up."""
        return self._read() if self._lines.wait(seconds) else None

    def renew_after(self, answer: dict[str, Any]) -> bool:
        """Start a new helper, and say so, if this one is gone or may not fork any more."""
        if "unfit" not in answer and self.process.poll() is None:
            return False
        self.close()
        if self.process.returncode:
            _LOGGER.warning("the process that forks builds ended (%d)", self.process.returncode)
        self._start()
        return True

    def learn(self, names: list[str]) -> None:
        """Load what builds have imported, for the next one."""
        new = [name for name in names if name not in self._loaded]
        if new:
            self._loaded.update(new)
            self._lines.send({"do": "load", "names": new})
            self._read()

    def close(self) -> None:
        """End it, with the builds that it may be at."""
        self._lines.close()
        self.process.wait()


def _request(what: str, wanted: dict[str, str]) -> dict[str, Any]:
    return {"do": what, "build": wanted, "environment": dict(os.environ), "path": sys.path}


class Server:
    """The process that serves the pages; another one takes its place if it ends.

    Raises:
        OSError: If the port can't be had.

    """

    def __init__(self, root: Path, port: int) -> None:
        self._root = root
        self._report: dict[str, Any] = {"failures": []}
        self.port = port
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        serve = ("sphinx_drift.live.server", str(self._root), str(self.port))
        command = [sys.executable, "-m", *serve]
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - it is our own
                command, stdin=theirs.fileno(), stdout=theirs.fileno()
            )
        self._lines = Lines(ours)
        answer = self._lines.receive() or {"error": "the server ended"}
        if "error" in answer:
            self.close()
            raise OSError(
                f"nothing can be served on port {self.port}: {answer['error']}; "
                "name another port with --port, or none to have a free one"
            )
        self.port = answer["port"]

    def tell(self, report: dict[str, Any]) -> None:
        """Tell browsers what a build reports."""
        self._report = report
        self._lines.send(report)
        if self._lines.receive() is None:
            self.revive()

    def revive(self) -> None:
        """Start it again where it was, if it has ended: browsers come back by themselves."""
        if self.process.poll() is not None:
            self._lines.close()
            _LOGGER.warning("the server ended (%d): starting it again", self.process.returncode)
            self._start()
            self.tell(self._report)

    def close(self) -> None:
        """End it."""
        self._lines.close()
        self.process.wait()


class Session:
    """Builds a book as often as it is asked to, and serves it.

    Each save is shown by a build that runs only the pages which are known to have changed. Another
    build then runs every page in the background, unless that one has; its report takes the place
    of the first one's. If something is asked for meanwhile, it is left.

    Args:
        source: The folder with ``conf.py`` and the pages.
        output: The folder for the pages in HTML; what Sphinx keeps between builds goes beside it.
        port: Where to serve; 0 for any free one.

    Raises:
        OSError: If nothing can be written or served there.

    """

    def __init__(self, source: Path, output: Path, port: int = 0) -> None:
        self._source = source.resolve()
        self._output = output.resolve()
        self._doctrees = self._output.with_name(f"{self._output.name}-doctrees")
        self._output.mkdir(parents=True, exist_ok=True)
        self._attempts = 0
        """How often the build in the background has been begun since the last save."""
        self._all_ran = 0.0
        """When a build last began that ran all pages."""
        with ExitStack() as opened:
            self._server = Server(self._output, port)
            opened.callback(self._server.close)
            self._forker = Forker()
            opened.callback(self._close_forker)
            opened.callback(fork_client.close)
            fork_client.preload(find_preload(self._source, [self._source]))
            fork_client.start()
            self._open = opened.pop_all()
        self.port = self._server.port

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @property
    def written(self) -> list[Path]:
        """What builds write, beside each other in `_build` perhaps."""
        around = self._output.parent
        if around != self._source and around.is_relative_to(self._source):
            return [around]
        return [self._output, self._doctrees, self._output.with_name("jupyter_execute")]

    def _close_forker(self) -> None:
        self._forker.close()  # the one of now

    def renew(self) -> None:
        """Start the helpers anew: the code that they run has changed."""
        self._forker.close()
        self._forker = Forker()
        fork_client.close()
        fork_client.start()

    def build(self, changed: Collection[str] = ()) -> dict[str, Any]:
        """Build the book, tell browsers, and return the report.

        Args:
            changed: The files that have changed since the build before.

        """
        wanted = self._wanted("later")
        report = self._tell(self._forker.build(wanted, list(changed), self._tell))
        self._forker.learn(report.get("modules", []))
        self._forker.stand_ready(wanted)
        self._attempts = 0
        if report["runs"] and report["runs"]["running"]:
            self._build_behind()
        return report

    def _build_behind(self) -> None:
        self._attempts += 1
        self._forker.build_behind(self._wanted("always"))

    def wait(self, seconds: float) -> dict[str, Any] | None:
        """Return the report of the build in the background, if it ends before the time is up.

        A process that has ended, killed perhaps, has another one take its place.
        """
        self._server.revive()
        answer = self._forker.wait(seconds)
        if answer is None:
            return None
        renewed = self._forker.renew_after(answer)
        if renewed or answer.get("has_written"):
            self._forker.stand_ready(self._wanted("later"))  # the one that did is out of date
        if "failures" not in answer and self._attempts < _ATTEMPTS:
            if self._attempts:
                self._build_behind()
            return None
        report = self._tell(answer)
        self._forker.learn(report.get("modules", []))
        return report

    def _tell(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Tell browsers what a build reports, and when pages ran, and return it."""
        report = answer
        if "failures" not in answer:
            why = answer.get("unfit") or f"exit status {answer['died']}"
            text = f"the process of the build ended: {why}"
            report = {"failures": [{"title": "The build ended too early", "text": text}]}
        runs = report.get("runs")
        if runs:
            if report["is_complete"]:
                self._all_ran = report["begun"]
            runs = {
                "pages": {page: max(ran, self._all_ran) for page, ran in runs.items()},
                "all": self._all_ran if report["is_complete"] else None,
                "running": not report["is_complete"],
            }
        report = {"summary": "", **report, "runs": runs}
        self._server.tell({name: report[name] for name in ("failures", "runs")})
        return report

    def _wanted(self, rerun: str) -> dict[str, str]:
        return {
            "source": str(self._source),
            "output": str(self._output),
            "doctrees": str(self._doctrees),
            "helper": _helper(),
            "rerun": rerun,
        }


def _helper() -> str:
    """Return the address of the process that forks pages, of another one if it has ended."""
    helper = fork_client.helper()
    if isinstance(helper, fork_client.Helper) and helper.process.poll() is not None:
        _LOGGER.warning("the process that forks pages ended (%d)", helper.process.returncode)
        fork_client.close()
        helper = fork_client.helper()
    return helper.address
