"""The reference pages leave nothing out: symbols and terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from the_book import DOCS, PAGES

if TYPE_CHECKING:
    from pathlib import Path

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


class TestGlossary:
    TEXT = (DOCS / "reference" / "glossary.md").read_text("utf-8")
    TERMS = re.findall(r"^(\S.*)\n  \S", TEXT.partition("```{glossary}")[2], re.MULTILINE)

    def test_terms_are_sorted(self) -> None:
        assert sorted(self.TERMS, key=str.lower) == self.TERMS

    @pytest.mark.parametrize("term", TERMS)
    def test_a_term_is_used(self, term: str) -> None:
        glossary = DOCS / "reference" / "glossary.md"
        book = "".join(path.read_text("utf-8").lower() for path in PAGES if path != glossary)
        assert term.lower() in " ".join(book.split())
