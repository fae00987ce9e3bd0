"""A book that was read once can be read without a network, and a copy never passes for the book."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import looking
import pytest
from built_site import Website
from playwright.sync_api import Error, expect
from reader import Visit

from sphinx_drift.live.server import HOST, LiveHTTPServer
from website import offline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page
    from reader import Judge, Reader

MOST = 2048  # bytes
STEP = "self-attention/step-by-step.html"
OLD, NEW = "0.3061", "0.3968"
COPIES = "async () => (await caches.keys()).filter((name) => name.includes('/book/'))"
SAVED = """async () => {
  const copies = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  return (await Promise.all(copies.map((copy) => copy.keys()))).flat().length;
}"""
WORKERS = "async () => (await navigator.serviceWorker.getRegistrations()).length"
READY = """async () => {
  const worker = (await navigator.serviceWorker.getRegistration())?.active;
  return worker?.state === "activated" && !!navigator.serviceWorker.controller;
}"""


class Host(Website):
    """A host of several sites, this book's in a folder, that can be out of reach."""

    is_down = False

    def file(self, path: str) -> Path | None:
        if self.is_down:
            raise ConnectionResetError
        return super().file(path)

    def book(self, name: str = "") -> str:
        return f"{self.address}/book/{name}"


@pytest.fixture
def host(site: Path, tmp_path: Path) -> Iterator[Host]:
    """Serve a copy of the built book, whose files are links to the book's."""
    left_out = shutil.ignore_patterns("_downloads", "sphinx-drift")
    shutil.copytree(site, tmp_path / "book", ignore=left_out, copy_function=os.link)
    with Host(tmp_path) as served:
        yield served


@pytest.fixture(params=["chromium", "firefox"])
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    """Return a window of somebody who has never been here, with a service worker if it wants."""
    fixture = "reader" if request.param == "chromium" else "firefox_reader"
    reader: Reader = request.getfixturevalue(fixture)
    context = reader.launch("light").new_context()
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def pages(host: Host) -> list[str]:
    listed = json.loads((host.folder / "book" / offline.LIST).read_text("utf-8"))
    return [name for name in listed if name.endswith(".html")]


def publish(host: Host, name: str, old: str, new: str) -> None:
    """Replace the book by one in which a page has another number."""
    file = host.folder / "book" / name
    text = file.read_text("utf-8")
    assert old in text
    _rewrite(file, text.replace(old, new))
    listed = pages(host)
    for written in (offline.LIST, offline.WORKER):
        (file.parents[name.count("/")] / written).unlink()
    offline.write(host.folder / "book", listed)
    host.packed.clear()


def _rewrite(file: Path, text: str) -> None:
    file.unlink()  # it is the built book's, too
    file.write_text(text, "utf-8")


def wait_until(page: Page, script: str) -> None:
    """Wait until a script that takes its time returns true; Playwright takes a promise for true."""
    for _ in range(300):
        if page.evaluate(script):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never true: {script}")


def read(page: Page, address: str) -> None:
    """Open a page and read on, until the browser has saved what it wants to."""
    page.goto(address)
    page.keyboard.press("PageDown")
    wait_until(page, READY)


@contextmanager
def no_network(host: Host) -> Iterator[None]:
    host.is_down = True
    yield
    host.is_down = False


def test_a_book_that_was_opened_once_can_be_read_without_a_network(page: Page, host: Host) -> None:
    read(page, host.book())
    note = page.locator(".saved-copy")
    expect(note).to_have_count(0)
    names = pages(host)
    assert len(names) > 30
    with no_network(host):
        for name in [*names, ""]:
            page.goto(host.book(name), wait_until="load")
            expect(note).to_contain_text(re.compile(r"saved on \d+ \w+ 20\d\d\. The book may have"))
            sheets = page.evaluate("[...document.styleSheets].every((sheet) => sheet.cssRules)")
            assert sheets, name
        page.goto(host.book("search.html?q=softmax"))
        expect(page.locator("ul.search a").first).to_be_visible()
    page.goto(host.book(STEP))
    expect(note).to_have_count(0)
    with no_network(host), pytest.raises(Error):
        page.goto(f"{host.address}/other/")  # another site of the same host


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
@pytest.mark.parametrize("browser", ["reader", "firefox_reader"])
def test_a_page_of_the_copy_has_no_fault(
    request: pytest.FixtureRequest, host: Host, judge: Judge, browser: str, width: int, theme: str
) -> None:
    reader: Reader = request.getfixturevalue(browser)
    context = reader.launch(theme, is_phone=width == 390).new_context(
        viewport={"width": width, "height": 844},
        color_scheme=theme if reader.emulates_theme else "null",  # type: ignore[arg-type]
    )
    context.set_default_timeout(30_000)
    visit = Visit(context.new_page(), "", width)
    read(visit.page, host.book(STEP))
    with no_network(host):
        visit.go(host.book(STEP))
        expect(visit.page.locator(".saved-copy")).to_be_visible()
        judge(visit, looking.page(visit, theme) + looking.in_the_hand(visit))
    context.close()


def test_a_new_build_replaces_the_copy(page: Page, host: Host) -> None:
    read(page, host.book(STEP))
    [before] = page.evaluate(COPIES)
    publish(host, STEP, OLD, NEW)
    page.goto(host.book(STEP))
    assert OLD not in page.locator("article").inner_text()
    wait_until(page, f"async () => !(await ({COPIES})()).includes({before!r})")
    wait_until(page, READY)
    with no_network(host):
        page.goto(host.book(STEP))
        expect(page.locator(".saved-copy")).to_be_visible()
        text = page.locator("article").inner_text()
        assert NEW in text
        assert OLD not in text


def test_a_page_of_the_build_before_is_shown_as_a_copy_alone(page: Page, host: Host) -> None:
    read(page, host.book(STEP))
    publish(host, STEP, OLD, NEW)
    with no_network(host):  # before the browser could notice
        page.goto(host.book(STEP))
        assert OLD in page.locator("article").inner_text()
        expect(page.locator(".saved-copy")).to_be_visible()
    page.goto(host.book(STEP))
    assert OLD not in page.locator("article").inner_text()


def test_a_copy_is_of_one_build_or_there_is_none(page: Page, host: Host) -> None:
    file = host.folder / "book" / STEP
    _rewrite(file, file.read_text("utf-8").replace(OLD, NEW))
    page.goto(host.book())
    page.keyboard.press("PageDown")
    wait_until(page, f"async () => (await ({COPIES})()).length && !(await ({WORKERS})())")
    assert page.evaluate(SAVED) == 0


def test_nothing_is_saved_before_somebody_reads(page: Page, host: Host) -> None:
    page.goto(host.book(STEP))
    page.wait_for_timeout(500)
    assert page.evaluate(WORKERS) == 0


def test_a_live_session_has_no_copy(page: Page, host: Host) -> None:
    with LiveHTTPServer(host.folder / "book", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://{HOST}:{server.server_port}/{STEP}")
        page.keyboard.press("PageDown")
        page.wait_for_timeout(500)
        assert page.evaluate(WORKERS) == 0
        server.shutdown()


def test_the_worker_is_small(site: Path) -> None:
    assert 500 < (site / offline.WORKER).stat().st_size <= MOST
