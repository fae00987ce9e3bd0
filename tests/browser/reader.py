"""A person at a browser: opens a page at a width, in a theme, and sees what goes wrong."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from using import DESK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from playwright.sync_api import (
        Browser,
        ConsoleMessage,
        Error,
        Locator,
        Page,
        Request,
        Response,
        Route,
    )

    Judge: TypeAlias = Callable[["Visit", list[str]], None]

WINDOWS = 6  # kept open
# How the browsers say that a file isn't waited for any longer, since its page was left.
LEFT = {"net::ERR_ABORTED", "NS_BINDING_ABORTED"}
# What Firefox calls an error and isn't: a font of a page that was left, sometimes not before the
# next page is there, and a formula that is laid out before all of it has come.
NO_ERROR = re.compile(
    r"download failed \(font-family: .* status=2152398850 |Incorrect number of children for <m"
)
PROBES = Path(__file__).with_name("probes.js").read_text(encoding="utf-8")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN = """(rules) => axe.run(document, {
  resultTypes: ["violations"], preload: false, rules,
}).then(({violations, passes}) => ({passes: passes.length, faults: violations.flatMap((rule) =>
  rule.nodes.slice(0, 5).map((node) =>
    `axe: ${rule.id}: ${node.target.join(" ")}: ${node.any.concat(node.all, node.none)
      .map((check) => check.message).join("; ")}`))}))"""
# Fonts, layout and what scripts do at once are over when two frames were painted.
PAINTED = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done())))"""
SETTLED = f"() => document.fonts.ready.then({PAINTED})"
# How far a page has moved since it was painted, as browsers measure it.
WATCH = """() => {
  let sum = 0;
  const add = (shifts) => { for (const {value} of shifts) sum += value; };
  const watch = new PerformanceObserver((list) => add(list.getEntries()));
  watch.observe({type: "layout-shift", buffered: true});
  globalThis.shifted = () => { add(watch.takeRecords()); return sum; };
}"""
# Before the page's own scripts: printing is counted, and the first painted ground is kept.
EARLY = """globalThis.print = () => { globalThis.printed = (globalThis.printed ?? 0) + 1; };
const look = () => document.body
  ? (globalThis.firstColour = getComputedStyle(document.body).backgroundColor)
  : requestAnimationFrame(look);
requestAnimationFrame(look);"""


