"""The README's picture and the card of links show the site as built: `--draw` draws them anew."""

from io import BytesIO
from pathlib import Path

import pytest
from built_site import Website
from PIL import Image, ImageChops
from reader import Reader

DOCS = Path(__file__).parents[2] / "docs"
TOLERATED = 0.01  # of all pixels: browsers smooth letters in different ways
SECTION = "(name) => document.getElementById(name).scrollIntoView()"
CARD = """(name) => {
  const title = document.querySelector(".navbar-brand").cloneNode(true);
  const figure = document.querySelector(`#${name} svg`);
  document.body.replaceChildren(title, figure);
  document.body.style = "display: grid; place-items: center; height: 100vh; overflow: hidden";
  title.style = "flex: none; font-size: 3rem; max-width: none";
  figure.style = "width: 1000px; max-width: none; height: auto";
}"""
PICTURES = {
    "_contributing/page.png": ("index", 900, SECTION, "learn-self-attention-by-building-it"),
    "_static/card.png": ("index", 630, CARD, "fig-sentence"),
}
"""For each picture its page, its height, and what shows which part of the page."""


def different(one: Image.Image, other: Image.Image) -> float:
    """Return the share of pixels that are clearly different."""
    if one.size != other.size:
        return 1.0
    distance = ImageChops.difference(one.convert("L"), other.convert("L"))
    return sum(distance.histogram()[64:]) / (one.width * one.height)


@pytest.mark.parametrize("picture", PICTURES)
def test_the_picture_is_current(
    reader: Reader, website: Website, pytestconfig: pytest.Config, picture: str
) -> None:
    page, height, show, part = PICTURES[picture]
    with reader.visit(website.page(page), 1200) as visit:
        visit.page.set_viewport_size({"width": 1200, "height": height})
        visit.page.evaluate(show, part)
        shot = Image.open(BytesIO(visit.page.screenshot()))
        visit.page.evaluate("document.body.style.filter = 'invert(1)'")
        other = Image.open(BytesIO(visit.page.screenshot()))
    if pytestconfig.getoption("draw"):
        shot.quantize(64).save(DOCS / picture, optimize=True)
    again = "run `nox -s browser -- tests/browser/test_picture.py --draw`, and look at it"
    with Image.open(DOCS / picture) as drawn:
        assert shot.size == (1200, height)
        assert different(drawn.convert("RGB"), shot) < TOLERATED, again
        assert different(drawn.convert("RGB"), other) > TOLERATED
