"""A page sees nothing of another, and draws what no other has drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runners import Pages, shown

if TYPE_CHECKING:
    import pytest

CELLS = Path(__file__).with_name("isolation")
DISTURB, LOOK, DRAWS = (
    (CELLS / f"{name}.txt").read_text("utf-8") for name in ("disturb", "look", "draws")
)


def test_page_sees_nothing_of_another(pages: Pages) -> None:
    disturbing, execution = pages.fork(DISTURB, LOOK)
    assert execution.failure is None
    assert shown(disturbing.cells[2]) != "[]\n"  # the page itself sees what it did
    looking, execution = pages.fork(LOOK)
    assert execution.failure is None
    assert shown(looking.cells[1]) == "[]\n"


def test_unseeded_draws_differ_between_pages(pages: Pages) -> None:
    one, other = (shown(pages.fork(DRAWS)[0].cells[1]).splitlines() for _ in range(2))
    assert [pair for pair in zip(one, other, strict=True) if pair[0] == pair[1]] == []


def test_environment_of_the_build_is_the_environment_of_the_page(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os, time\nprint(os.environ.get('ONE_OF_MINE'), time.tzname[0])"
    monkeypatch.setenv("ONE_OF_MINE", "1")
    monkeypatch.setenv("TZ", "XYZ+3")
    assert shown(pages.fork(code)[0].cells[1]) == "1 XYZ\n"
    monkeypatch.delenv("ONE_OF_MINE")
    monkeypatch.setenv("TZ", "UTC")
    assert shown(pages.fork(code)[0].cells[1]) == "None UTC\n"
