"""Every number of a figure is the one that is computed, and the one that a page prints."""

import re
from pathlib import Path

import pytest
from page_run import made_by
from small_book import FRONT, built, cell, refused
from the_book import DOCS, EXTENSIONS_ON_PATH
from the_book import PAGES as BOOK_PAGES

from figures.drawings import all_drawings
from figures.drawings.curves import rounded
from figures.values import WORDS, Values
from selfattn.examples import six_tokens

FIGURE_OF = re.compile(r"^`{3,}\{attention-figure\} (\S+)$", re.MULTILINE)
PAGES = {
    name: str(file.relative_to(DOCS).with_suffix(""))
    for file in BOOK_PAGES
    for name in FIGURE_OF.findall(file.read_text("utf-8"))
}
"""The page that each figure is on."""
DRAWINGS = all_drawings()
for_each = pytest.mark.parametrize("name", sorted(DRAWINGS))


def values_of(name: str) -> Values:
    drawing = DRAWINGS[name]
    return drawing.compute() if drawing.compute else made_by(drawing.page or PAGES[name])


def drawn(name: str, given: Values) -> str:
    return DRAWINGS[name].draw(given).render("fig", "A title", "A description")


def numbers(name: str, given: Values) -> list[tuple[str, str]]:
    """Return the paths of a figure's numbers, and how they are written."""
    return DRAWINGS[name].draw(given).numbers


def fits(shown: str, value: float) -> bool:
    """Tell whether a number is printed as it should be, to the digits that it has."""
    shown = shown.replace("−", "-")
    mantissa, _, exponent = shown.partition("e")
    last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(shown) - value) <= 0.5001 * last_digit + 3e-6 * abs(value)


@for_each
def test_every_number_is_the_computed_one(name: str) -> None:
    given = values_of(name)
    for path, shown in numbers(name, given):
        assert (
            fits(shown.split()[0], given.number(path))
            or rounded(given.number(path)) == shown.split()[0]
        ), path


@for_each
def test_no_number_is_written_by_hand(name: str) -> None:
    if name in {"cost", "scaling", "training"}:
        return  # they have axes
    given = values_of(name)
    computed = {shown for _, shown in numbers(name, given)}
    for element in re.findall(r"<text [^>]*>.*?</text>", drawn(name, given)):
        words = re.sub(r"<[^>]*>", "", element)
        assert words in computed or not re.search(r"\d\.\d\d", words), words


@for_each
def test_figures_are_legible_on_a_phone(name: str) -> None:
    for picture in drawn(name, values_of(name)).split("<svg")[1:]:
        sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', picture)]
        width = float(re.findall(r'viewBox="0 0 ([\d.]+)', picture)[0])
        assert min(sizes) * min(1, 342 / width) >= 9.5  # 342 pixels is the text's width at 390


def test_the_words_are_those_of_the_example() -> None:
    assert six_tokens().words == WORDS


CONF = f"""{EXTENSIONS_ON_PATH}
extensions = ["myst_nb", "sphinx_drift", "explorer", "figures"]
def setup(app):
    app.connect("build-finished", finished)
def finished(*_):
    assert "torch" not in sys.modules  # the page's kernel alone loads it
"""
KEPT = '[index]\nfree = "free"\nright = "right"\nswapped = "right.T"\ndrawn = "torch.rand(1)"\n'
MAKING = """import torch
right = torch.ones(6, 6).tril().int()
torch.manual_seed(1)
free = torch.full((6, 6), 5)
print(free.sum())"""
PAGE = f"""{FRONT}# Masks

{cell(MAKING, "tensor(180)")}

To keep values draws none.

{cell("print(torch.rand(1))", "tensor([0.7576])")}

```{{attention-figure}} who-sees-whom
:alt: Who sees whom.
Three masks.
```
"""


def test_a_figure_is_drawn_from_the_one_run_of_its_page(tmp_path: Path) -> None:
    out = built(tmp_path, {"conf.py": CONF, "_data/figures.toml": KEPT, "index": PAGE})
    text = (out / "index.html").read_text("utf-8")
    shown = re.findall(r"<text[^>]*>(\d)</text>", text)
    right = [f"{'1' * n:0<6}" for n in range(1, 7)]
    swapped = [f"{'1' * n:0>6}" for n in range(6, 0, -1)]
    assert "".join(shown) == "".join(["5" * 36, *right, *swapped])
    said = refused(tmp_path, {"index": PAGE.replace("free", "other")})
    assert "no cell of index makes 'free', which figure 'who-sees-whom' shows" in said
