"""Every page is looked at once, and five of them in every way; with --all, every page is."""

from pathlib import Path

import pytest
from built_site import Website
from reader import Reader, Report, Visit

WIDTHS = (360, 768, 1440)
WIDE = 1200  # pixels, from which pages have a margin
THEMES = ("light", "dark")
HEAVIEST = 250_000
"""Bytes, not compressed; with gzip, about a second on a slow phone's connection."""


READABLE = ("sideways", "contrast", "mathematics")


def faults(visit: Visit, system: str = "light") -> list[str]:
    """Look at a page as it was opened, in the theme of the system."""
    found = visit.probe(*READABLE) + visit.axe()
    if bool(visit.probe("dark")) is not (system == "dark"):
        found.append(f"theme: the page does not follow a system that is {system}")
    return found


def test_a_page_has_no_fault(reader: Reader, website: Website, report: Report, name: str) -> None:
    with reader.visit(website.page(name), 390) as visit:
        report(visit, faults(visit) + visit.probe("permalinks"))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_has_no_fault_at_any_width(
    reader: Reader, website: Website, report: Report, page_name: str, width: int, theme: str
) -> None:
    with reader.visit(website.page(page_name), width, theme) as visit:
        report(visit, faults(visit, theme))


@pytest.mark.parametrize("width", [390, 1440])
def test_a_page_can_be_enlarged(
    reader: Reader, website: Website, report: Report, page_name: str, width: int
) -> None:
    """Double its text, as WCAG 1.4.4 asks."""
    with reader.visit(website.page(page_name), width) as visit:
        visit.page.evaluate("document.documentElement.style.fontSize = '200%'")
        visit.settle()
        report(visit, visit.probe("sideways", "contrast"))


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_can_be_read_in_forced_colours(
    reader: Reader, website: Website, report: Report, page_name: str, theme: str
) -> None:
    with reader.visit(website.page(page_name), 1440, theme) as visit:
        visit.page.emulate_media(forced_colors="active")
        found = visit.probe("contrast")
        visit.page.emulate_media(forced_colors="none")
        report(visit, found)


@pytest.mark.parametrize("width", [390, 1440])
def test_the_focus_is_seen_and_begins_at_the_text(
    reader: Reader, website: Website, report: Report, page_name: str, width: int
) -> None:
    with reader.visit(website.page(page_name), width) as visit:
        visit.page.keyboard.press("Tab")
        assert (visit.page.locator("*:focus").get_attribute("href") or "").startswith("#")
        visit.page.keyboard.press("Enter")
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement?.closest('main') !== null")
        report(visit, visit.probe("focus"))


@pytest.mark.parametrize("from_folder", [False, True])
def test_a_page_can_be_read_without_scripts_and_from_a_folder(
    reader: Reader, website: Website, site: Path, report: Report, page_name: str, *,
    from_folder: bool,
) -> None:  # fmt: skip
    if page_name == "404" and from_folder:  # a server sends it: its links begin at the root
        return
    address = (site / f"{page_name}.html").as_uri() if from_folder else website.page(page_name)
    with reader.visit(address, 390, script=from_folder) as visit:
        report(visit, visit.probe(*READABLE, "unreadable"))


def test_a_page_on_paper_is_its_text(
    reader: Reader, website: Website, report: Report, page_name: str
) -> None:
    with reader.visit(website.page(page_name), 680, media="print") as visit:  # A4 in its margins
        report(visit, visit.probe("sideways", "contrast", "unprinted"))


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_a_page_has_no_fault_in_firefox(
    firefox_reader: Reader, website: Website, report: Report, page_name: str, width: int, theme: str
) -> None:
    with firefox_reader.visit(website.page(page_name), width, theme) as visit:
        report(visit, faults(visit, theme))


def test_a_page_is_light(reader: Reader, website: Website, page_name: str) -> None:
    with reader.visit("about:blank", 412) as visit:
        assert 5_000 < visit.weigh(website.page(page_name)) < HEAVIEST


@pytest.mark.parametrize("width", [390, 1200, 1440])
def test_steps_and_captions_are_in_a_wide_margin(
    reader: Reader, website: Website, width: int
) -> None:
    with reader.visit(website.page("self-attention/step-by-step"), width) as visit:
        text = visit.page.locator("section > p").first.bounding_box() or {}
        for what in ("aside.sidebar", "section > figure > figcaption"):
            box = visit.page.locator(what).first.bounding_box() or {}
            assert (box["x"] > text["x"] + text["width"]) is (width >= WIDE)


def test_an_unknown_address_leads_back(reader: Reader, website: Website, report: Report) -> None:
    with reader.visit(f"{website.address}/no/such/page.html") as visit:
        assert "not found" in visit.page.title().lower()
        assert visit.page.locator("main a:visible").count()
        visit.errors.clear()  # that the page is missing
        report(visit, visit.probe(*READABLE) + visit.axe())


@pytest.mark.parametrize("part", ["", "#the-order-of-additions-counts"])
def test_an_old_address_leads_to_the_new_page(reader: Reader, website: Website, part: str) -> None:
    with reader.visit(website.page("companions/any-device") + part) as visit:
        visit.page.wait_for_url(f"**/reference/any-device.html{part}")
