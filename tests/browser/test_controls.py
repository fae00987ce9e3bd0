"""Every control is used, by pointer and by keyboard, and what it does is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import using

if TYPE_CHECKING:
    from built_site import Website
    from reader import Judge, Reader

# On a phone a finger, on a desk a mouse, the keyboard on both and between them: two or three of
# these ways for every page, all for one page.
IN_THE_TEXT = [(390, "keyboard"), (1440, "mouse")]
AROUND_IT = [(390, "touch"), (768, "keyboard"), (1440, "mouse")]
EVERY_WAY = [(390, "touch"), (390, "keyboard"), (768, "touch"), (1440, "keyboard")]


@pytest.mark.parametrize(("width", "hand"), IN_THE_TEXT)
def test_what_is_in_the_text_can_be_used(
    reader: Reader, website: Website, judge: Judge, name: str, width: int, hand: using.Hand
) -> None:
    with reader.visit(website.page(name), width) as visit:
        judge(visit, using.in_the_text(visit, hand) + visit.heard)


@pytest.mark.parametrize(("width", "hand"), AROUND_IT)
def test_what_is_around_the_text_can_be_used(
    reader: Reader, website: Website, judge: Judge, name: str, width: int, hand: using.Hand
) -> None:
    with reader.visit(website.page(name), width) as visit:
        judge(visit, using.around_the_text(visit, hand) + visit.heard)


@pytest.mark.parametrize(("width", "hand"), EVERY_WAY)
def test_the_main_page_can_be_used_in_every_way(
    reader: Reader, website: Website, judge: Judge, width: int, hand: using.Hand
) -> None:
    with reader.visit(website.page("self-attention/step-by-step"), width) as visit:
        faults = using.around_the_text(visit, hand)
        judge(visit, faults + using.in_the_text(visit, hand) + visit.heard)


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize(("width", "hand"), AROUND_IT)
def test_the_theme_is_kept_over_pages(
    reader: Reader, website: Website, judge: Judge, width: int, hand: using.Hand, system: str
) -> None:
    others = map(website.page, ("self-attention/step-by-step", "search", "index"))
    with reader.visit(website.page("index"), width, system, fresh=True) as visit:
        judge(visit, using.theme(visit, hand, *others))


@pytest.mark.parametrize("width", [390, 1440])
def test_the_focus_is_seen_and_begins_at_the_text(
    reader: Reader, website: Website, judge: Judge, name: str, width: int
) -> None:
    with reader.visit(website.page(name), width) as visit:
        judge(visit, using.skip_link(visit) + visit.probe("focus"))


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("word", ["softmax", "W_query"])
def test_a_word_is_found(
    reader: Reader, website: Website, judge: Judge, word: str, width: int
) -> None:
    with reader.visit(website.page("self-attention/compact-class"), width) as visit:
        judge(visit, using.search(visit, word) + visit.heard)
