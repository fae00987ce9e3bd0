"""Numbers in sentences: which are quoted from outputs, and which nearly are."""

from pathlib import Path

import pytest
from nbformat import v4
from notebooks import code, notebook, stream

from sphinx_drift.source.markdown import paragraphs_of
from sphinx_drift.source.notebook import read_notebook
from sphinx_drift.source.prose import near_numbers, numbers_said


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is 0.31, or **0.5**; then .5 and 5e-3.", "0.31 0.5 .5 5e-3"),
        ("From 0.2-0.3 to \u22120.4, at 1,250.5 and 43 %.", "0.2 0.3 0.4 1,250.5 43 %"),
        ("a 0.6B model, 1.5-inch, 2nd, x0.5, 1.5 \u00d7 10\u207b\u2075", ""),
        ("Section 3.4.1, Figures 3.6, Eq. 7.16, Python 3.11, v2.4, 3.4.1", ""),
        ("2024-11-16 at 12:30, `0.1`, {printed}`w .2f`, $0.2$, $$\n0.3\n$$", ""),
        ("<a b=0.1>, [](b/0.2), https://b.c/0.3, ![](c0.4), 1e999", ""),
        ("The loss (0.92) costs \\$0.25 to \\$0.30.", "0.92 0.25 0.30"),
        (f"3.{'1' * 40}", ""),
    ],
)
def test_what_a_sentence_may_quote(text: str, numbers: str) -> None:
    assert " ".join(number.text for number in numbers_said(text)) == numbers


def test_headings_and_options_say_nothing() -> None:
    figure = "```{figure} a.png\n:height: 0.52\n:alt: 0.53\n\nIt is 0.54.\n```\n"
    nested = "::::{note}\n:class: c\n:::{tip}\nIt is 0.55.\n:::\n::::\n"
    said = paragraphs_of(f"{figure}\n{nested}\n# It is 0.56.\n\nIt is 0.57.\n")
    assert said == [("It is 0.54.", 5), ("It is 0.55.", 11), ("It is 0.57.", 17)]


@pytest.mark.parametrize(
    ("text", "cells_between", "found"),
    [
        ("It ends at 0.435.", 0, "0.435, and cell 2 prints 0.429637"),
        ("It ends at 0.435.", 1, "0.435, and cell 2 prints 0.429637"),
        ("| 0.435 | **0.435** |\n|---|---|\n| 0.435 | 54.2 % |", 0, ""),
        ("So 54.2 % are right.", 0, "54.2 %, and cell 2 prints 0.5461"),
        ("So 57 % are right.", 0, ""),  # it has no decimals
        # Rounded or cut, on whatever cell, or in the code.
        ("It is 0.43, or 0.42, or 0.4296, from 7.5 on, at 0.441.", 0, ""),
        ("So 98.8 % are right, or 98.7 % of them.", 1, ""),
        # Too far, on the page or in size; or near two of them.
        ("It ends at 0.435.", 2, ""),
        ("It ends at 0.465, or at 12.4, or 0.972.", 0, ""),
        # Nothing that a cell needs to have printed, or with more digits.
        ("It is less than 0.435, > 0.435, roughly 0.435; 0.4350001.", 0, ""),
    ],
)
def test_what_nearly_quotes_the_cells_above(text: str, cells_between: int, found: str) -> None:
    book = notebook(
        code("rate = 0.441", stream("7.49\n")),
        code("train()", stream("loss 0.429637, 0.5461, 12; 0.9876, 0.9875")),
        *(["pass"] * cells_between),
        v4.new_markdown_cell(text),
    )
    notes = [*near_numbers(Path("it.ipynb"), v4.writes(book), read_notebook(book), book)]
    assert [note.partition(" says ")[2] for note in notes] == [found] * bool(found)
