"""Serves the output to browsers on this machine, and sends them the report of each build.

A browser listens once for all its tabs, in a worker that they share: it opens six connections to a
host at most. Each tab then asks for the head of its own page, whose ``ETag`` tells whether it is
still the one that is shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import queue
import sys
import threading
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
EVENTS = "/-live/events"
SCRIPT = "/-live/page.js"
WORKER = "/-live/worker.js"
_ALIVE = 15.0  # seconds after which a silent browser is sent something, to see whether it is there


class LiveHTTPServer(ThreadingHTTPServer):
    """Serves a folder, and keeps the last build's report for browsers that come later."""

    daemon_threads = True
    request_queue_size = 128  # a browser that finds no place in it tries again a second later

    def __init__(self, root: Path, port: int) -> None:
        super().__init__((HOST, port), partial(Handler, directory=str(root)))
        self.root = root.resolve()
        self.report: dict[str, Any] = {"failures": []}
        self.browsers: set[queue.SimpleQueue[dict[str, Any]]] = set()

    def send(self, report: dict[str, Any]) -> None:
        """Send a build's report to all browsers."""
        self.report = report
        for browser in list(self.browsers):
            browser.put(report)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about browsers that went away in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(SimpleHTTPRequestHandler):
    """Answers one browser's request."""

    server: LiveHTTPServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file; a page gets its script on the way."""
        if not self._is_from_here():
            self.send_error(HTTPStatus.FORBIDDEN, "this book is served to this machine alone")
            return
        path = self.path.partition("?")[0]
        file = self._file(path)
        if path == EVENTS:
            self._send_events()
        elif path in {SCRIPT, WORKER}:
            script = Path(__file__).with_name(path.rpartition("/")[2])
            self._send(script.read_bytes(), "text/javascript")
        elif file is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        elif (page := self._page(file, path)) is not None:
            self._send(with_script(page), "text/html", digest(page))
        elif self.command == "HEAD":
            super().do_HEAD()
        else:
            super().do_GET()

    do_HEAD = do_GET  # noqa: N815 - the base class names it so

    def _is_from_here(self) -> bool:
        """Return whether the browser asks for us by our name: any name may lead here."""
        name = (self.headers.get("Host") or "").partition(":")[0]  # port 80 goes without saying
        return name in {HOST, "localhost"}

    def _file(self, path: str) -> Path | None:
        """Return what a path leads to, if that is in the folder that is served."""
        try:
            file = Path(self.translate_path(path)).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):  # it leads nowhere, or can't be a path at all
            return None
        return file if file.is_relative_to(self.server.root) else None

    def _page(self, file: Path, path: str) -> bytes | None:
        """Return a page, a folder's own one too if the links on it are relative to the folder."""
        is_folder = file.is_dir()
        if is_folder != path.endswith("/"):
            return None  # the base class sends a browser to a folder's address, which has a slash
        page = file / "index.html" if is_folder else file
        try:
            return page.read_bytes() if page.suffix == ".html" else None
        except OSError:
            return None

    def _send(self, body: bytes, kind: str, tag: str = "") -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if tag:
            self.send_header("ETag", f'"{tag}"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Have the browser ask again whether a file is still the same."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def _send_events(self) -> None:
        """Send a browser the report of each build until it goes away."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        news: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.server.browsers.add(news)
        try:
            report = self.server.report
            while True:
                self.wfile.write(f"data: {json.dumps(report)}\n\n".encode())
                report = self._next(news)
        except OSError:
            return
        finally:
            self.server.browsers.discard(news)

    def _next(self, news: queue.SimpleQueue[dict[str, Any]]) -> dict[str, Any]:
        """Wait for a build; fail when the browser has gone away."""
        while True:
            try:
                return news.get(timeout=_ALIVE)
            except queue.Empty:
                self.wfile.write(b":\n\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keep quiet: the terminal shows builds."""


def digest(page: bytes) -> str:
    """Return a short name for the content of a page."""
    return hashlib.sha256(page).hexdigest()[:16]


def with_script(page: bytes) -> bytes:
    """Return a page with the script that listens for builds, before its end."""
    script = f'<script src="{SCRIPT}" data-digest="{digest(page)}"></script>'.encode()
    before, end, after = page.rpartition(b"</body>")
    return before + script + end + after if end else page + script


@contextlib.contextmanager
def serving(root: Path, port: int) -> Iterator[LiveHTTPServer]:
    """Serve a folder, in a thread, while something else is done.

    Raises:
        OSError: If the port can't be had.

    """
    try:
        server = LiveHTTPServer(root, port)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(
            f"nothing can be served on port {port}: {reason}; "
            "name another port with --port, or none to have a free one"
        ) from None
    with server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
