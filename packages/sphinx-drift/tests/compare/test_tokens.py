from pathlib import Path

import pytest
from case_tables import rows

from sphinx_drift.compare.brackets import indices
from sphinx_drift.compare.lexer import TokenKind
from sphinx_drift.compare.tokens import read_tokens

SHORT = dict(zip(TokenKind, "wifm()n", strict=True))


def keys(text: str) -> list[tuple[TokenKind, str, str]]:
    return [token.key for token in read_tokens(text)]


CASES = Path(__file__).with_name("tokens.txt")


@pytest.mark.parametrize(("text", "read"), rows(CASES, "A text, and the kinds"))
def test_is_read_as(text: str, read: str) -> None:
    tokens = read_tokens(text)
    shape = "".join(SHORT[token.kind] for token in tokens)
    pieces = [token.text.replace("\n", "/") for token in tokens]
    assert " ".join([shape, *pieces]) == read


@pytest.mark.parametrize(("one", "other"), rows(CASES, "The same to a reader"))
def test_makes_no_difference(one: str, other: str) -> None:
    assert keys(one) == keys(other)


@pytest.mark.parametrize(("one", "other"), rows(CASES, "Another output"))
def test_makes_a_difference(one: str, other: str) -> None:
    assert keys(one) != keys(other)


@pytest.mark.parametrize(("text", "element", "index"), rows(CASES, "Where an element"))
def test_an_element_has_an_index(text: str, element: str, index: str) -> None:
    result = read_tokens(text)
    position = [token.text for token in result].index(element)
    assert str(indices(result, {position})[position]) == index
