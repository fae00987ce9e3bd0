"""A printed number lights up wherever a page shows it, and says what it is."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from built_site import Website, pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Locator
    from reader import Reader, Visit

STEP = "self-attention/step-by-step"
SCORES = "#step-2-attention-scores-output-2"
SCORE = '[data-of="attn_scores[1,1]"]'
WEIGHT = '[data-of="attn_weights[1,1]"]'


def opened(visit: Visit) -> Locator:
    """Return the note, once the numbers of the page are split."""
    visit.page.locator("pre .num").first.wait_for(state="attached")  # perhaps in a fold
    return visit.page.locator(".number-note")


def lit(visit: Visit) -> list[str]:
    return visit.page.locator(".lit").all_text_contents()


@pytest.fixture
def desk(reader: Reader, website: Website) -> Iterator[Visit]:
    with reader.visit(website.page(STEP), 1440) as visit:
        yield visit


def test_a_mouse_lights_a_number_everywhere(desk: Visit) -> None:
    note = opened(desk)
    desk.page.locator(f"{SCORES} {SCORE}").hover()
    assert lit(desk) == ["1.85", "1.8524", "1.8524", "1.85"]  # two figures and two outputs
    said = " ".join(note.inner_text().split())
    assert "ω22, attention score of “journey” with “journey”" in said
    assert "from q(2) · k(2); used in ω22 / √dk" in said
    link = note.locator("a")
    assert link.get_attribute("href") == "#step-2-attention-scores-output-1"


def test_prose_output_and_figure_light_together(desk: Visit) -> None:
    opened(desk)
    desk.page.locator(f"a.quoted{WEIGHT}").hover()
    assert sorted(lit(desk)) == ["0.2264", "0.23", "0.23", "23%"]
    assert "α22" in desk.page.locator(".number-note").inner_text()


def test_a_figure_lights_an_output(desk: Visit) -> None:
    opened(desk)
    desk.page.locator(f"#fig-3-15 {SCORE}").hover()
    assert "1.8524" in lit(desk)


def test_the_note_stays_while_the_mouse_is_on_it_and_goes_when_it_leaves(desk: Visit) -> None:
    note = opened(desk)
    desk.page.locator(f"{SCORES} {SCORE}").hover()
    note.locator("a").hover()
    desk.page.wait_for_timeout(600)
    assert note.inner_text()
    desk.page.mouse.move(5, 5)
    desk.page.wait_for_function("!document.querySelector('.number-note').textContent")
    assert lit(desk) == []


def test_escape_closes_the_note_and_the_light(desk: Visit) -> None:
    note = opened(desk)
    desk.page.locator(f"{SCORES} {SCORE}").hover()
    desk.page.keyboard.press("Escape")
    assert note.inner_text() == ""
    assert lit(desk) == []


def test_the_link_leads_to_the_cell(desk: Visit) -> None:
    note = opened(desk)
    desk.page.locator(f"#fig-3-16 {WEIGHT}").first.hover()
    note.locator("a").click()
    assert desk.page.url.endswith("#step-3-attention-weights-output-1")


CAUSAL = "self-attention/causal"
FIRST, LAST = "the-weights-that-must-go-output-1", "the-usual-way-mask-the-scores-output-2"
COVERED = """(group) => {
  const note = document.querySelector(".number-note").getBoundingClientRect();
  const isUnder = ({ left, right, top, bottom }) =>
    left < note.right && right > note.left && top < note.bottom && bottom > note.top;
  return [...document.querySelector(group).querySelectorAll(".num")]
    .filter((number) => isUnder(number.getBoundingClientRect())).map((n) => n.textContent);
}"""


@pytest.mark.parametrize("width", [390, 768, 1200, 1440])
def test_a_column_can_be_read_down_since_the_note_covers_no_number(
    reader: Reader, website: Website, width: int
) -> None:
    with reader.visit(website.page(CAUSAL), width) as visit:
        note = opened(visit)
        visit.page.locator(f"#{FIRST}").scroll_into_view_if_needed()
        for row in range(6):
            number = visit.page.locator(f'#{FIRST} [data-of="attn_weights[{row},2]"]')
            if width == 390:
                number.tap()
            else:  # where nothing is moved out of the pointer's way
                box = number.bounding_box()
                assert box
                visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            assert f"α{row + 1}3" in note.inner_text()
            assert visit.page.evaluate(COVERED, f"#{FIRST}") == []


@pytest.mark.parametrize("figure", ["#fig-3-15", "#fig-3-16"])
def test_the_note_covers_no_number_of_a_figure(desk: Visit, figure: str) -> None:
    note = opened(desk)
    for number in desk.page.locator(f"{figure} .num").all():
        number.scroll_into_view_if_needed()
        number.hover()
        assert note.inner_text()
        assert desk.page.evaluate(COVERED, figure) == []


def test_the_pointer_gets_from_a_number_to_the_link(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(CAUSAL), 1200) as visit:
        note = opened(visit)
        number = visit.page.locator(f'#{FIRST} [data-of="attn_weights[1,5]"]')
        number.hover()
        start, link = number.bounding_box(), note.locator("a").bounding_box()
        assert start
        assert link
        beside, middle = link["x"] + 40, start["y"] + start["height"] / 2
        visit.page.mouse.move(beside, middle, steps=10)
        visit.page.mouse.move(beside, link["y"] + link["height"] / 2, steps=10)
        visit.page.wait_for_timeout(600)
        assert "α26" in note.inner_text()


@pytest.mark.parametrize("how", ["the number", "the link"])
def test_enter_on_the_link_takes_the_focus_to_the_cell(desk: Visit, how: str) -> None:
    note = opened(desk)
    desk.page.keyboard.press("Tab")
    desk.page.locator(f"{SCORES} pre").focus()
    desk.page.keyboard.press("ArrowRight")
    if how == "the link":
        note.locator("a").focus()
    desk.page.keyboard.press("Enter")
    cell = desk.page.locator("#step-2-attention-scores-output-1 [data-numbers]:focus")
    cell.wait_for()
    assert desk.page.url.endswith("#step-2-attention-scores-output-1")
    assert "ω22" in note.inner_text()


def test_the_notes_of_causal_attention_say_what_the_cells_do(
    reader: Reader, website: Website
) -> None:
    with reader.visit(website.page(CAUSAL), 1440) as visit:
        note = opened(visit)

        def said(output: str) -> str:
            visit.page.locator(f"#{output} .num").first.hover()
            return note.inner_text()

        assert "z(" not in said(FIRST)
        assert "softmax of the masked" in said(LAST)
        masked = said(LAST.replace("output-2", "output-1"))
        assert "or −∞ if it is ahead" in masked


def test_an_output_is_one_tab_stop_and_arrows_go_within(desk: Visit) -> None:
    note = opened(desk)
    before = desk.page.locator(f"{SCORES} pre")
    stops = desk.page.evaluate(
        "[...document.querySelectorAll('article [tabindex=\"0\"]')].filter("
        "(it) => it.closest('.cell_output, svg')).length"
    )
    assert stops < 20
    desk.page.keyboard.press("Tab")  # from now on, the focus shows
    before.focus()
    assert "ω21" in note.inner_text()
    assert before.get_attribute("aria-describedby") == "number-note"
    desk.page.keyboard.press("ArrowRight")
    assert "ω22" in note.inner_text()
    assert len(lit(desk)) == 4
    desk.page.keyboard.press("ArrowLeft")
    assert "ω21" in note.inner_text()
    desk.page.keyboard.press("Tab")
    assert "ω" not in note.inner_text()
    assert before.get_attribute("aria-describedby") is None


def test_arrows_go_up_and_down_a_matrix(desk: Visit) -> None:
    note = opened(desk)
    desk.page.keyboard.press("Tab")
    desk.page.locator("#step-1-queries-keys-and-values-output-1 pre").focus()
    for key, sign in (("Down", "(Wq)21"), ("Right", "(Wq)22"), ("Up", "(Wq)12")):
        desk.page.keyboard.press(f"Arrow{key}")
        assert sign in note.inner_text()


def test_a_figure_is_walked_by_arrows_too(desk: Visit) -> None:
    note = opened(desk)
    desk.page.keyboard.press("Tab")
    desk.page.locator("#fig-3-15 svg").focus()
    assert "q(2)1" in note.inner_text()
    desk.page.keyboard.press("ArrowDown")
    assert "k(1)1" in note.inner_text()
    desk.page.keyboard.press("Enter")  # no cell prints it: nothing happens
    assert "k(1)1" in note.inner_text()


def test_the_prose_is_reached_by_its_links(desk: Visit) -> None:
    note = opened(desk)
    desk.page.keyboard.press("Tab")
    desk.page.locator(f"a.quoted{WEIGHT}").focus()
    assert "α22" in note.inner_text()
    desk.page.keyboard.press("Enter")
    assert desk.page.url.endswith("#step-3-attention-weights-output-1")


def test_the_explorer_lights_a_number(desk: Visit) -> None:
    fire = "(of) => document.dispatchEvent(new CustomEvent('quantity', { detail: { of } }))"
    desk.page.evaluate(fire, "attn_scores[1,1]")
    assert len(lit(desk)) == 4
    assert desk.page.locator(".number-note").inner_text() == ""
    for of in ("nothing[9,9]", None):
        desk.page.evaluate(fire, of)
        assert lit(desk) == []
    assert desk.heard == []


ERRATA, THIRTEEN = "reference/errata", "companions/thirteen-words"


def test_a_number_of_another_page_opens_its_note_and_leads_there(
    reader: Reader, website: Website
) -> None:
    with reader.visit(website.page(ERRATA), 1440) as visit:
        quoted = visit.page.locator('a.quoted[data-of^="companions/thirteen-words:attn_weights"]')
        quoted.hover()
        note = visit.page.locator(".number-note")
        said = " ".join(note.inner_text().split())
        assert "α2,12, attention weight that “to” gives to “safe”" in said
        assert "from softmax of ω2,1 / √dk … ω2,13 / √dk; used in z(2)" in said
        assert "The cell that printed it, in “Thirteen words, and one takes it all”" in said
        assert lit(visit) == ["0.99365"]
        note.locator("a").click()
        visit.page.wait_for_url("**/thirteen-words.html#attention-weights-output-1")
        assert visit.heard == []


def test_a_finger_opens_a_note_of_another_page_before_it_goes_there(
    reader: Reader, website: Website
) -> None:
    with reader.visit(website.page(ERRATA), 390) as visit:
        quoted = visit.page.locator("a.quoted").first
        quoted.tap()
        assert "score of “to” with “safe”" in visit.page.locator(".number-note").inner_text()
        assert "errata" in visit.page.url
        quoted.tap()
        visit.page.wait_for_url("**/thirteen-words.html#attention-scores-output-2")


def test_words_of_equal_rows_are_told_apart_by_their_number(
    reader: Reader, website: Website
) -> None:
    with reader.visit(website.page(THIRTEEN), 1440) as visit:
        note = opened(visit)
        for j in (5, 6):  # the two "it"
            number = visit.page.locator(f'pre [data-of="attn_scores_2[{j - 1}]"]').last
            number.hover()
            assert f"ω2,{j}, attention score of “to” with “it”" in note.inner_text()


def test_an_output_is_copied_as_it_is(desk: Visit) -> None:
    opened(desk)
    text = desk.page.locator("#step-1-queries-keys-and-values-output-2 pre").inner_text()
    assert (
        text.strip()
        == "tensor([0.4306, 1.4551])\ntensor([0.4433, 1.1419])\ntensor([0.3951, 1.0037])"
    )


def test_a_finger_opens_the_note_and_closes_it(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(STEP), 390) as visit:
        note = opened(visit)
        quoted = visit.page.locator(f"a.quoted{WEIGHT}")
        quoted.tap()
        assert "α22" in note.inner_text()
        assert "#" not in visit.page.url  # the first touch asks, and goes nowhere
        box = note.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        visit.page.locator("h1").tap()
        assert note.inner_text() == ""
        visit.page.locator(f"{SCORES} {SCORE}").tap()
        assert "ω22" in note.inner_text()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wrong_with_a_note_that_is_open(
    reader: Reader, website: Website, width: int, theme: str
) -> None:
    for name in (STEP, "index", "companions/kv-cache"):
        with reader.visit(website.page(name), width, theme) as visit:
            opened(visit)
            number = visit.page.locator("pre .num").nth(1)
            number.scroll_into_view_if_needed()
            number.click()
            assert visit.page.locator(".number-note").inner_text()
            assert visit.axe(colours=True) == []
            assert visit.heard == []


def test_it_works_from_a_folder(reader: Reader, site: Path) -> None:
    with reader.visit((site / f"{STEP}.html").as_uri()) as visit:
        opened(visit)
        visit.page.locator(f"{SCORES} {SCORE}").hover()
        assert len(lit(visit)) == 4
        assert visit.heard == []


def test_only_pages_with_marked_numbers_load_the_script(site: Path) -> None:
    texts = {name: (site / f"{name}.html").read_text("utf-8") for name in pages(site)}
    with_index = {name for name, text in texts.items() if 'id="numbers"' in text}
    assert with_index == {name for name, text in texts.items() if "numbers.js" in text}
    assert with_index == {name for name, text in texts.items() if "numbers.css" in text}
    assert STEP in with_index
    assert 20 <= len(with_index) < len(texts)


def test_every_number_of_the_index_is_lit_on_its_page(
    reader: Reader, website: Website, site: Path
) -> None:
    for name in pages(site):
        text = (site / f"{name}.html").read_text("utf-8")
        if 'id="numbers"' not in text or '"outputs":{}' in text:  # it quotes others' alone
            continue
        with reader.visit(website.page(name)) as visit:
            opened(visit)
            wrong = visit.page.evaluate(
                """() => [...document.querySelectorAll(".cell_output:has(.num)")].flatMap((it) => {
                  const known = JSON.parse(document.getElementById("numbers").textContent);
                  const runs = known.outputs[it.id];
                  const parts = runs.flatMap((run) => run[2].split(" "));
                  const size = (part) => { const [a, b = a] = part.split("-"); return b - a + 1; };
                  const all = parts.reduce((sum, part) => sum + size(part), 0);
                  return it.querySelectorAll(".num").length === all ? [] : [it.id];
                })"""
            )
            assert wrong == [], name


def test_a_page_that_lost_its_index_is_noticed(reader: Reader, site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("_downloads"))
    page = copy / f"{STEP}.html"
    text, count = re.subn(r'"attn_scores","6-11"', '"attn_scores","0-5"', page.read_text("utf-8"))
    assert count == 1
    page.write_text(text, "utf-8")
    with Website(copy) as broken, reader.visit(broken.page(STEP)) as visit:
        opened(visit)
        visit.page.locator(f"{SCORES} .num").nth(1).hover()
        assert lit(visit) != ["1.85", "1.8524", "1.8524", "1.85"]
