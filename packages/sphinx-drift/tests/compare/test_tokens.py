from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_tables import rows
from hypothesis import given
from hypothesis import strategies as st

from sphinx_drift.compare.brackets import indices
from sphinx_drift.compare.lexer import TokenKind, plain
from sphinx_drift.compare.tokens import read_tokens

SHORT = dict(zip(TokenKind, "wifm()n", strict=True))


def keys(text: str) -> list[tuple[TokenKind, str, str]]:
    return [token.key for token in read_tokens(text)]


def texts(text: str) -> list[str]:
    return [token.text for token in read_tokens(text)]


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


CASES = Path(__file__).with_name("tokens.txt")


@pytest.mark.parametrize(("text", "read"), rows(CASES, "A text, and the kinds"))
def test_is_read_as(text: str, read: str) -> None:
    shape = "".join(SHORT[token.kind] for token in read_tokens(text))
    pieces = [piece.replace("\n", "/") for piece in texts(text)]
    assert " ".join([shape, *pieces]) == read


@pytest.mark.parametrize(("one", "other"), rows(CASES, "The same to a reader"))
def test_makes_no_difference(one: str, other: str) -> None:
    assert keys(one) == keys(other)


@pytest.mark.parametrize(("one", "other"), rows(CASES, "Another output"))
def test_makes_a_difference(one: str, other: str) -> None:
    assert keys(one) != keys(other)


# The alphabet of outputs, so that what is drawn is near what the patterns look for.
PIECES = st.one_of(
    st.sampled_from(" \n,.[](){}+-ej01239'=<>_:"),
    st.sampled_from(["  ", "\n  ", "\t", "nan", "inf", "0.25", "1e-05", "...", "\x1b[31m"]),
    st.sampled_from(["tensor(", ", device='cuda:0'", "device=", "grad_fn=<MmBackward0>", "α"]),
)
OUTPUTS = st.lists(PIECES, max_size=30).map("".join)


@given(st.one_of(st.text(), OUTPUTS))
def test_any_text_can_be_read(text: str) -> None:
    result = read_tokens(text)
    read = plain(text)
    ends = [0, *(token.end for token in result)]
    for before, token in zip(ends, result, strict=False):
        assert before <= token.start <= token.end <= len(read)
        if token.kind not in (TokenKind.LINE, TokenKind.WORD):
            assert read[token.start : token.end] == token.text
    unread = text.replace("device", "place").replace("grad_fn", "made_by")
    assert bare("".join(texts(unread))) == bare(plain(unread))
    each = range(len(result))
    assert indices(result, each) == {place: indices(result, {place})[place] for place in each}


NUMBERS = st.one_of(
    st.integers(-999, 999).map(str),
    st.decimals(-99, 99, places=4).map(str),
    st.floats(1e-12, 1e12).map(lambda x: f"{x:.4e}"),
    st.sampled_from(["nan", "inf", "-inf", "1.", "-0.", "True"]),
)
MATRICES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1)
)


def printed(matrix: list[list[str]]) -> str:
    lines = ",\n        ".join(f"[{', '.join(numbers)}]" for numbers in matrix)
    return f"tensor([{lines}])"


@given(MATRICES, st.data())
def test_wrapping_and_padding_change_nothing(matrix: list[list[str]], data: st.DataObject) -> None:
    text = printed(matrix)
    spaces = st.sampled_from([" ", "   ", "\n", "\n\n", " \n  ", "\t"])
    wrapped = re.sub(r"\s+", lambda _: data.draw(spaces), text)
    padded = re.sub(r"(?<=\[)|(?=\])", lambda _: data.draw(st.sampled_from(["", " "])), wrapped)
    assert keys(wrapped) == keys(text)
    assert keys(padded) == keys(text)


@pytest.mark.parametrize(("text", "element", "index"), rows(CASES, "Where an element"))
def test_an_element_has_an_index(text: str, element: str, index: str) -> None:
    result = read_tokens(text)
    place = [token.text for token in result].index(element)
    assert str(indices(result, {place})[place]) == index
