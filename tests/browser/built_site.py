"""A site on the loopback, compressed as any host would send it."""

from __future__ import annotations

import ast
import gzip
import mimetypes
import sys
import threading
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote, urlsplit

from the_book import DOCS

if TYPE_CHECKING:
    from pathlib import Path

# Fonts and pictures are compressed already.
TEXT = ("text/", "application/json", "application/xml", "image/svg+xml", "application/javascript")
NO_PAGES = ("_", "sphinx-drift")
"""How folders begin that hold no pages of the book: the manual has a theme of its own."""
REDIRECTS = next(
    ast.literal_eval(node.value)
    for node in ast.parse((DOCS / "conf.py").read_text("utf-8")).body
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "redirects"
)  # to run it takes what this environment hasn't
TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".ipynb": "application/json"}


class Website(ThreadingHTTPServer):
    """Serves a folder until the `with` block ends."""

    daemon_threads = True
    request_queue_size = 64  # a page asks for many files at once

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.packed: dict[Path, bytes] = {}
        super().__init__(("127.0.0.1", 0), Handler)

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @cached_property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def page(self, name: str) -> str:
        return f"{self.address}/{name}.html"

    def file(self, path: str) -> Path | None:
        """Return the file that a request means, or None."""
        found = (self.folder / unquote(urlsplit(path).path).lstrip("/")).resolve()
        if found.is_dir():
            found /= "index.html"
        return found if found.is_file() and found.is_relative_to(self.folder) else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Website

    def do_GET(self) -> None:
        """Send a file, compressed where it is text, or the page for addresses that are none."""
        status, found = HTTPStatus.OK, self.server.file(self.path)
        if found is None:
            status, found = HTTPStatus.NOT_FOUND, self.server.file("404.html")
        body = found.read_bytes() if found else b"not found"
        kind = TYPES.get(found.suffix) if found else "text/plain"
        kind = kind or mimetypes.guess_type(str(found))[0] or "application/octet-stream"
        self.send_response(status)
        if found and kind.startswith(TEXT) and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = self.server.packed.setdefault(found, gzip.compress(body, 6, mtime=0))
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the same
        """Say nothing: the browser tells what it missed."""


def pages(site: Path) -> list[str]:
    """Return the names of a site's pages, as their addresses have them, without the ending."""
    files = sorted(path.relative_to(site).with_suffix("") for path in site.rglob("*.html"))
    names = [path.as_posix() for path in files if not path.parts[0].startswith(NO_PAGES)]
    return [name for name in names if name not in REDIRECTS]  # which show nothing of their own
