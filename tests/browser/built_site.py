"""A site on the loopback."""

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

NO_PAGES = ("_", "sphinx-drift")
"""How folders begin that hold no pages of the book: the manual has a theme of its own."""
REDIRECT = '<meta http-equiv="refresh"'
"""What a page has that shows nothing of its own."""


class Website(ThreadingHTTPServer):
    """Serves a folder until the `with` block ends."""

    daemon_threads = True
    request_queue_size = 64  # a page asks for many files at once

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder.resolve())))
        self.address = f"http://127.0.0.1:{self.server_port}"

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

    def page(self, name: str) -> str:
        return f"{self.address}/{name}.html"


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send the page for addresses that are none."""
        del message, explain
        body = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the same
        """Say nothing: the browser tells what it missed."""


def pages(site: Path) -> list[str]:
    """Return the names of a site's pages, as their addresses have them, without the ending."""
    files = sorted(path.relative_to(site) for path in site.rglob("*.html"))
    shown = [file for file in files if not file.parts[0].startswith(NO_PAGES)]
    shown = [file for file in shown if REDIRECT not in (site / file).read_text("utf-8")]
    return [file.with_suffix("").as_posix() for file in shown]
