"""Serves the output to browsers on this machine, and tells them when to load a page again."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import signal
import sys
import threading
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["HOST", "Handler", "Server", "main"]

HOST = "127.0.0.1"
EVENTS = "/-live/events"
SCRIPT = "/-live/page.js"
_ALIVE = 15.0  # seconds after which a silent browser is told something, to see whether it is there


class Server(ThreadingHTTPServer):
    """Serves a folder, and keeps what the last build said for browsers that come later."""

    daemon_threads = True

    def __init__(self, root: Path, port: int) -> None:
        super().__init__((HOST, port), partial(Handler, directory=str(root)))
        self.root = root.resolve()
        self.said: dict[str, Any] = {"failures": []}
        self.browsers: set[queue.SimpleQueue[dict[str, Any]]] = set()

    def tell(self, said: dict[str, Any]) -> None:
        """Tell all browsers what a build said."""
        self.said = said
        for browser in list(self.browsers):
            browser.put(said)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that went away in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(SimpleHTTPRequestHandler):
    """Answers one browser's request."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file; a page gets its script on the way."""
        if not self._is_from_here():
            self.send_error(HTTPStatus.FORBIDDEN, "this book is served to this machine alone")
            return
        path = urlsplit(self.path).path
        if path == EVENTS:
            self._send_events()
        elif path == SCRIPT:
            self._send(Path(__file__).with_name("page.js").read_bytes(), "text/javascript")
        elif page := self._page(path):
            self._send(with_script(page.read_bytes()), "text/html")
        elif self._file(path) is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        elif self.command == "HEAD":
            super().do_HEAD()
        else:
            super().do_GET()

    do_HEAD = do_GET  # noqa: N815 - the base class names it so

    def _is_from_here(self) -> bool:
        """Tell whether the browser asks for us by our name: any name may lead here."""
        name = (self.headers.get("Host") or "").rpartition(":")[0]
        return name in {HOST, "localhost"}

    def _file(self, path: str) -> Path | None:
        """Return what a path leads to, if that is in the folder that is served."""
        found = Path(self.translate_path(path)).resolve()
        return found if found.exists() and found.is_relative_to(self.server.root) else None

    def _page(self, path: str) -> Path | None:
        found = self._file(path)
        if found is not None and found.is_dir():
            found /= "index.html"
        return found if found and found.suffix == ".html" and found.is_file() else None

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Have the browser ask again whether a file is still the same."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def _send_events(self) -> None:
        """Tell a browser of each build until it goes away."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        asked = parse_qs(urlsplit(self.path).query)
        path, shown = asked.get("path", ["/"])[0], asked.get("digest", [""])[0]
        news: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.server.browsers.add(news)
        try:
            said = self.server.said
            while True:
                page = self._page(path)
                if page and digest(page.read_bytes()) != shown:
                    self._event("changed", {})
                    return
                self._event("built", said)
                said = self._next(news)
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

    def _event(self, name: str, said: dict[str, Any]) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(said)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the terminal tells of builds."""


def digest(page: bytes) -> str:
    """Return a short name for what a page holds."""
    return hashlib.sha256(page).hexdigest()[:16]


def with_script(page: bytes) -> bytes:
    """Return a page with the script that listens for builds, before its end."""
    script = f'<script src="{SCRIPT}" data-digest="{digest(page)}"></script>'.encode()
    before, end, after = page.rpartition(b"</body>")
    return before + script + end + after if end else page + script


def main() -> None:
    """Serve until whoever started this is gone; each line of standard input is a build's."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    server = Server(Path(sys.argv[1]), int(sys.argv[2]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)  # noqa: T201 - whoever started this reads it
    for line in sys.stdin:
        server.tell(json.loads(line))
        print(flush=True)  # noqa: T201 - from now on no browser hears of the build before
    os._exit(0)


if __name__ == "__main__":
    main()
