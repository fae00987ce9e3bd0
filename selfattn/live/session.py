"""The processes of a live session: the helper that forks builds, the pages' helper, the server."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from selfattn.runner import helpers

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Forker", "Server", "Session"]

_BESIDE = Path(__file__).parent
_Tell = Callable[[dict[str, Any]], None]


class Forker:
    """The process that forks a build for each save."""

    def __init__(self) -> None:
        self._loaded: set[str] = set()
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
        with ours:
            self._lines: IO[str] = ours.makefile("rw", encoding="ascii")

    def _write(self, request: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # it is gone: said when it is asked for something
            self._lines.write(json.dumps(request) + "\n")
            self._lines.flush()

    def _read(self) -> dict[str, Any]:
        try:
            answer = self._lines.readline()
        except OSError:
            answer = ""
        found: dict[str, Any] = json.loads(answer) if answer else {"died": self.process.wait()}
        return found

    def stand_ready(self, wanted: dict[str, str]) -> None:
        """Have a process make all ready for the next build."""
        self._write(_request(wanted))

    def build(self, wanted: dict[str, str], changed: list[str], tell: _Tell) -> dict[str, Any]:
        """Build a book; by a new helper, if this one is gone or may not fork any more.

        Args:
            wanted: What to build, and where.
            changed: The files that have changed since the build before.
            tell: Called with what the build says before its end.

        """
        answer = self._ask_for(wanted, changed, tell)
        if "unfit" in answer or self.process.poll() is not None:
            self.close()
            self._start()
            answer = self._ask_for(wanted, changed, tell)
        return answer

    def _ask_for(self, wanted: dict[str, str], changed: list[str], tell: _Tell) -> dict[str, Any]:
        self._write({**_request(wanted), "word": changed})
        while (answer := self._read()).get("early"):
            tell(answer)
        return answer

    def learn(self, names: list[str]) -> None:
        """Load what builds have imported, for the next one."""
        new = [name for name in names if name not in self._loaded]
        if new:
            self._loaded.update(new)
            self._write({"load": new})
            self._read()

    def close(self) -> None:
        """End it, with the build that it may be at."""
        self._lines.close()
        self.process.wait()


def _request(wanted: dict[str, str]) -> dict[str, Any]:
    return {"build": wanted, "environment": dict(os.environ), "path": sys.path}


class Server:
    """The process that serves the pages."""

    def __init__(self, root: Path, port: int) -> None:
        command = [sys.executable, "-m", "selfattn.live.server", str(root), str(port)]
        self.process = subprocess.Popen(  # noqa: S603 - it is our own
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdin is not None  # noqa: S101 - asked for above
        assert self.process.stdout is not None  # noqa: S101 - asked for above
        self._told = self.process.stdin
        self._heard = self.process.stdout
        self.port = int(self._heard.readline())

    def tell(self, said: dict[str, Any]) -> None:
        """Tell browsers what a build said."""
        self._told.write(json.dumps(said) + "\n")
        self._told.flush()
        self._heard.readline()

    def close(self) -> None:
        """End it."""
        self._told.close()
        self.process.wait()
        self._heard.close()


class Session:
    """Builds a book as often as it is asked to, and serves it.

    Args:
        source: The folder with ``conf.py`` and the pages.
        output: The folder for the pages in HTML; what Sphinx keeps between builds goes beside it.
        port: Where to serve; 0 for any free one.

    """

    def __init__(self, source: Path, output: Path, port: int = 0) -> None:
        self._source = source.resolve()
        self._output = output.resolve()
        self._doctrees = self._output.with_name(f"{self._output.name}-doctrees")
        self._output.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            self._forker = Forker()
            opened.callback(self._close_forker)
            opened.callback(helpers.close)
            helpers.start()
            self._server = Server(self._output, port)
            opened.callback(self._server.close)
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
        helpers.close()
        helpers.start()

    def build(self, changed: Collection[str] = ()) -> dict[str, Any]:
        """Build the book, tell browsers, and say what came of it.

        Args:
            changed: The files that have changed since the build before.

        """
        said = self._forker.build(self._wanted(), list(changed), self._server.tell)
        for way in ("died", "unfit"):
            if way in said:
                text = f"the process of the build ended: {said[way]}"
                said = {"failures": [{"title": "The build ended too early", "text": text}]}
        modules = said.pop("modules", [])
        said.setdefault("summary", "")
        self._server.tell(said)
        self._forker.learn(modules)
        self._forker.stand_ready(self._wanted())
        return said

    def _wanted(self) -> dict[str, str]:
        return {
            "source": str(self._source),
            "output": str(self._output),
            "doctrees": str(self._doctrees),
            "helper": helpers.helper().address if helpers.possible() else "",
        }
