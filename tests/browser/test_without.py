"""Without scripts, without a server, on paper: everything can still be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import looking
import pytest
import using

if TYPE_CHECKING:
    from pathlib import Path

    from built_site import Website
    from reader import Judge, Reader


def test_a_page_can_be_read_without_scripts(
    reader: Reader, website: Website, judge: Judge, name: str
) -> None:
    with reader.visit(website.page(name), 390, script=False) as visit:
        judge(visit, looking.without_scripts(visit))


def test_a_page_can_be_read_from_a_folder(
    reader: Reader, site: Path, judge: Judge, name: str
) -> None:
    if name == "404":  # a server sends it, for any address: its links begin at the site's root
        assert 'href="/' in (site / "404.html").read_text("utf-8")
        return
    with reader.visit((site / f"{name}.html").as_uri(), 390) as visit:
        judge(visit, looking.from_a_folder(visit))


@pytest.mark.parametrize("width", [768, 1440])
def test_the_main_page_can_be_read_so_at_every_width(
    reader: Reader, website: Website, site: Path, judge: Judge, width: int
) -> None:
    name = "self-attention/step-by-step"
    with reader.visit(website.page(name), width, script=False) as visit:
        judge(visit, looking.without_scripts(visit))
    with reader.visit((site / f"{name}.html").as_uri(), width) as visit:
        judge(visit, looking.from_a_folder(visit))


def test_a_book_in_a_folder_keeps_its_theme_and_is_searched(
    reader: Reader, site: Path, judge: Judge
) -> None:
    start, other = [(site / name).as_uri() for name in ("index.html", "reference/glossary.html")]
    with reader.visit(start, fresh=True) as visit:
        faults = using.theme(visit, "mouse", other)
        visit.go(start)
        if visit.page.locator("input[type=search]:visible").count():  # or it is kindly absent
            faults += using.search(visit, "softmax")
        judge(visit, faults + visit.heard)


def test_a_page_on_paper_is_its_text(
    reader: Reader, website: Website, judge: Judge, name: str
) -> None:
    with reader.visit(website.page(name), 680, media="print") as visit:  # A4 within its margins
        judge(visit, looking.on_paper(visit))
