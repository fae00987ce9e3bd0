"""My numbers differ: numbers are pasted, and the box says what they are."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING

import pytest
import using

if TYPE_CHECKING:
    from pathlib import Path

    from built_site import Website
    from playwright.sync_api import Locator
    from reader import Judge, Reader, Visit

PAGE = "reference/my-numbers-differ"
OWN = "tensor([[0.2996, 0.8053],\n        [0.3061, 0.8210],\n        [0.3058, 0.8203]])"
UNSCALED = "[[0.3071 0.8230]\n [0.3157 0.8430]\n [0.3152 0.8421]]"
ODD = "\x00\u202e <img src=x onerror=hacked=1><script>hacked=1</script> 1e-30 inf nan 1+2j −0.5\n"
FROM_A_GPU = """tensor([[0.6130, 0.0101],
        [0.3984, 0.0403],
        [0.1563, 0.4825]], device='cuda:0')"""
HEAVIEST = 20 * 1024
"""Bytes that the box's data and script may be, packed; the explorer's arithmetic is shared."""
SLOWEST = 2000
"""Milliseconds, the best of three: other tests run, too; Node measures the processor's time."""


def answer(visit: Visit) -> Locator:
    return visit.page.locator(".number-box").get_by_role("status")


def field(visit: Visit) -> Locator:
    return visit.page.get_by_label("Paste what your code printed")


def compare(visit: Visit, text: str, hand: using.Hand) -> str:
    """Put a text into the box, ask, and return the answer."""
    field(visit).fill(text)
    using.use(visit.page.get_by_role("button", name="Compare", exact=True), hand)
    return answer(visit).inner_text()


@pytest.mark.parametrize(
    ("width", "hand"), [(390, "touch"), (390, "keyboard"), (1440, "mouse"), (1440, "keyboard")]
)
def test_numbers_are_recognized(
    reader: Reader, website: Website, width: int, hand: using.Hand
) -> None:
    with reader.visit(website.page(PAGE), width) as visit:
        assert "These are the book's own numbers." in compare(visit, OWN, hand)
        link = answer(visit).get_by_role("link", name=re.compile("compact self-attention class"))
        using.use(link.first, hand)
        visit.page.wait_for_url("**/compact-class.html#*")
        assert visit.page.locator(":target").inner_text().startswith("tensor([[0.2996, 0.8053]")
        visit.page.go_back()
        assert "No scaling." in compare(visit, UNSCALED, hand)
        assert visit.heard == []


def test_what_is_pasted_is_compared_at_once(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        visit.page.evaluate("(text) => navigator.clipboard.writeText(text)", UNSCALED)
        field(visit).focus()
        visit.page.keyboard.press("Control+V")
        answer(visit).get_by_text("No scaling.").wait_for()
        assert field(visit).evaluate("(it) => it === document.activeElement")
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Enter")
        assert answer(visit).inner_text() == ""
        assert field(visit).input_value() == ""
        assert field(visit).evaluate("(it) => it === document.activeElement")


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_answer_has_no_fault(
    reader: Reader, website: Website, judge: Judge, width: int, theme: str
) -> None:
    with reader.visit(website.page(PAGE), width, theme) as visit:
        visit.page.get_by_role("button", name="Try an example").click()
        assert "No scaling." in answer(visit).inner_text()
        compare(visit, f"{OWN}\n{UNSCALED}\n0.1 0.77777 0.12345 nan\n0.306", using.pointer(visit))
        faults = visit.probe("sideways") + visit.probe("targets") + visit.axe(colours=True)
        small = visit.page.locator(".number-box button").evaluate_all(
            "(buttons) => buttons.filter((each) => each.getBoundingClientRect().height < 44).length"
        )
        judge(visit, faults + visit.heard + ["a button is small"] * small)


def test_nothing_leaves_the_page(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        visit.page.wait_for_load_state("networkidle")
        requests: list[str] = []
        visit.page.on("request", lambda request: requests.append(request.url))
        for text in (OWN, UNSCALED, "0.3061", "zebra", ODD, "0.1234 0.2345 0.3456"):
            assert compare(visit, text, "mouse")
        visit.page.wait_for_timeout(300)
        assert requests == []
        assert visit.page.evaluate("typeof hacked") == "undefined"
        assert visit.page.locator(".number-box-answer :is(img, script)").count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "0.2996, " * 125_000,
        ODD * 10_000,
        "[" * 1_000_000,
        "[0.1 0.22 0.33]" * 70_000,
    ],
    ids=["letters", "numbers", "odd", "brackets", "blocks"],
)
def test_a_megabyte_does_not_hold_the_page_up(reader: Reader, website: Website, text: str) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        compare(visit, "0.1234 0.2345 0.3456", "mouse")
        took = field(visit).evaluate(
            """(it, text) => {
              it.value = text;
              return Math.min(...[1, 2, 3].map(() => {
                const begun = performance.now();
                it.form.requestSubmit();
                return performance.now() - begun;
              }));
            }""",
            text,
        )
        assert took < SLOWEST
        assert answer(visit).inner_text()
        assert visit.page.evaluate("typeof hacked") == "undefined"
        assert visit.heard == []


