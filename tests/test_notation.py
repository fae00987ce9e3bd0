"""The page on notation leaves no symbol out."""

import re
from pathlib import Path

import pytest
from the_book import DOCS, PAGES

FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$", re.DOTALL)
SYMBOL = re.compile(
    r"\\mathbf\{\w\}|\\(?:alpha|omega|Omega|theta|varphi|delta|xi)(?![A-Za-z])|d_\w"
)


def symbols(text: str) -> set[str]:
    """Return the vectors, matrices, Greek letters and sizes in a text's formulas."""
    formulas = (block or inline for block, inline in FORMULA.findall(FENCED.sub("", text)))
    return {symbol for formula in formulas for symbol in SYMBOL.findall(formula)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_every_symbol_of_a_page_is_in_the_notation(path: Path) -> None:
    known = symbols((DOCS / "reference" / "notation.md").read_text("utf-8"))
    assert symbols(path.read_text("utf-8")) <= known


def test_an_unknown_symbol_is_noticed() -> None:
    assert symbols(r"$\mathbf{Y}$ and $\xi_1$, `$\mathbf{B}$`") >= {r"\mathbf{Y}", r"\xi"}
