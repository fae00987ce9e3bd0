"""The first page's figure answers by mouse, finger and keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reader import use

if TYPE_CHECKING:
    from built_site import Website
    from reader import Device, Reader

SHARES = {
    "now": ["0.00", "0.95", "0.03", "0.00", "0.00", "0.02"],
    "dogs": ["0.74", "0.26", "0.00", "0.00", "0.00", "0.00"],
}


@pytest.mark.parametrize(
    ("browser", "width", "device"),
    [
        ("reader", 390, "touch"),
        ("reader", 1440, "keyboard"),
        ("firefox_reader", 1440, "mouse"),
    ],
)
def test_a_word_shows_its_shares(
    request: pytest.FixtureRequest, website: Website, browser: str, width: int, device: Device
) -> None:
    reader: Reader = request.getfixturevalue(browser)
    with reader.visit(website.page("index"), width) as visit:
        figure = visit.page.locator("attention-shares")
        assert figure.locator("td").all_inner_texts() == SHARES["now"]  # before any touch
        for name, shares in reversed(SHARES.items()):
            word = visit.page.get_by_role("radio", name=name, exact=True)
            box = word.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 44  # for a finger
            use(word, device, "Space")
            assert figure.locator("td").all_inner_texts() == shares
            text = figure.get_by_role("status").inner_text()
            assert text.startswith(f"“{name}” attends most to ")
        assert visit.errors == []


def test_without_scripts_the_figure_stands(reader: Reader, website: Website) -> None:
    with reader.visit(website.page("index"), 390, script=False) as visit:
        assert visit.page.locator("attention-shares svg[role=img]").is_visible()
        assert visit.page.get_by_role("radio").count() == 0
