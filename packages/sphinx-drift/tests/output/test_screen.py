"""What a terminal is left showing."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tables import rows
from hypothesis import given
from hypothesis import strategies as st

from sphinx_drift.output.screen import on_screen

CASES = Path(__file__).with_name("screen.txt")


@pytest.mark.parametrize(("text", "left"), rows(CASES, "What a terminal"))
def test_what_is_left(text: str, left: str) -> None:
    assert on_screen(text) == left


PIECES = ["a", "b", "\n", "\r", "\b", "\x1b[2K", "\x1b[K"]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_what_is_left_stays(pieces: list[str]) -> None:
    left = on_screen("".join(pieces))
    assert on_screen(left) == left
