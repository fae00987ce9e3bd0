"""Open many connections to a live session at once, and tell how long the slowest waits.

``python tools/connections.py [--pages 60] [--listeners 12]`` asks for pages while others listen for
news, as the tabs of a browser do. Every answer must be the whole page, and every listener must hear
of the next save.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from saves import save, write_book

from sphinx_drift.live.server import EVENTS, HOST
from sphinx_drift.live.session import Session

PATIENCE = 60.0


def ask(port: int) -> tuple[float, bool]:
    """Ask for the first page; return the seconds that took, and whether it came whole."""
    start = time.perf_counter()
    with closing(http.client.HTTPConnection(HOST, port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/index.html")
        answer = connection.getresponse()
        body = answer.read()
    is_whole = answer.status == http.client.OK and body.rstrip().endswith(b"</html>")
    return time.perf_counter() - start, is_whole


def listen(port: int, opened: ExitStack) -> http.client.HTTPResponse:
    """Return a stream of news that stays open."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE)
    opened.callback(connection.close)
    connection.request("GET", EVENTS)
    return connection.getresponse()


def hears(stream: http.client.HTTPResponse, after: float) -> bool:
    """Wait for a build in which a page has run after a moment."""
    while line := stream.readline():
        runs = json.loads(line[6:])["runs"] if line.startswith(b"data: ") else None
        if runs and max(runs["pages"].values()) >= after:
            return True
    return False


def main() -> int:
    """Connect, measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=60, metavar="N")
    parser.add_argument("--listeners", type=int, default=12, metavar="N")
    wanted = parser.parse_args()
    with TemporaryDirectory() as place, ExitStack() as opened:
        book = Path(place)
        write_book(book)
        session = opened.enter_context(Session(book, book / "_build" / "live"))
        session.build()
        streams = [listen(session.port, opened) for _ in range(wanted.listeners)]
        pool = opened.enter_context(ThreadPoolExecutor(wanted.pages + wanted.listeners))
        answers = list(pool.map(ask, [session.port] * wanted.pages))
        before = time.time()
        heard = [pool.submit(hears, stream, before) for stream in streams]
        save(session, book / "page-0.md", 1)
        told = sum(each.result() for each in heard)
    whole = sum(is_whole for _, is_whole in answers)
    slowest = max(seconds for seconds, _ in answers)
    print(
        f"{whole} of {wanted.pages} pages came whole, the slowest after {slowest:.2f} s; "
        f"{told} of {wanted.listeners} listeners heard of the save"
    )
    return 0 if whole == wanted.pages and told == wanted.listeners else 1


if __name__ == "__main__":
    sys.exit(main())
