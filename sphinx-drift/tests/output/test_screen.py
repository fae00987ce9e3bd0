"""What a terminal is left showing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_drift.output.screen import on_screen

RED, END = "\x1b[31m", "\x1b[0m"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\nb\n", "a\nb\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\r1 of 2\r2 of 2\n", "2 of 2\n"),
        ("100%\rdone", "done"),
        ("100%\x1b[1Gdone\x1b[G1\x1b[0G2", "2one"),
        ("1000\r20", "2000"),
        ("abc\b\bX", "aXc"),
        ("a\b\b\bX", "X"),
        ("loading\r\x1b[Kok", "ok"),
        ("loading\x1b[2K\rok", "ok"),
        ("loading\r\x1b[Jok", "ok"),
        ("loading\x1b[2K1", "       1"),
        (f"{RED}1{END}\r{RED}2{END}\n", f"{RED}2{END}\n"),
        (f"{RED}error{END}: x\rE", f"Error{END}: x"),
        (f"a\x1b]0;99\x07b\x1b[5A {RED}c{END}", f"ab {RED}c{END}"),
        ("\x1b]8;;http://x/99\x1b\\link\x1b]8;;\x1b\\", "link"),
    ],
)
def test_what_is_left(text: str, left: str) -> None:
    assert on_screen(text) == left


PIECES = ["a", "b", "\n", "\r", "\b", "\x1b[2K", "\x1b[K"]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_what_is_left_stays(pieces: list[str]) -> None:
    left = on_screen("".join(pieces))
    assert on_screen(left) == left
