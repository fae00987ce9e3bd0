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
        ("1000\r20", "2000"),
        ("abc\b\bX", "aXc"),
        ("a\b\b\bX", "X"),
        ("loading\r\x1b[Kok", "ok"),
        ("loading\x1b[2K\rok", "ok"),
        ("loading\b\b\x1b[1Kok", "     ok"),
        ("one\ntwo\x1b[A!\n", "one!\ntwo"),
        ("one\x1b[B!", "one\n   !"),
        ("ab\x1b[2DX\x1b[3CY", "Xb  Y"),
        ("ab\x1b[1GX", "Xb"),
        (f"{RED}1{END}\r{RED}2{END}\n", f"{RED}2{END}\n"),
        (f"{RED}error{END}: x\rE", f"Error{END}: x"),
    ],
)
def test_what_is_left(text: str, left: str) -> None:
    assert on_screen(text) == left


@given(st.text(alphabet="ab\n é", max_size=30))
def test_plain_text_stays(text: str) -> None:
    assert on_screen(text) == text


PIECES = ["a", "b", "\n", "\r", "\b", "\x1b[1K", "\x1b[K", "\x1b[A", "\x1b[2C"]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_what_is_left_stays(pieces: list[str]) -> None:
    left = on_screen("".join(pieces))
    assert on_screen(left) == left


def test_a_move_that_no_terminal_could_make_takes_no_memory() -> None:
    assert len(on_screen("\x1b[99999999999C5\r\n")) < 20_000
    assert on_screen("\x1b[999999999B5\r").endswith("5")
