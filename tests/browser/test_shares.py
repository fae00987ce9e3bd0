"""The first page's figure and the trained model answer by mouse, finger and keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reader import use

if TYPE_CHECKING:
    from built_site import Website
    from reader import Device, Reader, Report

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


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_the_trained_model_answers_the_keyboard(
    reader: Reader, website: Website, report: Report, width: int, theme: str
) -> None:
    with reader.visit(website.page("self-attention/explorer"), width, theme) as visit:
        model, keyboard = visit.page.locator("trained-attention"), visit.page.keyboard
        says, chances = model.get_by_role("status"), model.locator("li")
        assert "the second at “dogs” (0.95). The model predicts “were”" in says.inner_text()
        model.get_by_role("combobox", name="First noun").focus()
        keyboard.type("dog")
        assert "The model predicts “was”" in says.inner_text()
        slider = model.get_by_role("slider", name="Steps of training")
        slider.press("Home")
        assert slider.get_attribute("aria-valuetext") == "0"
        assert "gets 0.00 of all held-out verbs right" in says.inner_text()
        keyboard.press("End")
        model.get_by_role("radio", name="the verb").press("ArrowRight")
        assert " ".join(chances.first.inner_text().split()) == "she 1.00"
        model.get_by_role("checkbox", name="First head").press("Space")
        assert " ".join(chances.first.inner_text().split()) != "she 1.00"
        assert "gets 0.50 of all held-out pronouns right" in says.inner_text()
        report(visit, visit.probe("sideways", "contrast", "targets") + visit.axe() + visit.errors)


@pytest.mark.parametrize(
    ("page", "element"),
    [("index", "attention-shares"), ("self-attention/explorer", "trained-attention")],
)
def test_without_scripts_the_figure_stands(
    reader: Reader, website: Website, page: str, element: str
) -> None:
    with reader.visit(website.page(page), 390, script=False) as visit:
        assert visit.page.locator(f"{element} svg[role=img]").is_visible()
        assert visit.page.get_by_role("radio").count() == 0
