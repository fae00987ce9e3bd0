"""The README's picture is the page as it is built: `--draw` draws it anew."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageChops

if TYPE_CHECKING:
    import pytest
    from built_site import Website
    from reader import Reader

PICTURE = Path(__file__).parents[2] / "docs" / "_contributing" / "page.png"
PAGE, PLACE = "self-attention/step-by-step", "step-4-the-context-vector"
WIDTH, HEIGHT = 1200, 844
TOLERATED = 0.01  # of all pixels: browsers smooth letters in different ways


def different(one: Image.Image, other: Image.Image) -> float:
    """Return the share of pixels that are clearly different."""
    if one.size != other.size:
        return 1.0
    distance = ImageChops.difference(one.convert("L"), other.convert("L"))
    return sum(distance.histogram()[64:]) / (one.width * one.height)


def test_the_picture_is_current(
    reader: Reader, website: Website, pytestconfig: pytest.Config
) -> None:
    with reader.visit(website.page(PAGE), WIDTH) as visit:
        visit.page.locator(f"#{PLACE}").evaluate("(section) => section.scrollIntoView()")
        shot = Image.open(BytesIO(visit.page.screenshot()))
        visit.page.evaluate("scrollBy(0, 40)")
        other = Image.open(BytesIO(visit.page.screenshot()))
    if pytestconfig.getoption("draw"):
        shot.quantize(64).save(PICTURE, optimize=True)
    again = "run `nox -s browser -- tests/browser/test_picture.py --draw`, and look at it"
    with Image.open(PICTURE) as picture:
        assert shot.size == (WIDTH, HEIGHT)
        assert different(picture.convert("RGB"), shot) < TOLERATED, again
        assert different(picture.convert("RGB"), other) > TOLERATED
