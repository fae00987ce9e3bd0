"""Numbers in sentences: which are quoted from outputs, and which nearly are."""

from __future__ import annotations

import pytest

from sphinx_drift.source.markdown import paragraphs_of
from sphinx_drift.source.said import Sentence, known_in, nearly, numbers_in, said_in


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is 0.31, or **0.5**; then .5 and 5e-3.", "0.31 0.5 .5 5e-3"),
        ("From 0.2-0.3 to \u22120.4, at 1,250.5 and 43,2 %.", "0.2 0.3 \u22120.4 1,250.5 43,2 %"),
        ("That is 7.83x in 0.31s, 6.7 billion, 31 percent.", "7.83 0.31 6.7 billion 31 percent"),
        ("a 0.6B model, 1.5-inch, 2nd, x0.5, 1.5 \u00d7 10\u207b\u2075", ""),
        ("Section 3.4.1, Figures 3.6, Eq. 7.16, (7.16), Python 3.11, v2.4, 3.4.1", ""),
        ("2024-11-16 at 12:30, 1/3, `0.1`, {printed}`w .2f`, $0.2$, $$\n0.3\n$$", ""),
        ("<a b=0.1>, [0.2](b), https://b.c/0.3, ![0.4](c), 1e99999999999999999999", ""),
        ("3.4 Causal attention", ""),
        ("The loss (0.92) costs \\$0.25 to \\$0.30.", "0.92 0.25 0.30"),
        ("The shape is (3,4), from 43,2 to [12,5].", "4 43,2 5"),
        (f"3.{'1' * 40}", ""),
    ],
)
def test_what_a_sentence_may_quote(text: str, numbers: str) -> None:
    assert " ".join(number.text for number in said_in(text)) == numbers


def test_options_and_restructuredtext_say_nothing() -> None:
    figure = "```{figure} a.png\n:height: 0.52\n:alt: 0.53\n\nIt is 0.54.\n```\n"
    nested = "::::{note}\n:class: c\n:::{tip}\nIt is 0.55.\n:::\n::::\n"
    text = f"{figure}\n{nested}\n```{{eval-rst}}\nIt is 0.56.\n```\n\nIt is 0.57.\n"
    said = [(each.text, each.line) for each in paragraphs_of(text)]
    assert said == [("It is 0.54.", 5), ("It is 0.55.", 11), ("It is 0.57.", 19)]


PRINTED = {1: "7.49\n", 2: "loss 0.429637", 3: "accuracy 0.9876 0.5461 12", 5: "0.2891"}


@pytest.mark.parametrize(
    ("text", "above", "found"),
    [
        ("It ends at 0.435.", 3, "0.435 0.429637 2"),
        ("It ends at 0.435.", 2, "0.435 0.429637 2"),
        ("So 54.2 % are right.", 3, "54.2 % 0.5461 3"),
        # Rounded or cut, on whatever cell, or in the code.
        ("It is 0.43, or 0.42, or 0.4296, from 7.5 on, at 0.441.", 3, ""),
        ("So 98.8 % are right, or 98.7 % of them.", 5, ""),
        # Too far: in the page, in size, from what is left to 100 %.
        ("It ends at 0.435.", 4, ""),
        ("It ends at 0.435.", 1, ""),
        ("It ends at 0.465, or at 12.4.", 3, ""),
        ("So 97.8 % are right.", 3, ""),
        # Nothing that a cell needs to have printed.
        ("It is less than 0.435, > 0.435, roughly 0.435, 87/200 = 0.435.", 3, ""),
        # It says more digits than there are.
        ("It ends at 0.4350001.", 3, ""),
    ],
)
def test_what_nearly_quotes_the_cells_above(text: str, above: int, found: str) -> None:
    decimals = {c: [n for n in numbers_in(t) if n.is_decimal] for c, t in PRINTED.items()}
    known = known_in([*PRINTED.values(), "rate = 0.441"])
    findings = [*nearly([Sentence(text, 7, above)], decimals, known)]
    assert " ".join(f"{f.said} {f.printed} {f.cell}" for f in findings) == found
    assert all(finding.line == 7 for finding in findings)
    assert not [*nearly([Sentence(text, 7, above, in_table=True)], decimals, known)]


@pytest.mark.parametrize(("count", "is_found"), [(5, True), (6, False)])
def test_among_many_numbers_it_must_be_nearer(count: int, is_found: bool) -> None:  # noqa: FBT001 - a row
    printed = [*numbers_in(" ".join(f"0.5{n}0" for n in range(1, count + 1)))]
    said = Sentence("It is 0.505.", 1, 1)
    assert bool([*nearly([said], {1: printed}, [])]) is is_found
