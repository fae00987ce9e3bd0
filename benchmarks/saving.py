"""Measure from saving a page to its being served anew, by a server that watches and rebuilds."""

from __future__ import annotations

import contextlib
import shlex
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPException
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import urlopen

from measure import end_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OURS = "{python} -m sphinx_drift.live --port {port} {docs} {out}/html"
AUTOBUILD = (
    "{python} -m sphinx_autobuild --host {host} --port {port} -d {out}/doctrees {docs} {out}/html"
)
HOST = "127.0.0.1"
POLL = 0.01  # seconds between two looks at the page
START = 240.0  # seconds that the first build may take
SAVE = 120.0  # seconds that a save may take


class Served(NamedTuple):
    """A book that is served while one of its pages is edited."""

    command: str
    docs: Path
    out: Path
    page: str
    """The page that is saved, without its suffix."""
    variables: Mapping[str, str]
    log: Path


class NeverServed(Exception):  # noqa: N818 - it is told and counted, and is no error here
    """A page that did not come."""


def saves(served: Served, rounds: int) -> Iterator[float]:
    """Yield the seconds from each save to the page that has what was saved.

    The first save, during which servers still load what later ones have, is not counted. The
    page is asked for every 10 ms; what a browser then takes to show it is not counted, nor
    what the server may still do after it has written the page.

    Raises:
        NeverServed: If a page doesn't come.

    """
    with _serving(served) as url:
        source = served.docs / f"{served.page}.md"
        original = source.read_text("utf-8")
        _wait(url, "</html>", START)
        time.sleep(2)  # the first build's last steps
        try:
            for number in range(rounds + 1):
                word = f"saved{number}x{time.monotonic_ns()}"
                started = time.monotonic()
                source.write_text(f"{original}\nThis sentence was {word}.\n", "utf-8")
                _wait(url, word, SAVE)
                seconds = time.monotonic() - started
                if number:
                    yield seconds
                time.sleep(1 + seconds)  # the server finishes
        finally:
            source.write_text(original, "utf-8")


@contextlib.contextmanager
def _serving(served: Served) -> Iterator[str]:
    """Start the server, tell the page's address, and end it."""
    port = _free_port()
    command = served.command.format(
        python=shlex.quote(sys.executable),
        host=HOST,
        port=port,
        docs=shlex.quote(str(served.docs)),
        out=shlex.quote(str(served.out)),
    )
    with served.log.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - the benchmark's own commands
            shlex.split(command),
            cwd=served.docs.parent,
            env=dict(served.variables),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield f"http://{HOST}:{port}/{served.page}.html"
        finally:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            end_all()


def _wait(url: str, word: str, seconds: float) -> None:
    """Wait until a page is served that has a word."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError, HTTPException), urlopen(url, timeout=5) as reply:  # noqa: S310 - a loopback address
            if word.encode() in reply.read():
                return
        time.sleep(POLL)
    raise NeverServed(f"{url} has no {word} after {seconds:.0f} s")


def _free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
