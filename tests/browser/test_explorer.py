"""The explorer is used by mouse, touch and keyboard: numbers, choices and tasks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from built_site import Website
from explorer_page import Explorer
from reader import Device, Reader, Report

PAGE = "self-attention/explorer"


class Setting(NamedTuple):
    """A browser, an input device, and the width of the window."""

    reader: Reader
    device: Device = "mouse"
    width: int = 1440


SETTINGS = [
    ("reader", "mouse", 1440),
    ("reader", "touch", 390),
    ("reader", "keyboard", 1440),
    ("firefox_reader", "mouse", 390),
]


@pytest.fixture(params=SETTINGS, ids=lambda setting: "-".join(map(str, setting)))
def setting(request: pytest.FixtureRequest) -> Setting:
    browser, device, width = request.param
    return Setting(request.getfixturevalue(browser), device, width)


@contextmanager
def opened(setting: Setting, address: str, theme: str = "light") -> Iterator[Explorer]:
    with setting.reader.visit(address, setting.width, theme) as visit:
        explorer = Explorer(visit, setting.device)
        explorer.root.locator(".explorer").wait_for()
        yield explorer


def test_a_walk_through_the_explorer(setting: Setting, website: Website) -> None:
    """A number is explained; word, seed, entry, divisor, mask and axis change what they should."""
    with opened(setting, website.page(PAGE)) as explorer:
        explorer.touch("attn_scores", 2, 2)
        assert explorer.text("trace").endswith("= 0.4306·0.4433 + 1.4551·1.1419 ≈ 1.8524")
        assert explorer.lit() == ["keys 1 0", "keys 1 1", "queries 1 0", "queries 1 1"]
        explorer.pick("word", "4")
        assert explorer.shares() == ["16%", "20%", "20%", "15%", "12%", "18%"]
        explorer.pick("word", "2")

        drawn = explorer.rows("W_query")
        explorer.press("Other numbers")
        assert explorer.rows("W_query") != drawn
        explorer.press("Reset")
        assert explorer.rows("W_query") == drawn

        before = explorer.rows("context_vecs")
        explorer.type("q11", "-1,5")
        assert explorer.rows("W_query")[0][0] == "-1.5000"
        assert explorer.rows("context_vecs") != before
        explorer.press("Reset")

        scores = explorer.rows("attn_scores")
        explorer.pick("divisor", "1")
        assert explorer.rows("masked") == scores
        explorer.pick("divisor", "sqrt")
        explorer.pick("mask", "causal")
        assert list(map(float, explorer.rows("attn_weights")[0])) == [1, 0, 0, 0, 0, 0]
        explorer.pick("mask", "none")
        explorer.pick("axis", "column")
        columns = zip(*explorer.rows("attn_weights"), strict=True)
        assert all(sum(map(float, column)) == pytest.approx(1, abs=0.03) for column in columns)


def test_a_task_accepts_its_answer_and_no_other(reader: Reader, website: Website) -> None:
    """Other answers of all tasks are tried in test_site_explorer.py."""
    with opened(Setting(reader), website.page(PAGE)) as explorer:
        explorer.type("k22", "0")
        assert "0 solved" in explorer.text("count")
        explorer.press("Reset")
        explorer.type("v22", "0")
        assert explorer.text("answer").startswith("✓ ")
        assert "1 solved" in explorer.text("count")
        for _ in range(8):
            explorer.press("Next task")
        for column in range(2, 7):  # so that the first token sees itself alone
            explorer.hide(1, column)
        assert explorer.text("answer").startswith("✓ ")
        explorer.page.reload()
        assert explorer.text("count").endswith("2 solved")  # the browser keeps it


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1366, 768), (390, 844), (844, 390)])
def test_the_note_stands_beside_its_number_and_nothing_moves(
    reader: Reader, website: Website, width: int, height: int
) -> None:
    with opened(Setting(reader, "mouse", width), website.page(PAGE)) as explorer:
        page, note = explorer.page, explorer.root.locator(".explorer-note")
        page.set_viewport_size({"width": width, "height": height})
        cell = explorer.cell("W_value", 2, 2)
        cell.scroll_into_view_if_needed()
        before = page.evaluate("scrollY"), cell.bounding_box()
        cell.click()
        page.keyboard.type("0")
        page.keyboard.press("Enter")
        assert "Changed: V, Z. Z of “journey”: 0.3061 0.8210 → 0.3061 0.5596" in note.inner_text()
        assert "That answers the task. Weights are made of" in note.inner_text()
        if width > 1000:  # the answer has its room above the tables
            assert (page.evaluate("scrollY"), cell.bounding_box()) == before
        box, beside = cell.bounding_box(), note.bounding_box()
        assert box
        assert beside
        gap = max(beside["y"] - box["y"] - box["height"], box["y"] - beside["y"] - beside["height"])
        assert 0 <= gap < 120  # three rows and a caption
        assert 0 <= beside["y"] <= height - beside["height"]


def test_each_box_of_a_page_has_numbers_of_its_own(reader: Reader, website: Website) -> None:
    with reader.visit(website.page("self-attention/step-by-step")) as visit:
        first, scores = (Explorer(visit, "mouse", number).unfold() for number in (1, 2))
        before = first.rows("queries"), scores.rows("attn_scores")
        first.type("x11", "2")
        assert first.rows("queries") != before[0]
        assert scores.rows("attn_scores") == before[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_a_state_has_no_fault(
    reader: Reader, website: Website, report: Report, width: int, theme: str
) -> None:
    with opened(Setting(reader, "mouse", width), website.page(PAGE), theme) as explorer:
        explorer.pick("mask", "causal")
        explorer.type("x11", "-1.5")
        explorer.touch("attn_scores", 2, 2)
        visit = explorer.visit
        # Beneath the open note, cells are small.
        faults = [fault for fault in visit.axe() if "obscured" not in fault]
        report(visit, visit.probe("sideways", "contrast") + faults)


def test_numbers_and_tables_have_names(reader: Reader, website: Website) -> None:
    with opened(Setting(reader, "keyboard"), website.page(PAGE)) as explorer:
        cell = explorer.touch("attn_scores", 2, 2)
        described = cell.get_attribute("aria-describedby")
        assert "0.4306·0.4433" in (explorer.page.locator(f"#{described}").text_content() or "")
        grids = explorer.root.get_by_role("grid")
        names = grids.evaluate_all("(all) => all.map((grid) => grid.ariaLabel)")
        assert len(set(names)) == len(names) > 5
        stops = explorer.root.locator("table, table *, .explorer-scroll").and_(
            explorer.page.locator("[tabindex='0']")
        )
        assert stops.count() == len(names)
