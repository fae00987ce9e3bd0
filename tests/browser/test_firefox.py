"""Every page in Firefox: nothing is broken, cut off or unnamed, and what can be used works.

WebDriver's touches reach no Firefox page, so that a finger is tried in Chromium alone.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import looking
import pytest
import using
from built_site import Website

if TYPE_CHECKING:
    from pathlib import Path

    from reader import Judge, Reader


@pytest.mark.parametrize(
    ("width", "theme", "hand"), [(390, "dark", "keyboard"), (1440, "light", "mouse")]
)
def test_a_page_has_no_fault_in_firefox(
    firefox_reader: Reader,
    website: Website,
    judge: Judge,
    name: str,
    width: int,
    theme: str,
    hand: using.Hand,
) -> None:
    with firefox_reader.visit(website.page(name), width, theme) as visit:
        faults = looking.page(visit, theme, colours=False)
        judge(visit, faults + using.folds(visit, hand) + using.menu(visit, hand))


@pytest.mark.parametrize("width", [360, 390])
def test_a_page_is_easy_to_hold_in_firefox(
    firefox_reader: Reader, website: Website, judge: Judge, name: str, width: int
) -> None:
    with firefox_reader.visit(website.page(name), width, "dark") as visit:
        judge(visit, looking.in_the_hand(visit))


class Slow(Website):
    """A site whose fonts take their time."""

    def file(self, path: str) -> Path | None:
        if path.endswith(".woff2"):
            time.sleep(1)
        return super().file(path)


def test_a_file_of_a_page_that_was_left_is_not_missed(firefox_reader: Reader, site: Path) -> None:
    aborted = []
    with Slow(site) as slow, firefox_reader.visit("about:blank", fresh=True) as visit:
        visit.page.on("requestfailed", lambda request: aborted.append(request.failure))
        with visit.page.expect_request("**/*.woff2"):
            visit.page.goto(slow.page("index"), wait_until="commit")
        visit.go(slow.page("reference/references"))
        assert visit.heard == []
    assert "NS_BINDING_ABORTED" in aborted


def test_a_word_is_found_in_firefox(firefox_reader: Reader, website: Website, judge: Judge) -> None:
    with firefox_reader.visit(website.page("self-attention/compact-class"), 390) as visit:
        judge(visit, using.search(visit, "softmax") + visit.heard)
