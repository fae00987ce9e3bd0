"""My numbers differ: numbers are pasted, and the box says what they are."""

import re
from pathlib import Path

import pytest
from built_site import Website
from reader import Device, Reader, Report, Visit, use

PAGE = "reference/my-numbers-differ"
OWN = "tensor([[0.2996, 0.8053],\n        [0.3061, 0.8210],\n        [0.3058, 0.8203]])"
UNSCALED = "[[0.3071 0.8230]\n [0.3157 0.8430]\n [0.3152 0.8421]]"
HOSTILE = "\x00\u202e <img src=x onerror=hacked=1><script>hacked=1</script> 1e-30 nan 1+2j −0.5\n"


def compare(visit: Visit, text: str, device: Device = "mouse") -> str:
    visit.page.get_by_label("Paste what your code printed").fill(text)
    use(visit.page.get_by_role("button", name="Compare", exact=True), device)
    visit.page.locator(".number-box-answer > *").first.wait_for()  # what mistakes make is loaded
    return visit.page.locator(".number-box").get_by_role("status").inner_text()


@pytest.mark.parametrize(
    ("browser", "width", "device"),
    [
        ("reader", 390, "touch"),
        ("reader", 1440, "keyboard"),
        ("firefox_reader", 1440, "mouse"),
    ],
)
def test_numbers_are_recognized(
    request: pytest.FixtureRequest, website: Website, browser: str, width: int, device: Device
) -> None:
    reader: Reader = request.getfixturevalue(browser)
    with reader.visit(website.page(PAGE), width) as visit:
        assert "No scaling" in compare(visit, UNSCALED, device)
        assert "the book's own numbers" in compare(visit, OWN, device)
        answer = visit.page.locator(".number-box").get_by_role("status")
        link = answer.get_by_role("link", name=re.compile("compact self-attention class")).first
        use(link, device)
        visit.page.wait_for_url("**/compact-class.html#*")
        assert visit.page.locator(":target").inner_text().startswith("tensor([[0.2996, 0.8053]")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_answer_has_no_fault(
    reader: Reader, website: Website, report: Report, theme: str
) -> None:
    with reader.visit(website.page(PAGE), 390, theme) as visit:
        compare(visit, f"{OWN}\n{UNSCALED}\n0.1 0.77777 0.12345 nan\n0.306", "touch")
        report(visit, visit.probe("sideways", "contrast") + visit.axe())


def test_any_text_is_text_and_nothing_leaves_the_page(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(PAGE)) as visit:
        visit.page.wait_for_load_state("networkidle")
        compare(visit, UNSCALED)  # the first time loads what mistakes make
        requests: list[str] = []
        visit.page.on("request", lambda request: requests.append(request.url))
        assert compare(visit, HOSTILE)
        assert requests == []
        assert visit.page.evaluate("typeof hacked") == "undefined"
        assert visit.page.locator(".number-box-answer :is(img, script)").count() == 0


def test_it_works_from_a_folder(reader: Reader, site: Path) -> None:
    with reader.visit((site / f"{PAGE}.html").as_uri(), 390) as visit:
        assert "No scaling" in compare(visit, UNSCALED, "touch")
