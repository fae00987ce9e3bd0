"""The figures of causal and multi-head attention, and the pages that moved there."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
import small_book
import torch
from the_book import DOCS, EXTENSIONS_ON_PATH, TRACED

from figures.drawings import heads
from figures.drawings.heads import HeadsTrace, heads_trace

if TYPE_CHECKING:
    from pathlib import Path

FIGURES: dict[str, tuple[Any, int]] = {
    "causal": (heads.causal, 76),
    "heads": (heads.heads, 76),
    "mask-corner": (heads.mask_corner, 0),
    "split-heads": (heads.split_heads, 24 + 24 + 24),
}
for_each = pytest.mark.parametrize("name", sorted(FIGURES))


def drawn(name: str, trace: HeadsTrace) -> str:
    return FIGURES[name][0](trace).render("fig", "A title", "A description")


def test_every_figure_is_registered() -> None:
    assert set(heads.DRAWINGS) == set(FIGURES)


@for_each
def test_every_number_is_the_traces_number(name: str) -> None:
    numbers = TRACED.findall(drawn(name, heads_trace()))
    assert len(numbers) == FIGURES[name][1]
    for path, shown in numbers:
        assert shown.replace("−", "-") == f"{heads_trace().number(path):.2f}"


@for_each
def test_no_number_is_written_by_hand(name: str) -> None:
    for element in re.findall(r"<text [^>]*>.*?</text>", drawn(name, heads_trace())):
        if "data-trace" not in element:
            words = re.sub(r"<[^>]*>", "", element)
            assert not re.search(r"\d\.\d", words), words


def test_another_mask_is_another_picture() -> None:
    parts: dict[str, Any] = {f.name: getattr(heads_trace(), f.name) for f in fields(HeadsTrace)}
    empty = HeadsTrace(**(parts | {"mask": ((0,) * 6,) * 6}))
    assert drawn("mask-corner", heads_trace()).count("−∞") == 15
    assert drawn("mask-corner", empty).count("−∞") == 0


def test_the_trace_is_what_the_pages_print() -> None:
    trace = heads_trace()
    causal = (DOCS / "self-attention" / "causal.md").read_text("utf-8")
    assert ", ".join(f"{n:.4f}" for n in trace.causal_weights[3]) in causal
    assert ", ".join(f"{n:.4f}" for n in trace.unmasked_weights[3]) in causal
    split = (DOCS / "self-attention" / "multi-head-class.md").read_text("utf-8")
    assert ", ".join(f"{n:7.4f}" for n in trace.joined[1]).strip() in split
    heads = (DOCS / "self-attention" / "multi-head.md").read_text("utf-8")
    for weights in (trace.weights_1, trace.weights_2):
        assert ", ".join(f"{n:.4f}" for n in weights[5]) in heads


def test_the_split_is_a_split_and_the_cut_is_none() -> None:
    trace = heads_trace()
    joined = torch.tensor(trace.joined)
    assert torch.equal(torch.tensor(trace.head_1), joined[:, :2])
    assert torch.equal(torch.tensor(trace.head_2), joined[:, 2:])
    assert torch.equal(torch.tensor(trace.cut_1), joined[:3].reshape(6, 2))


# Pages that moved ---------------------------------------------------------------------


CONF = f"""
{EXTENSIONS_ON_PATH}
extensions = ["myst_parser", "website.address", "website.moved_pages"]
html_theme = "basic"
moved_pages = %r
"""
PAGES = {
    "index": "# Book\n\n```{toctree}\npart/one\ntwo\n```\n",
    "part/one": "# One & all\n",
    "two": "# Two\n",
}


def built(folder: Path, moved: dict[str, list[str]], **more: str) -> Any:
    small_book.write(folder, {"conf.py": CONF % moved} | PAGES | more)
    return small_book.build(folder)


@pytest.mark.slow
def test_an_old_address_leads_to_the_new_pages(tmp_path: Path) -> None:
    assert built(tmp_path, {"old/page": ["part/one", "two"]}).returncode == 0
    text = (tmp_path / "html" / "old" / "page.html").read_text("utf-8")
    assert '<html lang="en">' in text
    assert '<meta http-equiv="refresh" content="0; url=../part/one.html">' in text
    assert '<link rel="canonical" href="../part/one.html">' in text
    assert '<li><a href="../part/one.html">One &amp; all</a></li>' in text
    assert '<li><a href="../two.html">Two</a></li>' in text
    for target in re.findall(r'href="([^"]+)"', text):
        assert (tmp_path / "html" / "old" / target).resolve().is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moved", "told"),
    [
        ({"two": ["part/one"]}, "moved_pages: two is still a page; delete it, or its line there"),
        ({"old": ["three"]}, "moved_pages: old leads to three; name pages of the book"),
        ({"old": []}, "moved_pages: old leads to nowhere; name pages of the book"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(
    moved: dict[str, list[str]], told: str, tmp_path: Path
) -> None:
    said = built(tmp_path, moved)
    assert said.returncode
    assert told in said.stderr
