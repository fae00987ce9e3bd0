"""Tabs on a live session: each shows what its page is now, however many there are."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from sphinx_drift.live.server import HOST, LiveHTTPServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page, Route
    from reader import Reader

TABS = 8  # a browser opens six connections to a host
PAGE = "<!DOCTYPE html><html lang=en><title>Page</title><main><p>{}</p></main></body></html>"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveHTTPServer]:
    for number in range(TABS):
        write(tmp_path, number, "first")
    with LiveHTTPServer(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def write(folder: Path, number: int, text: str) -> None:
    (folder / f"page-{number}.html").write_text(PAGE.format(text))


@contextmanager
def opened(reader: Reader, server: LiveHTTPServer, tabs: int) -> Iterator[list[Page]]:
    """Open each page in a tab of one browser."""
    context = reader.launch("light").new_context()
    context.set_default_timeout(20_000)
    pages = [context.new_page() for _ in range(tabs)]
    for number, page in enumerate(pages):
        page.goto(f"http://{HOST}:{server.server_port}/page-{number}.html")
    yield pages
    context.close()


def test_every_tab_loads_and_follows_its_page(reader: Reader, server: LiveHTTPServer) -> None:
    with opened(reader, server, TABS) as pages:
        for page in pages:
            expect(page.get_by_text("first")).to_be_visible()
        for number in range(1, TABS):
            write(server.root, number, "second")
        server.send({"failures": [{"title": "page.md:1: drift", "text": "- 1\n+ 2"}]})
        for page in pages[1:]:
            expect(page.get_by_text("second")).to_be_visible()
        for page in pages:
            expect(page.get_by_role("alert")).to_contain_text("page.md:1: drift")
        assert len(server.browsers) == 1
        server.send({"failures": []})
        for page in pages:
            expect(page.get_by_role("alert")).to_have_count(0)


def test_one_goes_on_when_the_others_are_closed(reader: Reader, server: LiveHTTPServer) -> None:
    with opened(reader, server, 2) as (first, second):
        first.close()
        write(server.root, 1, "second")
        server.send({"failures": []})
        expect(second.get_by_text("second")).to_be_visible()


def test_a_page_that_is_gone_is_waited_for(reader: Reader, server: LiveHTTPServer) -> None:
    with opened(reader, server, 1) as (page,):
        (server.root / "page-0.html").unlink()
        server.send({"failures": [{"title": "gone", "text": "for now"}]})
        expect(page.get_by_role("alert")).to_contain_text("gone")
        expect(page.get_by_text("first")).to_be_visible()
        write(server.root, 0, "second")
        server.send({"failures": []})
        expect(page.get_by_text("second")).to_be_visible()


def test_a_page_that_changed_before_its_script_ran_is_loaded_again(
    reader: Reader, server: LiveHTTPServer
) -> None:
    def change_meanwhile(route: Route) -> None:
        response = route.fetch()
        write(server.root, 0, "second")
        route.fulfill(response=response)

    with opened(reader, server, 1) as (page,):
        page.route("**/page-0.html", change_meanwhile, times=1)
        page.reload(wait_until="commit")
        expect(page.get_by_text("second")).to_be_visible()


def test_a_page_that_the_back_button_shows_listens_again(
    reader: Reader, server: LiveHTTPServer
) -> None:
    """Browsers keep a page that was left as it was, and tell it so by these events."""
    with opened(reader, server, 1) as (page,):
        page.evaluate("""() => {
          dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
          dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        }""")
        write(server.root, 0, "second")
        server.send({"failures": []})
        expect(page.get_by_text("second")).to_be_visible()


def test_it_says_when_pages_ran(reader: Reader, server: LiveHTTPServer) -> None:
    when = 1_700_000_000.0
    clock = f"{datetime.fromtimestamp(when):%H:%M:%S}"  # noqa: DTZ006 - as the reader's clock says
    with opened(reader, server, 2) as (here, there):
        status = here.get_by_role("status")
        expect(status).to_have_text("")
        runs: dict[str, Any] = {"pages": {"page-0.html": when}, "all": None, "running": True}
        server.send({"failures": [], "runs": runs})
        expect(status).to_have_text(f"Last run {clock}; running all pages…")
        expect(there.get_by_role("status")).to_have_text("running all pages…")
        pages = {"page-0.html": when, "page-1.html": when}
        runs = {"pages": pages, "all": when, "running": False}
        server.send({"failures": [{"title": "page.md:1: drift", "text": "- 1\n+ 2"}], "runs": runs})
        expect(status).to_have_text(f"All 2 pages with code ran at {clock}")
        expect(status).to_be_visible()
        expect(here.get_by_role("alert")).to_be_visible()
        server.send({"failures": [], "runs": None})
        expect(status).to_have_text("")
