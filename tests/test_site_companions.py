"""The figures that are drawn from what the cells of their own page made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest
import torch
from the_book import DOCS, TRACED

from figures import page_trace
from figures.attention_trace import attention_trace
from figures.drawings import across, block, cache, masks, positions
from sphinx_drift.compare.tokens import TokenKind, tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from figures.drawing import Drawing

TEXT = re.compile(r"<text [^>]*>.*?</text>")


class Figure(NamedTuple):
    """A figure, the page that it is on, and how many numbers it shows."""

    page: str
    drawing: Drawing
    numbers: int


FIGURES = {
    "across": Figure("cross-attention", across.DRAWINGS["across"], 24),
    "block": Figure("transformer-block", block.DRAWINGS["block"], 21),
    "cached": Figure("kv-cache", cache.DRAWINGS["cached"], 33),
    "who-sees-whom": Figure("masks", masks.DRAWINGS["who-sees-whom"], 108),
    "padding-seen": Figure("padding", masks.DRAWINGS["padding-seen"], 72),
    "turned": Figure("positions", positions.DRAWINGS["turned"], 4),
}


@pytest.fixture(params=sorted(FIGURES))
def figure(request: pytest.FixtureRequest) -> Figure:
    return FIGURES[request.param]


def drawn(figure: Figure) -> str:
    return figure.drawing.draw(attention_trace()).render("fig", figure.drawing.title, "")


def documented(page: str) -> set[str]:
    """Return every number that a page says its cells print, also rounded to two decimals."""
    text = (DOCS / "companions" / f"{page}.md").read_text("utf-8")
    outputs = re.findall(r"^```\{expected-output\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = {token for output in outputs for token in tokens(output)}
    rounded = {f"{float(token.text):.2f}" for token in found if token.kind is TokenKind.FLOAT}
    return {token.text for token in found} | rounded


def test_every_number_is_one_that_the_page_prints(figure: Figure) -> None:
    shown = [number.replace("−", "-") for _, number in TRACED.findall(drawn(figure))]
    assert len(shown) == figure.numbers
    assert set(shown) - documented(figure.page) == set()


def test_no_number_is_written_by_hand(figure: Figure) -> None:
    for element in TEXT.findall(drawn(figure)):
        if "data-trace" not in element:
            words = re.sub(r"<[^>]*>", "", element)
            assert not re.search(r"\d\.\d", words), words


def test_another_page_gives_another_figure(page_of: Callable[[str], Path], figure: Figure) -> None:
    page = page_of(figure.page)
    before = TRACED.findall(drawn(figure))
    page.write_text(page.read_text("utf-8").replace(*CHANGES[figure.page]), "utf-8")
    after = TRACED.findall(drawn(figure))
    assert [path for path, _ in after] == [path for path, _ in before]
    assert after != before


CHANGES = {
    "cross-attention": ("manual_seed(123)", "manual_seed(124)"),
    "transformer-block": ("manual_seed(123)", "manual_seed(124)"),
    "kv-cache": ("manual_seed(123)", "manual_seed(124)"),
    "masks": ("triu", "tril"),
    "padding": ("~hidden", "hidden"),
    "positions": ("math.pi / 6", "math.pi / 7"),
}
"""In each page's cells, a change that its figure must show."""


@pytest.fixture
def page_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Have figures read copies of the pages, which a test may change."""
    monkeypatch.setattr(page_trace, "COMPANIONS", tmp_path)

    def copy(name: str) -> Path:
        text = (DOCS / "companions" / f"{name}.md").read_text("utf-8")
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
        return tmp_path / f"{name}.md"

    return copy


def test_a_page_without_what_its_figure_shows_says_so(page_of: Callable[[str], Path]) -> None:
    page_of("masks")
    with pytest.raises(ValueError, match=r"masks\.md must have cells that make nothing, weight"):
        page_trace.page_trace("masks", "who_sees", "weight", "nothing")


def test_nobody_elses_random_numbers_change() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    page_trace.page_trace("masks", "mha")  # nobody else wants it, so the cells run
    assert torch.equal(torch.rand(3), expected)
