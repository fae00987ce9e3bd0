"""A live session in a process of its own, as an author has it, and a browser on it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]  # the checker's folder
PATIENCE = 300


class Live:
    """A session, and a browser on one of its pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "sphinx_drift.live", ".", "_build/live"]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self._line().split("/")[2].rpartition(":")[2])

    def _read(self) -> None:
        """Take in what the terminal shows, so that a test waits for it no longer than it must."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def _line(self) -> str:
        return self._lines.get(timeout=PATIENCE)

    @contextmanager
    def get(self, path: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path)
        with closing(connection), connection.getresponse() as answer:
            yield answer

    def page(self, name: str = "index") -> str:
        with self.get(f"/{name}.html") as answer:
            return answer.read().decode()

    def failures(self) -> list[dict[str, str]]:
        """Return what a browser is told that comes now."""
        failures: list[dict[str, str]] = self.report()["failures"]
        return failures

    def report(self) -> dict[str, Any]:
        """Return all that a browser is told that comes now."""
        with self.get("/-live/events") as events:
            report: dict[str, Any] = json.loads(events.readline().decode().removeprefix("data: "))
        return report

    def write(self, name: str, old: str, new: str) -> None:
        """Change a file, as many editors do."""
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.with_name(".new").write_text(text.replace(old, new))
        path.with_name(".new").rename(path)

    def save(self, name: str, old: str, new: str) -> str:
        """Change a file, and return what the terminal shows of the build."""
        self.write(name, old, new)
        shown = self.wait()
        assert f" {Path(name).name}, " in shown
        return shown

    def wait(self) -> str:
        """Return what the terminal shows of the next build of what was saved."""
        while " all pages, " in (shown := self._shown()):
            pass
        return shown

    def wait_for_all(self) -> str:
        """Return what the terminal shows of the next build in the background."""
        while " all pages, " not in (shown := self._shown()):
            pass
        return shown

    def _shown(self) -> str:
        """Return what the terminal shows next, up to a build's last line."""
        lines = [self._line()]
        while not (lines[-1][:2].isdigit() and lines[-1][2] == ":"):
            lines.append(self._line())
        return "".join(lines)

    def end(self, how: signal.Signals) -> None:
        assert self.process.stdout is not None
        self.process.send_signal(how)
        self._reader.join()
        self.process.stdout.close()
        self.process.wait()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


@contextmanager
def living(folder: Path) -> Iterator[Live]:
    """Serve a book, from the end of its first build."""
    live = Live(folder)
    live.wait()
    try:
        yield live
    finally:
        if live.process.poll() is None:
            live.end(signal.SIGINT)


def write_book(folder: Path, files: Mapping[str, str]) -> Path:
    """Write the files of a book into a folder, and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def wait_until(done: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < until
        time.sleep(0.02)
