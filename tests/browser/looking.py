"""What is looked at on a page: each function returns the faults that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reader import DESK

if TYPE_CHECKING:
    from reader import Visit

READABLE = ("sideways", "contrast", "mathematics")


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
