"""Each listing of the book defines what the package defines, but for docstrings and annotations."""

from __future__ import annotations

import ast
import inspect
import re
from typing import NamedTuple

import pytest
from the_book import PAGES

import selfattn
from selfattn import trained

CELL = re.compile(
    r"^```\{listing\}\n(?P<head>.*?)^```\n\n```\{code-cell\}[^\n]*\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
OF_THE_CHAPTER = {"3.1", "3.2", "3.3", "3.4", "3.5"}


class Shown(NamedTuple):
    """A definition in a listing."""

    number: str
    source: str


SHOWN: dict[str, Shown] = {
    node.name: Shown(re.findall(r":number: (\S+)", cell["head"])[0], ast.unparse(node))
    for page in PAGES
    for cell in CELL.finditer(page.read_text("utf-8"))
    for node in ast.parse(cell["code"]).body
    if isinstance(node, ast.ClassDef | ast.FunctionDef)
}


def plain(source: str) -> str:
    """Return code as a syntax tree without docstrings and annotations."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not is_silent(part)]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(tree)


def is_silent(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or annotates a name without a value."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.AnnAssign) and node.value is None)


def test_the_chapters_listings_are_there() -> None:
    assert {shown.number for shown in SHOWN.values()} >= OF_THE_CHAPTER


@pytest.mark.parametrize("name", SHOWN)
def test_a_listing_is_the_packages_code(name: str) -> None:
    package = inspect.getsource(getattr(selfattn, name, None) or getattr(trained, name))
    assert plain(SHOWN[name].source) == plain(package)


@pytest.mark.parametrize(
    "change", [("dim=-1", "dim=-2"), ("** 0.5", "** 0.6"), ("self.W_key", "x")]
)
def test_one_altered_character_is_seen(change: tuple[str, str]) -> None:
    source = SHOWN["SelfAttention_v1"].source
    assert plain(source.replace(*change)) != plain(source)
