"""The system's Chromium and Firefox, started so that nothing leaves this machine."""

import os
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from playwright.sync_api import Browser, Playwright

FIREFOX = ("firefox-esr", "firefox")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

# A phone's pointer is a finger that can't hover, and its scrollbars lie over the page.
PHONE = {
    "ui.allPointerCapabilities": 1,
    "ui.primaryPointerCapabilities": 1,
    "ui.useOverlayScrollbars": 1,
}


def installed(browser: str, programs: Sequence[str], package: str, variable: str) -> str:
    """Return the path of one of a browser's programs, or of what a variable names, or exit."""
    program = os.environ.get(variable) or next(filter(None, map(shutil.which, programs)), None)
    if program is None:
        raise SystemExit(
            f"no {browser}: none of {', '.join(programs)} is on PATH."
            f" Install one (Debian: apt-get install {package}), or name it in {variable}."
        )
    return program


def launcher(playwright: Playwright) -> Callable[..., Browser]:
    """Return what starts one Firefox for each theme and device, when first asked for.

    Firefox follows the system; over WebDriver BiDi only its preferences can say which it is.
    """

    @cache
    def launch(theme: str, *, is_phone: bool = False) -> Browser:
        preferences: dict[str, Any] = PHONE if is_phone else {}
        return playwright.firefox.launch(
            executable_path=installed("Firefox", FIREFOX, "firefox-esr", "FIREFOX_PATH"),
            channel="moz-firefox",
            firefox_user_prefs={"ui.systemUsesDarkTheme": int(theme == "dark"), **preferences},
        )

    return launch
