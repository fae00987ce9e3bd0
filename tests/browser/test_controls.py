"""The controls of a page work by mouse, finger and keyboard."""

import re

import pytest
from built_site import Website
from reader import Device, Reader, use

STEP = "self-attention/step-by-step"
DEVICES = [(390, "touch"), (390, "keyboard"), (1440, "mouse"), (1440, "keyboard")]


@pytest.mark.parametrize(("width", "device"), [(390, "touch"), (1440, "mouse")])
@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_is_kept_on_other_pages(
    reader: Reader, website: Website, width: int, device: Device, system: str
) -> None:
    with reader.visit(website.page("index"), width, system) as visit:
        use(visit.page.get_by_role("button", name="Dark theme"), device)
        for name in ("index", STEP):
            visit.go(website.page(name))
            assert bool(visit.probe("dark")) is (system == "light")
        use(visit.page.get_by_role("button", name="Dark theme"), device)
        assert bool(visit.probe("dark")) is (system == "dark")


@pytest.mark.parametrize("device", ["touch", "keyboard"])
@pytest.mark.parametrize(
    ("button", "panel"), [("Menu", "Contents"), ("On this page", "On this page")]
)
def test_a_panel_opens_closes_and_leads_on(
    reader: Reader, website: Website, device: Device, button: str, panel: str
) -> None:
    with reader.visit(website.page(STEP), 390) as visit:
        opener = visit.page.get_by_role("button", name=button, exact=True)
        link = visit.page.get_by_role("navigation", name=panel).get_by_role("link").last
        use(opener, device)
        assert link.is_visible()
        visit.page.keyboard.press("Escape")
        assert not link.is_visible()
        assert opener.evaluate("(it) => it === document.activeElement")
        use(opener, device)
        target = link.evaluate("(it) => it.href")
        use(link, device)
        visit.page.wait_for_url(target)
        assert not link.is_visible()


def test_the_contents_show_what_is_read(reader: Reader, website: Website) -> None:
    with reader.visit(website.page(STEP)) as visit:
        link = visit.page.get_by_role("navigation", name="On this page").get_by_role("link").nth(3)
        link.click()
        visit.page.locator(".page-toc [aria-current]").wait_for()
        assert link.get_attribute("aria-current") == "true"


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_code_is_copied_as_it_can_be_run(reader: Reader, website: Website, device: Device) -> None:
    with reader.visit(website.page(STEP), 1024) as visit:  # a phone has no room for the button
        code = visit.page.locator(".cell_input pre").first
        if device == "mouse":
            code.hover()
        use(visit.page.get_by_role("button", name="Copy code").first, device)
        visit.page.get_by_text("Copied").wait_for(state="attached")
        copied = visit.page.evaluate("navigator.clipboard.readText()")
        assert copied.strip() == code.inner_text().strip()


def test_a_link_to_a_solution_opens_it(reader: Reader, website: Website) -> None:
    with reader.visit(f"{website.page('self-attention/causal')}#sol-causal-zeros") as visit:
        solution = visit.page.locator("#sol-causal-zeros > :not(summary)").first
        assert solution.is_visible()


@pytest.mark.parametrize(("width", "device"), DEVICES)
def test_folds_and_marks_open(reader: Reader, website: Website, width: int, device: Device) -> None:
    with reader.visit(website.page("self-attention/exercise-3-1"), width) as visit:
        fold = visit.page.locator("details.folded").first
        use(fold.locator("> summary"), device)
        assert fold.locator("> :not(summary)").first.is_visible()
        mark = visit.page.locator(".drift-mark:visible").first
        use(mark.locator("summary"), device)
        assert re.search(r"(torch|python) \d", mark.inner_text())
        visit.page.keyboard.press("Escape")
        assert not mark.locator("p").is_visible()
