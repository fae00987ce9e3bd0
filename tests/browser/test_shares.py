"""The first page's figure answers: by mouse, finger and keyboard, and to a screen reader."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import looking
import pytest
import using

if TYPE_CHECKING:
    from pathlib import Path

    from built_site import Website
    from playwright.sync_api import Locator
    from reader import Judge, Reader, Visit

HANDS = [(390, "touch"), (390, "keyboard"), (1440, "mouse"), (1440, "keyboard")]
FINGER = 44  # pixels


def word(visit: Visit, name: str) -> Locator:
    return visit.page.get_by_role("radio", name=name, exact=True)


def status(visit: Visit) -> str:
    return visit.page.locator("attention-shares").get_by_role("status").inner_text()


def numbers(visit: Visit) -> list[str]:
    return visit.page.locator("attention-shares td").all_inner_texts()


@dataclass
class Shares:
    """What the build wrote into the page; `tests/test_site_explorer_tasks.py` compares it."""

    words: list[str]
    weights: list[list[float]]

    def of(self, name: str) -> list[float]:
        return self.weights[self.words.index(name)]

    def shown(self, name: str) -> list[str]:
        return [f"{weight:.2f}" for weight in self.of(name)]


@pytest.fixture(scope="module")
def shares(site: Path) -> Shares:
    page = (site / "index.html").read_text("utf-8")
    given = re.search('<attention-shares data-given="([^"]*)"', page)
    assert given is not None
    read = json.loads(html.unescape(given[1]))
    return Shares(read["words"], read["weights"])


@pytest.mark.parametrize(("width", "hand"), HANDS)
def test_each_word_shows_its_shares(
    reader: Reader, website: Website, shares: Shares, width: int, hand: using.Hand
) -> None:
    with reader.visit(website.page("index"), width) as visit:
        for name in shares.words:
            using.use(word(visit, name), hand, "Space")
            assert word(visit, name).is_checked()
            assert numbers(visit) == shares.shown(name)
            assert status(visit).startswith(f"“{name}” attends most to ")
            table = visit.page.get_by_role("table", name=f"The shares of “{name}”")
            assert table.get_by_role("columnheader").all_text_contents() == [*shares.words]
        assert not visit.heard


def test_it_teaches_before_it_is_touched(reader: Reader, website: Website, shares: Shares) -> None:
    with reader.visit(website.page("index"), 390) as visit:
        assert word(visit, "journey").is_checked()
        assert numbers(visit) == shares.shown("journey")
        wanted = "“journey” attends most to itself (0.23) and least to “one” (0.09)."
        assert status(visit) == wanted
        assert visit.page.get_by_role("group", name="Choose a word").count() == 1


def test_arrows_go_from_word_to_word(reader: Reader, website: Website, shares: Shares) -> None:
    with reader.visit(website.page("index"), 1440) as visit:
        word(visit, "journey").focus()
        for key, name in (("ArrowRight", "starts"), ("ArrowLeft", "journey"), ("ArrowUp", "Your")):
            visit.page.keyboard.press(key)
            assert word(visit, name).is_checked()
            assert numbers(visit) == shares.shown(name)


@pytest.mark.parametrize(("width", "hand"), [(390, "keyboard"), (1440, "mouse")])
def test_it_answers_in_firefox(
    firefox_reader: Reader, website: Website, shares: Shares, width: int, hand: using.Hand
) -> None:
    with firefox_reader.visit(website.page("index"), width) as visit:
        for name in ("one", "Your"):
            using.use(word(visit, name), hand, "Space")
            assert numbers(visit) == shares.shown(name)
            assert status(visit).startswith(f"“{name}” attends most to ")
        assert not visit.heard


def test_the_picture_shows_the_numbers(reader: Reader, website: Website, shares: Shares) -> None:
    with reader.visit(website.page("index"), 1440) as visit:
        word(visit, "one").check()
        row = shares.of("one")
        widths = visit.page.locator("attention-shares path").evaluate_all(
            "(arcs) => arcs.map((arc) => parseFloat(arc.style.strokeWidth))"
        )
        assert widths == pytest.approx([32 * weight for weight in row], rel=1e-4)
        bars = visit.page.locator("attention-shares i").evaluate_all(
            "(bars) => bars.map((bar) => parseFloat(bar.style.getPropertyValue('--share')))"
        )
        assert bars == pytest.approx(row, rel=1e-4)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_every_word_stands_before_all_probes(
    reader: Reader, website: Website, judge: Judge, width: int, theme: str
) -> None:
    with reader.visit(website.page("index"), width, theme) as visit:
        for name in ("Your", "one"):
            word(visit, name).check()
            judge(visit, looking.page(visit, theme))


def test_a_finger_meets_each_word(reader: Reader, website: Website, shares: Shares) -> None:
    with reader.visit(website.page("index"), 390) as visit:
        for name in shares.words:
            box = word(visit, name).bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= FINGER, (name, box)


def test_nothing_moves_for_who_wants_no_motion(reader: Reader, website: Website) -> None:
    with reader.visit(website.page("index"), 1440, fresh=True) as visit:
        moving = "getComputedStyle(document.querySelector('attention-shares i')).transitionDuration"
        assert visit.page.evaluate(moving) != "0s"
        visit.page.emulate_media(reduced_motion="reduce")
        assert visit.page.evaluate(moving) == "0s"


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_page_stays_where_it_is_when_the_figure_wakes(
    reader: Reader, website: Website, width: int
) -> None:
    with reader.visit(website.page("index"), width, fresh=True) as visit:
        assert visit.shift(website.page("index"), "**/*.js*", "**/*.woff2") < 0.01


def test_without_scripts_the_figure_stands(reader: Reader, website: Website) -> None:
    with reader.visit(website.page("index"), 390, script=False) as visit:
        picture = visit.page.locator("attention-shares svg[role=img]")
        assert picture.is_visible()
        assert visit.page.get_by_role("radio").count() == 0
        box = picture.bounding_box()
        assert box is not None
        assert box["height"] < box["width"]  # no room is kept for what will not come


def test_its_files_are_small_and_on_its_page_alone(site: Path) -> None:
    with_it = [p for p in site.rglob("*.html") if "shares.js" in p.read_text("utf-8")]
    assert [page.relative_to(site).as_posix() for page in with_it] == ["index.html"]
