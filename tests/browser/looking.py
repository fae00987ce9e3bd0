"""What is looked at on a page: each function returns the faults that it finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from reader import DESK

if TYPE_CHECKING:
    from built_site import Website
    from reader import Visit

READABLE = ("sideways", "contrast", "pictures", "mathematics")
HTML_ID = r"""\bid=(["']?){}\1[\s/>]"""


def page(visit: Visit) -> list[str]:
    """Look at a page as it was opened; axe judges colours where all text is shown."""
    return visit.probe(*READABLE) + visit.axe(colours=visit.width > DESK) + visit.errors


def theme(visit: Visit, system: str) -> list[str]:
    """Check that a page follows the system's theme."""
    if bool(visit.probe("dark")) is (system == "dark"):
        return []
    return [f"theme: the page does not follow a system that is {system}"]


def on_a_phone(visit: Visit) -> list[str]:
    """Look at what a phone makes narrow, and at what a finger presses."""
    return visit.probe("sideways", "targets", "scrollers")


def zoomed(visit: Visit) -> list[str]:
    """Look at a page whose text is twice as large, as WCAG 1.4.4 asks."""
    visit.page.evaluate("document.documentElement.style.fontSize = '200%'")
    visit.settle()
    return visit.probe("sideways", "contrast")


def in_forced_colours(visit: Visit) -> list[str]:
    """Look at a page in the few colours that a system gives to all pages."""
    visit.page.emulate_media(forced_colors="active")
    try:
        return visit.probe("contrast")
    finally:
        visit.page.emulate_media(forced_colors="none")


def unaided(visit: Visit) -> list[str]:
    """Look at a page without scripts, or from a folder: all of it can be read."""
    return visit.probe(*READABLE, "unreadable") + visit.errors


def on_paper(visit: Visit) -> list[str]:
    """Look at a page as it is printed."""
    return visit.probe("sideways", "contrast", "unprinted")


def focus(visit: Visit) -> list[str]:
    """Press Tab and Enter: the text is reached, and whatever has the focus shows it."""
    visit.page.keyboard.press("Tab")
    active = visit.page.locator("*:focus")
    if not active.count() or not (active.get_attribute("href") or "").startswith("#"):
        return ["focus: the first Tab does not reach a link to the text"]
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Tab")
    inside = visit.page.evaluate("document.activeElement?.closest('main') !== null")
    return ([] if inside else ["focus: the next Tab is not in the text"]) + visit.probe("focus")


def links(visit: Visit, website: Website) -> list[str]:
    """Follow each link within the site as far as its file and the place in it."""
    faults = []
    for link in visit.probe("links"):
        address, fragment = urldefrag(link)
        if not address.startswith(f"{website.address}/"):
            continue
        found = website.file(address.removeprefix(website.address))
        if found is None:
            faults.append(f"link: {link} leads to no file")
        elif fragment and found.suffix == ".html":
            place = HTML_ID.format(re.escape(unquote(fragment)))
            if not re.search(place, found.read_text("utf-8")):
                faults.append(f"link: {link} leads to no place on the page")
    return faults + visit.probe("permalinks")