@dataclass
class Visit:
    """A page as it stands in the browser, with what went wrong on the way."""

    page: Page
    host: str
    width: int
    script: bool = True
    heard: list[str] = field(default_factory=list)

    def listen(self) -> None:
        for event, heard in self._ears().items():
            self.page.on(event, heard)  # type: ignore[call-overload]

    def go(self, address: str) -> None:
        self.page.goto(address)
        self.settle()

    def leave(self) -> None:
        """Leave the window as the next visitor of the same way should find it."""
        for event, heard in self._ears().items():
            self.page.remove_listener(event, heard)
        if self.script:
            self.page.evaluate("try { localStorage.clear() } catch {}")
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")

    def settle(self) -> None:
        """Wait until what a script or a font changes is changed."""
        if self.script:
            self.page.evaluate(SETTLED)

    def probe(self, name: str, *arguments: object) -> Any:
        """Ask one of the probes; they are there as long as the page is."""
        self._equip()
        return self.page.evaluate(f"(given) => probes.{name}(...given)", list(arguments))

    def look(self, name: str, element: Locator) -> Any:
        """Ask a probe about one element."""
        self._equip()
        return element.evaluate(f"(it) => probes.{name}(it)")

    def weigh(self, address: str) -> dict[str, int]:
        """Load a page into the empty cache and scroll through it; tell each file's bytes."""
        wire = self.page.context.new_cdp_session(self.page)
        wire.send("Network.enable")
        names: dict[str, str] = {}
        sizes: dict[str, int] = {}

        def begun(event: dict[str, Any]) -> None:
            names[event["requestId"]] = event["request"]["url"]

        def ended(event: dict[str, Any]) -> None:
            name = names[event["requestId"]].split("?")[0].rpartition("/")[2]
            sizes[name] = sizes.get(name, 0) + int(event["encodedDataLength"])

        wire.on("Network.requestWillBeSent", begun)
        wire.on("Network.loadingFinished", ended)
        self.go(address)
        self.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        self.page.wait_for_load_state("networkidle")
        return sizes

    def shift(self, address: str, files: str, never: str) -> float:
        """Load a page, bring files once it is painted, others never, and tell how far it moves."""
        late: list[Route] = []
        painted = False
        self.page.route(never, lambda route: route.abort())
        self.page.route(files, lambda route: route.continue_() if painted else late.append(route))
        self.page.goto(address, wait_until="commit")
        self.page.wait_for_function("document.readyState !== 'loading'")
        self.page.evaluate(WATCH)
        self.page.evaluate(PAINTED)
        painted = True
        assert late, f"no file {files} was asked for"
        for route in late:
            route.continue_()
        self.page.wait_for_load_state()
        self.settle()
        return float(self.page.evaluate("shifted()"))

    def axe(self, *, colours: bool, scrolled: bool = False) -> list[str]:
        """Ask axe; what it says about colours takes it as long as all the rest.

        Of a page that is scrolled, sizes aren't asked: bars lie over whatever they meet there.
        """
        self.page.evaluate(f"{AXE}; 0")
        asked = {
            "color-contrast": colours,
            "link-in-text-block": colours,
            "target-size": not scrolled,
        }
        rules = {rule: {"enabled": wanted} for rule, wanted in asked.items()}
        found = self.page.evaluate(RUN, rules)
        return found["faults"] if found["passes"] else ["axe: it checked nothing"]

    def _equip(self) -> None:
        if not self.page.evaluate("typeof probes === 'object'"):
            self.page.evaluate(f"{PROBES}; 0")

    def _ears(self) -> dict[str, Callable[..., None]]:
        return {
            "console": self._console,
            "pageerror": self._error,
            "request": self._request,
            "response": self._response,
            "requestfailed": self._failed,
        }

    def _error(self, error: Error) -> None:
        if not NO_ERROR.match(str(error)):
            self.heard.append(f"console: {error}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not NO_ERROR.match(message.text):
            where = message.location["url"]
            self.heard.append(f"console: {message.text} ({where})")

    def _request(self, request: Request) -> None:
        where = urlsplit(request.url)
        self.host = self.host or where.netloc
        if where.scheme not in {"data", "blob", "about"} and where.netloc != self.host:
            self.heard.append(f"host: {request.url} is asked for")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not response.request.is_navigation_request():
            self.heard.append(f"missing: {response.url}")

    def _failed(self, request: Request) -> None:
        if request.failure not in LEFT:
            self.heard.append(f"missing: {request.url}: {request.failure}")


class Way(NamedTuple):
    """A way to look at a site: pages that are looked at in the same way share a window."""

    site: str
    width: int
    theme: str
    script: bool
    media: str


@dataclass(frozen=True)
class Reader:
    """Opens pages, and keeps a few windows, since a new one costs more than a page.

    `launch` returns the browser for a theme and a device; `permissions` are what its windows are
    granted.
    """

    launch: Callable[..., Browser]
    permissions: tuple[str, ...] = ()
    emulates_theme: bool = True
    windows: dict[Way, Page] = field(default_factory=dict)

    @contextmanager
    def visit(
        self,
        address: str,
        width: int = 1440,
        theme: str = "light",
        *,
        script: bool = True,
        media: str = "screen",
        fresh: bool = False,
    ) -> Iterator[Visit]:
        """Open a page; on a phone's width the pointer is a finger.

        A fresh visitor has nothing in the cache; what is stored no visitor finds from another.
        """
        parts = urlsplit(address)
        way = Way(f"{parts.scheme}://{parts.netloc}", width, theme, script, media)
        window = None if fresh else self.windows.pop(way, None)
        page = window or self._window(way)
        visit = Visit(page, parts.netloc, width, script)
        try:
            visit.listen()
            page.bring_to_front()  # Firefox tells no window behind another of its focus
            visit.go(address)
            yield visit
            visit.leave()
        except BaseException:
            page.context.close()
            raise
        if fresh:
            page.context.close()
            return
        self.windows[way] = page
        if len(self.windows) > WINDOWS:
            self.windows.pop(next(iter(self.windows))).context.close()

    def _window(self, way: Way) -> Page:
        theme: Literal["dark", "light"] = "dark" if way.theme == "dark" else "light"
        is_phone = way.width < DESK
        context = self.launch(way.theme, is_phone=is_phone).new_context(
            viewport={"width": way.width, "height": 844},
            color_scheme=theme if self.emulates_theme else "null",
            has_touch=is_phone,
            java_script_enabled=way.script,
            permissions=self.permissions,
            service_workers="block",  # each window would save a copy of the book
        )
        context.set_default_timeout(20_000)
        context.set_default_navigation_timeout(60_000)
        context.add_init_script(EARLY)
        page = context.new_page()
        if way.media == "print":
            page.emulate_media(media="print")
        return page
