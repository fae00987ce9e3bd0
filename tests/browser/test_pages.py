"""Every page, at every width, in both themes: nothing is broken, cut off, unnamed or too faint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import looking
import pytest
from built_site import moved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from built_site import Website
    from reader import Judge, Reader

WIDTHS = (390, 768, 1440)
MAIN = {"index", "self-attention/step-by-step", "self-attention/compact-class"}
MOST, MOST_MAIN = 150_000, 100_000  # bytes over the wire


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_has_no_fault(
    reader: Reader, website: Website, judge: Judge, name: str, width: int, theme: str
) -> None:
    with reader.visit(website.page(name), width, theme) as visit:
        colours = width == max(WIDTHS)  # axe is slow at them; at that width all text is shown
        judge(visit, looking.page(visit, theme, colours=colours))


@pytest.mark.parametrize("width", [360, 390])
def test_a_page_is_easy_to_hold(
    reader: Reader, website: Website, judge: Judge, name: str, width: int
) -> None:
    with reader.visit(website.page(name), width) as visit:
        judge(visit, looking.in_the_hand(visit))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_can_be_read_in_forced_colours(
    reader: Reader, website: Website, judge: Judge, name: str, theme: str
) -> None:
    with reader.visit(website.page(name), 1440, theme) as visit:
        judge(visit, looking.probed(visit, "bars") + looking.in_forced_colours(visit))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["div.cell_input pre", "div.cell_output pre"])
def test_a_box_is_shaded_where_more_of_it_is_hidden(
    reader: Reader, website: Website, kind: str, theme: str
) -> None:
    with reader.visit(website.page("self-attention/multi-head"), 360, theme) as visit:
        boxes = visit.page.locator(f"{kind}[tabindex]").all()
        box = max(boxes, key=lambda box: box.evaluate("(box) => box.scrollWidth"))
        box.scroll_into_view_if_needed()
        assert looking.shades(visit, box) == [False, True]
        box.evaluate("(box) => { box.scrollLeft = box.scrollWidth }")
        assert looking.shades(visit, box) == [True, False]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_sidebar_is_shaded_where_more_of_it_is_hidden(
    reader: Reader, website: Website, theme: str
) -> None:
    with reader.visit(website.page("index"), 1440, theme) as visit:
        sidebar = visit.page.locator("#pst-primary-sidebar")
        assert looking.shades(visit, sidebar, upright=True) == [False, True]
        sidebar.evaluate("(sidebar) => { sidebar.scrollTop = sidebar.scrollHeight }")
        assert looking.shades(visit, sidebar, upright=True) == [True, False]


def test_links_lead_somewhere_and_places_have_links(
    reader: Reader, website: Website, judge: Judge, name: str
) -> None:
    with reader.visit(website.page(name)) as visit:
        judge(visit, looking.links(visit, website))


def test_a_page_is_light(
    reader: Reader,
    website: Website,
    judge: Judge,
    record_property: Callable[[str, object], None],
    name: str,
) -> None:
    with reader.visit("about:blank", 390, fresh=True) as visit:
        parts = visit.weigh(website.page(name))
        record_property("weight", sum(parts.values()))
        judge(visit, looking.weight(parts, MOST_MAIN if name in MAIN else MOST))


def test_an_address_that_is_none_leads_back(reader: Reader, website: Website, judge: Judge) -> None:
    with reader.visit(f"{website.address}/no/such/page.html") as visit:
        judge(visit, looking.not_found(visit))


def test_an_address_that_has_moved_leads_to_the_new_one(
    reader: Reader, website: Website, site: Path
) -> None:
    names = moved(site)
    assert names
    for name in names:
        with reader.visit("about:blank") as visit:
            old = website.page(name)
            visit.page.goto(old)
            visit.page.wait_for_url(lambda url, old=old: url != old)
            titles = visit.page.locator("h1").all_inner_texts()  # a theme may have one for print
            assert titles
            assert "This page has moved" not in [title.strip() for title in titles]
