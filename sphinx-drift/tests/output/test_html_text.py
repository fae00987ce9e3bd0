"""What a reader sees of HTML."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tables import rows

from sphinx_drift.output.html_text import html_text

CASES = Path(__file__).with_name("html.txt")


@pytest.mark.parametrize(("html", "text"), rows(CASES, "What a reader sees"))
def test_html_is_read_as_a_reader_sees_it(html: str, text: str) -> None:
    assert html_text(html) == text


@pytest.mark.parametrize(("one", "other"), rows(CASES, "HTML that reads otherwise"))
def test_structure_counts(one: str, other: str) -> None:
    assert html_text(one) != html_text(other)
