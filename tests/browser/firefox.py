"""The system's Firefox, driven over WebDriver BiDi; Playwright's own build isn't needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from chromium import installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

PROGRAMS = ("firefox-esr", "firefox")
# A phone's pointer is a finger that can't hover, and its scrollbars lie over the page.
PHONE = {
    "ui.allPointerCapabilities": 1,
    "ui.primaryPointerCapabilities": 1,
    "ui.useOverlayScrollbars": 1,
}


def firefox() -> str:
    """Return the browser's path, or say what to install."""
    return installed("Firefox", PROGRAMS, package="firefox-esr", variable="FIREFOX_PATH")


@dataclass
class Firefoxes:
    """One Firefox for each theme and device, started when first asked for.

    Firefox follows the system; over WebDriver BiDi only its preferences can say which it is.
    """

    playwright: Playwright
    browsers: dict[tuple[str, bool], Browser] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for browser in self.browsers.values():
            browser.close()

    def launch(self, theme: str, *, is_phone: bool = False) -> Browser:
        """Return the Firefox of that theme, on a phone or on a desk."""
        if (theme, is_phone) not in self.browsers:
            device = PHONE if is_phone else {}
            self.browsers[theme, is_phone] = self.playwright.firefox.launch(
                executable_path=firefox(),
                channel="moz-firefox",
                firefox_user_prefs={"ui.systemUsesDarkTheme": int(theme == "dark"), **device},
            )
        return self.browsers[theme, is_phone]
