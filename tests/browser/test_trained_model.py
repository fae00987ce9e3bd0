"""The trained model answers the keyboard, and is a figure where no script runs."""

import pytest
from built_site import Website
from reader import Reader, Report


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_the_trained_model_answers_the_keyboard(
    reader: Reader, website: Website, report: Report, width: int, theme: str
) -> None:
    with reader.visit(website.page("self-attention/training"), width, theme) as visit:
        visit.page.locator(".explorer-fold > summary").press("Enter")
        model, keyboard = visit.page.locator("trained-attention"), visit.page.keyboard
        says = model.get_by_role("status")
        assert "the second at “dogs” (0.95). The model predicts “were”" in says.inner_text()
        shares = model.locator("tbody tr:not(.explorer-next):not([hidden]) td").all_inner_texts()
        assert len([float(share) for share in shares]) == 12  # a weight of 0.00 is shown, too
        model.get_by_role("button", name="Change “dogs” to “dog”").press("Enter")
        assert "The model predicts “was”" in says.inner_text()
        model.get_by_role("combobox", name="First noun").focus()
        keyboard.type("horses")
        assert "The model predicts “were”" in says.inner_text()
        model.get_by_role("radio", name="the verb").press("ArrowRight")
        assert "The model predicts “she” (she 1.00" in says.inner_text()
        model.get_by_role("checkbox", name="First head").press("Space")
        assert "she 1.00" not in says.inner_text()
        assert "Of all held-out pronouns it gets 0.50 right" in says.inner_text()
        report(visit, visit.probe("sideways", "contrast") + visit.axe())


def test_without_scripts_the_figure_stands(reader: Reader, website: Website) -> None:
    with reader.visit(website.page("index"), 390, script=False) as visit:
        assert visit.page.locator("trained-attention svg[role=img]").is_visible()
        assert visit.page.get_by_role("radio").count() == 0
