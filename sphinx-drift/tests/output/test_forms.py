"""HTML and LaTeX: what is read of them, and whether they say what the text says."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tables import rows

from sphinx_drift.output.forms import html_differs, latex_differs, markdown_differs
from sphinx_drift.output.html_text import html_text

CASES = Path(__file__).with_name("forms.txt")


@pytest.mark.parametrize(("html", "text"), rows(CASES, "What a reader sees"))
def test_html_is_read_as_a_reader_sees_it(html: str, text: str) -> None:
    assert html_text(html) == text


@pytest.mark.parametrize(("one", "other"), rows(CASES, "HTML that reads otherwise"))
def test_structure_counts(one: str, other: str) -> None:
    assert html_text(one) != html_text(other)


# As pandas writes them, where the columns (c2) and the levels of the index (x1, y3) have names.
NAMED = (
    "<table><thead><tr><th>c2</th><th>a</th><th>b</th></tr>"
    "<tr><th>x1</th><th></th><th></th></tr></thead>"
    "<tbody><tr><th>7</th><td>-0.5</td><td>2</td></tr></tbody></table>"
)
LEVELS = (
    "<table><thead><tr><th></th><th>c2</th><th>a4</th><th>b5</th></tr>"
    "<tr><th>x1</th><th>y3</th><th></th><th></th></tr></thead><tbody>"
    "<tr><th rowspan=2>6</th><th>7</th><td>0.5</td><td>2</td></tr>"
    "<tr><th>8</th><td>1.5</td><td>3</td></tr></tbody></table>"
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("c2    a  \\\nx1         \n7  -0.5   \n\nc2  b  \nx1     \n7   2  ", NAMED),
        (
            (
                "c2      a4  \\\nx1 y3        \n6  7    0.5   \n   8    1.5   \n\n"
                "c2     b5  \nx1 y3      \n6  7    2  \n   8    3  "
            ),
            LEVELS,
        ),
    ],
)
def test_a_wrapped_table_repeats_the_names_of_its_index(text: str, html: str) -> None:
    assert html_differs(text, html) == ""
    assert html_differs(text.replace("2  ", "9  ", 1), html)


@pytest.mark.parametrize(("text", "html", "message"), rows(CASES, "Whether HTML has"))
def test_html_has_the_values_of_the_text(text: str, html: str, message: str) -> None:
    assert html_differs(text, html) == message


@pytest.mark.parametrize(("text", "html"), rows(CASES, "HTML that has not the signs"))
def test_html_has_the_signs_and_booleans_of_the_text(text: str, html: str) -> None:
    assert html_differs(text, text) == ""
    assert html_differs(text, html) != ""


@pytest.mark.parametrize(("text", "latex", "message"), rows(CASES, "Whether LaTeX has"))
def test_latex_has_the_numbers_of_the_text(text: str, latex: str, message: str) -> None:
    assert latex_differs(text, latex) == message


@pytest.mark.parametrize(("text", "markdown", "message"), rows(CASES, "Whether Markdown has"))
def test_markdown_has_the_values_of_the_text(text: str, markdown: str, message: str) -> None:
    assert markdown_differs(text, markdown) == message
