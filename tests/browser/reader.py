"""Opens pages at a width, in a theme, and hears what goes wrong on the way."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    Response,
)

Report: TypeAlias = Callable[["Visit", list[str]], None]

Device = Literal["mouse", "touch", "keyboard"]
DESK = 1000  # pixels; what is narrower is held in a hand
WINDOWS = 6  # kept open
# How the browsers say that a file isn't waited for any longer, since its page was left.
LEFT = {"net::ERR_ABORTED", "NS_BINDING_ABORTED"}
# What Firefox calls an error and isn't: a font of a page that was left, and a formula that is laid
# out before all of it has come.
NO_ERROR = re.compile(
    r"download failed \(font-family: .* status=2152398850 |Incorrect number of children for <m"
)
PROBES = Path(__file__).with_name("probes.js").read_text(encoding="utf-8")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# Our own probe judges colours, in pictures too, and in half the time.
RUN_AXE = """() => axe.run(document, { resultTypes: ["violations"], preload: false,
    rules: { "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false },
             "target-size": { enabled: true } } })
  .then(({violations, passes}) => ({passes: passes.length, faults: violations.flatMap((rule) =>
    rule.nodes.slice(0, 5).map((node) =>
      `axe: ${rule.id}: ${node.target.join(" ")}: ${node.any.concat(node.all, node.none)
        .map((check) => check.message).join("; ")}`))}))"""
# Fonts, layout and what scripts do at once are over when two frames were painted.
SETTLED = """() => document.fonts.ready.then(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done()))))"""


def use(control: Locator, device: Device) -> None:
    """Press a control by an input device."""
    if device == "touch":
        control.tap()
    elif device == "mouse":
        control.click()
    else:
        control.focus()
        control.press("Enter")


@dataclass
class Visit:
    """A page as it stands in the browser, with what went wrong on the way."""

    page: Page
    host: str
    width: int
    script: bool = True
    errors: list[str] = field(default_factory=list)

    def go(self, address: str) -> None:
        self.page.goto(address)
        self.settle()

    def settle(self) -> None:
        """Wait until what a script or a font changes is changed."""
        if self.script:
            self.page.evaluate(SETTLED)

    def probe(self, *names: str) -> list[str]:
        self.page.evaluate(f"{PROBES}; 0")
        return [fault for name in names for fault in self.page.evaluate(f"probes.{name}()")]

    def axe(self) -> list[str]:
        """Return what axe finds, of targets that are too small for a finger too."""
        self.page.evaluate(f"{AXE}; 0")
        found = self.page.evaluate(RUN_AXE)
        return found["faults"] if found["passes"] else ["axe: it checked nothing"]

    def weigh(self, address: str) -> int:
        """Load a page and scroll through it; return its bytes over the wire."""
        wire = self.page.context.new_cdp_session(self.page)
        wire.send("Network.enable")
        sizes: list[int] = []
        wire.on("Network.loadingFinished", lambda e: sizes.append(int(e["encodedDataLength"])))
        self.go(address)
        self.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        self.page.wait_for_load_state("networkidle")
        return sum(sizes)

    def listeners(self) -> dict[str, Callable[..., None]]:
        return {
            "console": self._console,
            "pageerror": self._error,
            "request": self._request,
            "response": self._response,
            "requestfailed": self._failed,
        }

    def _error(self, error: Error) -> None:
        if not NO_ERROR.match(str(error)):
            self.errors.append(f"console: {error}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not NO_ERROR.match(message.text):
            self.errors.append(f"console: {message.text} ({message.location['url']})")

    def _request(self, request: Request) -> None:
        where = urlsplit(request.url)
        self.host = self.host or where.netloc
        if where.scheme not in {"data", "blob", "about"} and where.netloc != self.host:
            self.errors.append(f"host: {request.url} is asked for")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not response.request.is_navigation_request():
            self.errors.append(f"missing: {response.url}")

    def _failed(self, request: Request) -> None:
        if request.failure not in LEFT:
            self.errors.append(f"missing: {request.url}: {request.failure}")


class WindowKey(NamedTuple):
    """What pages that share a window have in common."""

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
    windows: dict[WindowKey, Page] = field(default_factory=dict)

    @contextmanager
    def visit(
        self,
        address: str,
        width: int = 1440,
        theme: str = "light",
        *,
        script: bool = True,
        media: str = "screen",
    ) -> Iterator[Visit]:
        """Open a page, where nothing may go wrong; on a phone's width the pointer is a finger."""
        parts = urlsplit(address)
        key = WindowKey(f"{parts.scheme}://{parts.netloc}", width, theme, script, media)
        page = self.windows.pop(key, None) or self._window(key)
        visit = Visit(page, parts.netloc, width, script)
        for event, listener in visit.listeners().items():
            page.on(event, listener)  # type: ignore[call-overload]
        try:
            page.bring_to_front()  # Firefox gives no focus to a window behind another
            visit.go(address)
            yield visit
            assert visit.errors == [], visit.errors
            for event, listener in visit.listeners().items():
                page.remove_listener(event, listener)
            if script:
                page.evaluate("try { localStorage.clear() } catch {}")
            page.mouse.move(0, 0)
            page.goto("about:blank")
        except BaseException:
            page.context.close()
            raise
        self.windows[key] = page
        if len(self.windows) > WINDOWS:
            self.windows.pop(next(iter(self.windows))).context.close()

    def _window(self, key: WindowKey) -> Page:
        theme: Literal["dark", "light"] = "dark" if key.theme == "dark" else "light"
        is_phone = key.width < DESK
        context = self.launch(key.theme, is_phone=is_phone).new_context(
            viewport={"width": key.width, "height": 844},
            color_scheme=theme if self.emulates_theme else "null",
            has_touch=is_phone,
            java_script_enabled=key.script,
            permissions=self.permissions,
        )
        context.set_default_timeout(20_000)
        context.set_default_navigation_timeout(60_000)
        page = context.new_page()
        if key.media == "print":
            page.emulate_media(media="print")
        return page
