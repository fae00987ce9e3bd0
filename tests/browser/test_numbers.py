"""A printed number lights up wherever a page shows it, and says what it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from built_site import Website
    from playwright.sync_api import Locator
    from reader import Reader, Visit

STEP = "self-attention/step-by-step"
SCORES = "#step-2-attention-scores-output-2"
SCORE = '[data-of="attn_scores[1,1]"]'

# A live region is read at each change.
COUNT_CHANGES = """() => {
  window.changes = 0;
  const seen = (all) => (window.changes += all.filter((each) => each.addedNodes.length).length);
  const wanted = { childList: true, subtree: true };
  new MutationObserver(seen).observe(document.querySelector(".number-note"), wanted);
}"""


def note_of(visit: Visit) -> Locator:
    """Return the note, once the numbers of the page are split."""
    visit.page.locator("pre .num").first.wait_for(state="attached")  # perhaps in a fold
    return visit.page.locator(".number-note")


def lit(visit: Visit) -> list[str]:
    return visit.page.locator(".lit").all_text_contents()


def test_a_pointer_lights_a_number_everywhere(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(STEP)) as visit:
        note = note_of(visit)
        visit.page.locator(f"{SCORES} {SCORE}").hover()
        assert {*lit(visit)} == {"1.85", "1.8524"}  # figures and outputs
        assert "attention score of “journey” with “journey”" in " ".join(note.inner_text().split())
        visit.page.keyboard.press("Escape")
        assert note.inner_text() == ""
        assert lit(visit) == []
        visit.page.locator(f"#fig-3-15 {SCORE}").hover()
        assert "1.8524" in lit(visit)
        note.locator("a").click()
        assert visit.page.url.endswith("#step-2-attention-scores-output-1")
        assert visit.errors == []


def test_a_note_has_no_fault(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(STEP)) as visit:
        note = note_of(visit)
        visit.page.locator(f"{SCORES} {SCORE}").hover()
        assert "attention score" in note.inner_text()
        assert visit.page.locator(".numbers-invite").count() == 1
        assert visit.axe() == []


def test_a_finger_lights_a_number(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(STEP), 390) as visit:
        note = note_of(visit)
        visit.page.locator(f"{SCORES} {SCORE}").tap()
        assert "1.8524" in lit(visit)
        assert "ω22" in note.inner_text()


def test_an_output_is_one_tab_stop_and_arrows_go_within(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(STEP)) as visit:
        note = note_of(visit)
        first = visit.page.locator(f"{SCORES} pre [tabindex='0']")
        visit.page.keyboard.press("Tab")  # from now on, the focus shows
        assert first.get_attribute("role") == "button"
        first.focus()
        assert "ω21" in note.inner_text()
        visit.page.keyboard.press("ArrowRight")
        assert "ω22" in note.inner_text()
        visit.page.keyboard.press("Tab")
        assert "ω" not in note.inner_text()


def test_a_screen_reader_reaches_each_number_and_reads_its_note_once(
    reader: Reader, website: Website
) -> None:
    with reader.visit(website.page(STEP)) as visit:
        note_of(visit)
        output = visit.page.locator(f"{SCORES} pre")
        reached = re.findall(r'button "([^"]+)"', output.aria_snapshot())
        assert reached == output.locator(".num").all_text_contents()
        visit.page.evaluate(COUNT_CHANGES)
        output.locator(".num").nth(2).click()
        visit.settle()
        assert visit.page.evaluate("window.changes") == 1


def test_a_number_of_another_page_leads_there(reader: Reader, website: Website) -> None:
    with reader.visit(website.page("reference/any-device")) as visit:
        quoted = visit.page.locator("a.quoted")
        quoted.first.click()
        visit.page.wait_for_url("**/thirteen-words.html#*")
        assert visit.page.locator(":target").is_visible()
