"""Numbers quoted from outputs: the one that is meant, or a reason why not."""

from pathlib import Path

import pytest
from case_tables import rows

from sphinx_drift.source.quote import Quotation, read_quotation

CASES = Path(__file__).with_name("quotations.txt")
OUTPUT = "tensor([[ 0.1500, -2.0000],\n        [3e-05, 7]])"


@pytest.mark.parametrize(
    ("text", "quotation"),
    [
        ("name", Quotation("name")),
        ("  a-b_c9  ", Quotation("a-b_c9")),
        ("name[1, 0]", Quotation("name", "[1, 0]")),
        ("name[1,0] .2f", Quotation("name", "[1,0]", ".2f")),
        ("name#12 .0%", Quotation("name", "#12", ".0%")),
    ],
)
def test_reads(text: str, quotation: Quotation) -> None:
    assert read_quotation(text) == quotation


@pytest.mark.parametrize(
    "text", ["", "[1]", "a b c", "a[-1]", "a[x]", "a#-1", "a[1]#1", "a.b", "a .2g", "a +.0%"]
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="expected `name`"):
        read_quotation(text)


@pytest.mark.parametrize(("text", "output", "quoted"), rows(CASES, "What a quotation reads"))
def test_quotes(text: str, output: str, quoted: str) -> None:
    assert read_quotation(text).number_in(output or OUTPUT) == quoted


@pytest.mark.parametrize(("text", "output", "message"), rows(CASES, "Why a quotation reads"))
def test_says_why_not(text: str, output: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_quotation(text).number_in(output or OUTPUT)


@pytest.mark.parametrize(("text", "output"), rows(CASES, "A piece of a number"))
def test_quotes_no_piece(text: str, output: str) -> None:
    with pytest.raises(
        ValueError, match="may not be the whole number: let the cell print it by itself"
    ):
        read_quotation(text).number_in(output)
