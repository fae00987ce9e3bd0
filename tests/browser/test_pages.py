"""Every page is looked at once, and five of them in every way; with --all, every page is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import looking
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from built_site import Website
    from reader import Reader, Report

WIDTHS = (360, 768, 1440)
WIDE = 1200  # pixels, from which pages have a margin
THEMES = ("light", "dark")
HEAVIEST, HEAVIEST_OF_MANUAL = 160_000, 150_000
"""Bytes over the wire: about a second on a slow phone's connection."""


def test_a_page_has_no_fault(reader: Reader, website: Website, report: Report, name: str) -> None:
    with reader.visit(website.page(name), 390) as visit:
        report(visit, looking.page(visit) + visit.probe("permalinks"))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_has_no_fault_at_any_width(
    reader: Reader, website: Website, report: Report, page_name: str, width: int, theme: str
) -> None:
    with reader.visit(website.page(page_name), width, theme) as visit:
        faults = looking.page(visit) + looking.theme(visit, theme)
        report(visit, faults + (looking.on_a_phone(visit) if width == min(WIDTHS) else []))


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_a_page_can_be_enlarged(
    reader: Reader, website: Website, report: Report, page_name: str, width: int
) -> None:
    with reader.visit(website.page(page_name), width) as visit:
        report(visit, looking.zoomed(visit))


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_can_be_read_in_forced_colours(
    reader: Reader, website: Website, report: Report, page_name: str, theme: str
) -> None:
    with reader.visit(website.page(page_name), 1440, theme) as visit:
        report(visit, looking.in_forced_colours(visit))


@pytest.mark.parametrize("width", [390, 1440])
def test_the_focus_is_seen_and_begins_at_the_text(
    reader: Reader, website: Website, report: Report, page_name: str, width: int
) -> None:
    with reader.visit(website.page(page_name), width) as visit:
        report(visit, looking.focus(visit))


def test_a_page_can_be_read_without_scripts(
    reader: Reader, website: Website, report: Report, page_name: str
) -> None:
    with reader.visit(website.page(page_name), 390, script=False) as visit:
        report(visit, looking.unaided(visit))


def test_a_page_can_be_read_from_a_folder(
    reader: Reader, site: Path, report: Report, page_name: str
) -> None:
    if page_name == "404":  # a server sends it for any address: its links begin at the root
        return
    with reader.visit((site / f"{page_name}.html").as_uri(), 390) as visit:
        report(visit, looking.unaided(visit))


def test_a_page_on_paper_is_its_text(
    reader: Reader, website: Website, report: Report, page_name: str
) -> None:
    with reader.visit(website.page(page_name), 680, media="print") as visit:  # A4 in its margins
        report(visit, looking.on_paper(visit))


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_a_page_has_no_fault_in_firefox(
    firefox_reader: Reader,
    website: Website,
    report: Report,
    page_name: str,
    width: int,
    theme: str,
) -> None:
    with firefox_reader.visit(website.page(page_name), width, theme) as visit:
        report(visit, looking.page(visit) + looking.theme(visit, theme))


def test_a_page_is_light(reader: Reader, website: Website, page_name: str) -> None:
    with reader.visit("about:blank", 412) as visit:
        assert 5_000 < visit.weigh(website.page(page_name)) < HEAVIEST


def test_the_manual_is_light(reader: Reader, website: Website, site: Path) -> None:
    pages = (site / "sphinx-drift").glob("*.html")
    heaviest = max(pages, key=lambda page: page.stat().st_size).stem
    with reader.visit("about:blank", 412) as visit:
        weight = visit.weigh(website.page(f"sphinx-drift/{heaviest}"))
        assert 10_000 < weight < HEAVIEST_OF_MANUAL
        assert visit.page.get_by_role("link", name="The book").is_visible()


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
        report(visit, visit.probe(*looking.READABLE) + visit.axe())


@pytest.mark.parametrize("part", ["", "#the-order-of-additions-counts"])
def test_an_old_address_leads_to_the_new_page(reader: Reader, website: Website, part: str) -> None:
    with reader.visit(website.page("companions/any-device") + part) as visit:
        visit.page.wait_for_url(f"**/reference/any-device.html{part}")
