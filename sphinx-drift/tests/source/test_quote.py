"""Numbers quoted from outputs: the one that is meant, or a reason why not."""

from __future__ import annotations

import pytest

from sphinx_drift.compare.compare import compare
from sphinx_drift.source.quote import Quotation, read_quotation

OUTPUT = "tensor([[ 0.1500, -2.0000],\n        [3e-05, 7]])"


@pytest.mark.parametrize(
    ("text", "quotation"),
    [
        ("name", Quotation("name")),
        ("  a-b_c9  ", Quotation("a-b_c9")),
        ("name[1]", Quotation("name", (1,))),
        ("name[1, 0]", Quotation("name", (1, 0))),
        ("name[1,0] .2f", Quotation("name", (1, 0), form=".2f")),
        ("name#12 +.0%", Quotation("name", place=12, form="+.0%")),
    ],
)
def test_reads(text: str, quotation: Quotation) -> None:
    assert read_quotation(text) == quotation


@pytest.mark.parametrize(
    "text", ["", " ", "[1]", "#1", "a b c", "a[]", "a[-1]", "a[x]", "a#", "a#-1", "a[1]#1", "a.b"]
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="expected `name`"):
        read_quotation(text)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("it[0, 0]", "0.1500"),
        ("it[0, 1]", "−2.0000"),
        ("it[1, 0]", "3e−05"),
        ("it[1, 1]", "7"),
        ("it#1", "0.1500"),
        ("it#4", "7"),
        ("it[0, 0] .0%", "15%"),
        ("it[0, 1] .1f", "−2.0"),
        ("it[0, 1] +.1f", "−2.0"),
        ("it[1, 0] .5f", "0.00003"),
        ("it[1, 1] d", "7"),
        ("it[1, 1] 03d", "007"),
        ("it[1, 1] .1f", "7.0"),
        ("it[1, 1] b", "111"),
    ],
)
def test_quotes(text: str, quoted: str) -> None:
    assert read_quotation(text).number_in(OUTPUT) == quoted


@pytest.mark.parametrize(
    ("output", "quoted"), [("the loss is 0.5\n", "0.5"), ("-1", "−1"), ("inf", "inf"), ("1.", "1.")]
)
def test_the_only_number_needs_no_place(output: str, quoted: str) -> None:
    assert read_quotation("it").number_in(output) == quoted


@pytest.mark.parametrize(
    ("text", "output", "message"),
    [
        ("it", "no number here", "it has no number$"),
        ("it", "", "it has no number$"),
        ("it", "1 2 3", r"it has 3 numbers; say which: it\[0\] or it#1"),
        ("it[0, 2]", OUTPUT, r"it has no number \[0, 2\]"),
        ("it[0]", OUTPUT, r"it has no number \[0\]"),
        ("it#5", OUTPUT, "it has no number #5"),
        ("it#0", OUTPUT, "it has no number #0"),
        ("it#1 d", OUTPUT, "format code 'd'"),
        ("it#1 9<8", OUTPUT, "can't fill up"),
        ("it#1 nonsense", OUTPUT, "(?i)format"),
        ("it#1 .5f", OUTPUT, "it prints 0.1500: '.5f' shows more digits"),
        ("it#1 .3%", OUTPUT, "'.3%' shows more digits"),
        ("it ,.0f", "9007199254740993", "',.0f' shows other digits"),
        ("it .16g", "9007199254740993", "'.16g' shows other digits"),
        ("it .20f", "0.12345678901234567890123", "'.20f' shows other digits"),
    ],
)
def test_says_why_not(text: str, output: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_quotation(text).number_in(output)


def test_a_number_that_is_left_out_is_not_quoted() -> None:
    executed = "1\n2\n3\n4"
    elided = compare("1\n⋮\n4", executed).elided
    quote = read_quotation
    assert [quote(f"it#{place}").number_in(executed, elided) for place in (1, 4)] == ["1", "4"]
    for place in (2, 3):
        with pytest.raises(ValueError, match=f"it doesn't document its number #{place}"):
            quote(f"it#{place}").number_in(executed, elided)
