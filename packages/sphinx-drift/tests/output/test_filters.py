"""Filters replace what varies, and never a number that they do not name."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from case_tables import rows
from hypothesis import given
from hypothesis import strategies as st

from sphinx_drift.model import PageResult
from sphinx_drift.output.filters import DEFAULTS, filtered, filters_in, make
from sphinx_drift.report.summary import unused_filters

CASES = Path(__file__).with_name("filters.txt")


@pytest.mark.parametrize(("pattern", "text", "result"), rows(CASES, "What a filter replaces"))
def test_a_filter_replaces_what_it_names(pattern: str, text: str, result: str) -> None:
    counts: Counter[str] = Counter()
    assert filtered(text, [make(pattern, "it", "why")], counts) == (result or text)
    assert counts["it"] == result.count("<it>")


@given(
    st.text("ab 01.,-<>", max_size=12), st.sampled_from([r"[a-z ]*.", r"a.b", r"\S+ ", r"[^<]+"])
)
def test_no_wildcard_swallows_a_digit(text: str, pattern: str) -> None:
    after = filtered(text, [make(pattern, "n", "why")])
    assert re.findall(r"\d", after) == re.findall(r"\d", text)


@pytest.mark.parametrize(("text", "result"), rows(CASES, "What varies by itself"))
def test_what_varies_by_itself(text: str, result: str) -> None:
    assert filtered(text, DEFAULTS) == (result or text)


def test_a_filter_that_is_vetoed_is_told_as_that() -> None:
    dot, digits, none = (
        make(p, n, "why") for p, n in (("loss .+", "a"), (r"\d+ ms", "b"), ("x", "c"))
    )
    counts: Counter[str] = Counter()
    assert filtered("loss 0.5 in 5 ms", [dot, digits, none], counts) == "loss 0.5 in <b>"
    told = unused_filters([dot, digits, none], [PageResult("page.md", filtered=counts)])
    assert told.startswith("nothing was filtered as c; delete what is not needed\na matched, and")


@pytest.mark.parametrize(
    "parts",
    [("(", "n", "r"), ("x?", "n", "r"), ("", "n", "r"), ("a", "n", "")],
)
def test_a_filter_that_nothing_could_follow_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"filter is|regular|empty"):
        filters_in([parts], "filters")