def test_without_a_server_it_works_as_well(reader: Reader, site: Path) -> None:
    with reader.visit((site / f"{PAGE}.html").as_uri(), 390) as visit:
        assert "No scaling." in compare(visit, UNSCALED, "touch")
        assert visit.heard == []


def test_without_scripts_there_is_the_table_and_no_box(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(PAGE), script=False) as visit:
        assert not visit.page.locator(".number-box").is_visible()
        row = visit.page.get_by_role("row").filter(has_text="No scaling")
        assert "0.3071, 0.8230" in row.inner_text()


def test_firefox_recognizes_numbers(firefox_reader: Reader, website: Website) -> None:
    with firefox_reader.visit(website.page(PAGE)) as visit:
        assert "No scaling." in compare(visit, UNSCALED, "keyboard")
        assert "two digits are swapped" in compare(visit, OWN.replace("0.8210", "0.8120"), "mouse")
        seed = "[0.2961, 0.5166, 0.2517]"
        assert "book's own numbers" in compare(visit, seed, "mouse")
        assert "Drawn on a GPU." in compare(visit, FROM_A_GPU, "mouse")
        assert visit.heard == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[[0.7488, 0.3065],\n [0.7599, 0.3101]]", "The matrices drawn on a GPU."),
        (FROM_A_GPU, "from the seed 42; the book has the seed 123 there."),
        ("[0.0669, 0.9448, 0.2207, 0.2721]", "from the seed 123."),
    ],
)
def test_what_a_gpu_drew_is_named(reader: Reader, website: Website, text: str, named: str) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        assert named in compare(visit, text, "mouse")
        using.use(answer(visit).get_by_role("link", name="The mistake and its cure"), "mouse")
        assert visit.page.locator(":target").inner_text().startswith("The matrices drawn on a GPU")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("0.2996 0.8052 0.3062 0.8213 0.3059 0.8203", "Half precision: float16."),
        ("0.3008 0.8086 0.3066 0.8242 0.3066 0.8203", "Half precision: bfloat16."),
    ],
)
def test_a_title_with_code_in_it_is_whole(
    reader: Reader, website: Website, text: str, title: str
) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        found = compare(visit, text, "mouse")
        assert title in found
        compare(visit, "0.2526 0.3791 0.3683 0 0 0", "mouse")
        assert "Masked weights." in answer(visit).inner_text()
        link = answer(visit).get_by_role("link", name="a mask", exact=True)
        using.use(link, "mouse")
        assert visit.page.locator(":target").inner_text().startswith("Weights with a mask")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (6x3 and 2x3)",
            "There is an error message in this text",
        ),
        ("NameError: name 'keys' is not defined", "There is an error message in this text"),
        ("0.3061", "What you pasted is printed here:"),
        ("0.3157", "the mistake No scaling"),
        ("0.6418 1.0370", "needs three different numbers"),
        ("0.4123 0.5234 0.6345", "Paste the steps before"),
        ("0.3669 0.7646 0.4433 1.1419 0.4361 1.1156", "These are right: the keys"),
        ("1.3751 0.8610 1.4201 0.8892 1.4198 0.8890", "The seed 42."),
    ],
)
def test_an_answer_says_what_to_do(reader: Reader, website: Website, text: str, words: str) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        assert words in compare(visit, text, "mouse")
        assert "come to mind" not in answer(visit).inner_text()  # that is of the page, not of it


def test_every_link_of_the_box_leads_to_an_output(site: Path) -> None:
    page = (site / f"{PAGE}.html").read_text("utf-8")
    (data,) = re.findall(r'id="printed-numbers">(.*?)</script>', page, re.DOTALL)
    linked = 0
    for known in json.loads(data)["pages"]:
        text = (site / PAGE).parent.joinpath(known["href"]).resolve().read_text("utf-8")
        ids = set(re.findall(r'\bid="([^"]+)"', text))
        for title, given, outputs in known["sections"]:
            name = given or re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
            for anchor, *_ in outputs:
                assert (f"{name}-output-{anchor}" if isinstance(anchor, int) else anchor) in ids
                linked += 1
    assert linked > 90


def test_the_box_is_light_and_loaded_on_its_page_alone(site: Path) -> None:
    page = (site / f"{PAGE}.html").read_text("utf-8")
    (data,) = re.findall(r'<script [^>]*id="printed-numbers">.*?</script>', page, re.DOTALL)
    script = (site / "_static/diagnosis.js").read_text("utf-8")
    assert len(gzip.compress((data + script).encode(), 9, mtime=0)) <= HEAVIEST
    pages = [path for path in site.rglob("*.html") if "diagnosis." in path.read_text("utf-8")]
    assert pages == [site / f"{PAGE}.html"]
