"""The system's Firefox, driven over WebDriver BiDi; Playwright's own build isn't needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from chromium import installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

PROGRAMS = ("firefox-esr", "firefox")


def firefox() -> str:
    """Return the browser's path, or say what to install."""
    return installed("Firefox", PROGRAMS, package="firefox-esr", variable="FIREFOX_PATH")


@dataclass
class Firefoxes:
    """One Firefox for each theme, started when first asked for.

    Firefox follows the system's theme; over WebDriver BiDi only its preferences can say which.
    """

    playwright: Playwright
    browsers: dict[str, Browser] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for browser in self.browsers.values():
            browser.close()

    def launch(self, theme: str) -> Browser:
        """Return the Firefox of that theme."""
        if theme not in self.browsers:
            self.browsers[theme] = self.playwright.firefox.launch(
                executable_path=firefox(),
                channel="moz-firefox",
                firefox_user_prefs={"ui.systemUsesDarkTheme": int(theme == "dark")},
            )
        return self.browsers[theme]
