"""A person's eyes: each function looks at a page in one way and returns what is wrong with it."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

import using
from PIL import Image

if TYPE_CHECKING:
    from built_site import Website
    from playwright.sync_api import Locator
    from reader import Visit

READABLE = ("sideways", "contrast", "pictures", "mathematics")
HTML_ID = r"""\bid=(["']?){}\1[\s/>]"""


def probed(visit: Visit, *names: str) -> list[str]:
    return [fault for name in names for fault in visit.probe(name)]


def page(visit: Visit, theme: str, *, colours: bool = True) -> list[str]:
    """Look at a page as it was opened."""
    faults = probed(visit, *READABLE, "loading") + visit.axe(colours=colours)
    if visit.probe("dark") is not (theme == "dark"):
        faults.append(f"theme: the page does not follow a system that is {theme}")
    return faults + visit.heard


def in_the_hand(visit: Visit) -> list[str]:
    """Look at what a phone makes narrow, and at what a finger presses."""
    return probed(visit, "sideways", "targets", "covered", "cut", "scrollers")


def in_forced_colours(visit: Visit) -> list[str]:
    """Look at a page in the few colours that a system gives to all pages."""
    visit.page.emulate_media(forced_colors="active")
    try:
        return probed(visit, "bars", "contrast")
    finally:
        visit.page.emulate_media(forced_colors="none")


def shades(visit: Visit, box: Locator, *, upright: bool = False) -> list[bool]:
    """Say whether the two ends of a box look unlike its middle, in the strip before its text."""
    area = box.bounding_box()
    assert area
    strip = {**area, "width" if upright else "height": 8}
    picture = Image.open(BytesIO(visit.page.screenshot(clip=strip))).convert("L")  # type: ignore[arg-type]
    across = (5, 0, 6, picture.height) if upright else (0, 5, picture.width, 6)
    line = picture.crop(across).tobytes()  # a byte for each shade of grey
    middle = sorted(line)[len(line) // 2]
    return [abs(line[end] - middle) > 8 for end in (2, -3)]


def without_scripts(visit: Visit) -> list[str]:
    """Read a page where no script runs, and use what works by itself."""
    hand = using.pointer(visit)
    faults = probed(visit, *READABLE, "unreadable", "deadWithout")
    return faults + using.folds(visit, hand) + using.menu(visit, hand) + visit.heard


def from_a_folder(visit: Visit) -> list[str]:
    """Read a page that came from a disk, and use it."""
    hand = using.pointer(visit)
    faults = probed(visit, *READABLE, "unreadable") + using.in_the_text(visit, hand)
    return faults + using.menu(visit, hand) + visit.heard


def on_paper(visit: Visit) -> list[str]:
    """Look at the page as it is printed."""
    visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    return probed(visit, "sideways", "contrast", "unprinted")


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
    return faults + probed(visit, "kept", "permalinks") + names(visit)


def names(visit: Visit) -> list[str]:
    """Hear what a screen reader calls links and headings: words, and each only its own."""
    wire = visit.page.context.new_cdp_session(visit.page)
    nodes = wire.send("Accessibility.getFullAXTree")["nodes"]
    wire.detach()
    heard = [
        (node["role"]["value"], node["name"]["value"])
        for node in nodes
        if node.get("role", {}).get("value") in {"link", "heading"} and "name" in node
    ]
    assert {role for role, _ in heard} == {"link", "heading"}, "nothing was heard"
    wordless = [name for _, name in heard if not re.search(r"\w", name)]
    linked = [name for role, name in heard if role == "heading" and re.search("#|Link to", name)]
    faults = [f"name: a screen reader calls something “{name}”" for name in wordless]
    return faults + [f"name: the heading “{name}” is called after its link" for name in linked]


def weight(parts: dict[str, int], most: int) -> list[str]:
    """Say what a page is made of if that is too much."""
    total = sum(parts.values())
    if 0 < total <= most:
        return []
    heaviest = sorted(parts.items(), key=lambda part: -part[1])
    told = ", ".join(f"{name} {size}" for name, size in heaviest)
    return [f"weight: {total} bytes, {most} at most: {told}"]


def steadiness(shifts: dict[str, float], most: float) -> list[str]:
    """Say which pages moved most, if they moved too much on average."""
    mean = sum(shifts.values()) / len(shifts)
    if mean <= most:
        return []
    first = sorted(shifts.items(), key=lambda shift: -shift[1])[:5]
    told = ", ".join(f"{name} {shift:.3f}" for name, shift in first)
    return [f"pages shift by {mean:.3f}, {most} at most: {told}"]


def not_found(visit: Visit) -> list[str]:
    """Look at what an address shows that is none: it says so and leads back."""
    title = visit.page.title()
    faults = [] if "not found" in title.lower() else [f"404: its title is {title!r}"]
    if not visit.page.locator("main a:visible").count():
        faults.append("404: no link in its text leads back")
    faults += probed(visit, *READABLE) + visit.axe(colours=True)
    return faults + [fault for fault in visit.heard if visit.page.url not in fault]
