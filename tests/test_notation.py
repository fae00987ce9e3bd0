"""The reference pages leave nothing out: symbols, names in code, terms, spelling."""

from __future__ import annotations

import io
import re
import token
import tokenize
from typing import TYPE_CHECKING

import pytest
from the_book import DOCS, PAGES, ROOT

from reference.symbols import Symbol, groups, spoken, symbols

if TYPE_CHECKING:
    from pathlib import Path

NOTATION = DOCS / "reference" / "notation.md"
CODE = re.compile(r"^(`{3,})\{code-cell\}.*?^\1$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(
    r"^(`{3,})(?:[a-z]|\{(?:code-cell|expected-output)\}).*?^\1$", re.MULTILINE | re.DOTALL
)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$", re.DOTALL)
SYMBOLS = list(symbols())
# What a formula holds besides symbols: numbers, signs, spaces, brackets, layout.
LAYOUT = re.compile(
    r"\\(?:begin|end)\{\w+\*?\}|\\text\{[^}]*\}|\\(?:mathrm|operatorname)\{(?:in|out)\}"
    r"|\\(?:left|right|[bB]igl?|[bB]igr?|frac|tfrac|sqrt|sum|prod|qquad|quad|dots|cdots|ldots|times"
    r"|approx|le|leq|ge|geq|neq|ne|in|to|infty|log|ln|max|min|colon|mid|partial|propto|pm|odot)"
    r"(?![A-Za-z])|\\[\\,;:! {}|]|[\d\s&{}()\[\]^_=+\-−*/.,:;!|<>~'√…]"
)


def formulas(path: Path) -> list[str]:
    text = FENCED.sub("", path.read_text("utf-8"))
    return [block or inline for block, inline in FORMULA.findall(text)]


def left_over(formula: str) -> str:
    """Return what of a formula is neither a symbol of the notation nor layout."""
    rest = formula
    for symbol in sorted(SYMBOLS, key=lambda symbol: -len(symbol.pattern)):
        rest = re.sub(rf"(?<![A-Za-z\\])(?:{symbol.pattern})(?![A-Za-z])", " ", rest)
    return LAYOUT.sub("", rest)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_every_symbol_of_a_page_is_in_the_notation(path: Path) -> None:
    unknown = {formula: left_over(formula) for formula in formulas(path)}
    assert {formula: rest for formula, rest in unknown.items() if rest} == {}


def test_an_unknown_symbol_is_noticed() -> None:
    assert left_over(r"\mathbf{Q} \, \xi") == r"\xi"
    assert left_over(r"\mathbf{q}^{(2)} = y_1") == "y"


@pytest.mark.parametrize("symbol", SYMBOLS, ids=lambda symbol: symbol.id)
def test_every_symbol_of_the_notation_appears(symbol: Symbol) -> None:
    pages = [path for path in PAGES if path != NOTATION]
    letters = re.compile(rf"(?<![A-Za-z\\_])(?:{symbol.pattern})(?![A-Za-z_])")
    assert any(letters.search(formula) for path in pages for formula in formulas(path))
    assert symbol.is_all_of(symbol.latex) or symbol.id == "mn"


def names() -> set[str]:
    texts = [path.read_text("utf-8") for path in (ROOT / "selfattn").glob("*.py")]
    for path in PAGES:
        for cell in CODE.finditer(path.read_text("utf-8")):
            body = cell[0].partition("\n")[2].rpartition("\n")[0]
            texts.append("\n".join(x for x in body.splitlines() if not x.startswith(("%", ":"))))
    return {
        found.string
        for text in texts
        for found in tokenize.generate_tokens(io.StringIO(text + "\n").readline)
        if found.type == token.NAME
    }


def test_every_name_in_code_is_one() -> None:
    assert {name for symbol in SYMBOLS for name in symbol.code} - names() == set()


def test_the_page_shows_every_group() -> None:
    shown = re.findall(r"```\{notation-table\} (.+)", NOTATION.read_text("utf-8"))
    assert shown == list(groups())


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


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("T = 6", "T = 6"),
        (r"\sqrt{d_k}", "the square root of d k"),
        (r"\mathbf{q}^{(i)}", "q i"),
        (r"\mathbf{K}^\top", "K transposed"),
        (r"\omega_{ij}", "omega i j"),
        (r"d_\mathrm{in}", "d in"),
        (r"\varphi", "phi"),
        (r"\cdot", "dot"),
    ],
)
def test_a_formula_is_read_aloud(formula: str, words: str) -> None:
    assert spoken(formula) == words


def test_a_link_names_its_symbol_and_says_what_it_means() -> None:
    """A screen reader hears the title alone: a formula is no text to name a link by."""
    by_id = {symbol.id: symbol for symbol in symbols()}
    assert by_id["T"].explanation("T = 6") == "T = 6: the number of tokens"
    assert by_id["d-q"].explanation("d_q") == "d q: the number of entries in a query"
    for symbol in symbols():
        words = symbol.explanation(symbol.latex)
        assert words.startswith(f"{spoken(symbol.latex)}: ")
        assert not set(words) & set("$\\{}`"), words
