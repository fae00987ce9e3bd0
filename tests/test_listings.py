"""What the book's cells define under a name of the package is the package's code.

Left out are docstrings, annotations and the checks of arguments.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from the_book import PAGES

import selfattn
from selfattn import trained

CELL = re.compile(
    r"(?P<listing>^```\{listing\}\n(?:(?::number: (?P<number>\S+)|(?!```).*)\n)*```\n\n)?"
    r"^```\{code-cell\}.*\n(?:^:.*\n)*(?P<code>(?:.*\n)*?)^```$",
    re.MULTILINE,
)
OF_THE_CHAPTER = {"3.1", "3.2", "3.3", "3.4", "3.5"}


def definitions(code: str) -> Iterator[tuple[str, str]]:
    """Return the names and the source of what a cell defines."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, ast.unparse(node)


class Shown(NamedTuple):
    """A definition in a listing, or in a cell if it has a name of the package."""

    name: str
    where: str
    source: str


SHOWN = sorted(
    {
        Shown(name, cell["number"] or page.stem, source)
        for page in PAGES
        for cell in CELL.finditer(page.read_text("utf-8"))
        for name, source in definitions(cell["code"])
        if cell["listing"] or name in selfattn.__all__
    }
)


def plain(source: str) -> str:
    """Return code as a syntax tree without docstrings, annotations and a function's checks."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not is_silent(part)]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    if isinstance(function := tree.body[0], ast.FunctionDef):
        function.body = [part for part in function.body if not checks_arguments(part)]
    return ast.dump(tree)


def is_silent(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or annotates a name without a value."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.AnnAssign) and node.value is None)


def checks_arguments(node: ast.stmt) -> bool:
    """Return whether a statement calls ``_check``, or raises an error under a condition."""
    called = isinstance(node, ast.Expr) and ast.unparse(node).startswith("_check(")
    return called or (isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise))


def test_the_chapters_listings_are_there() -> None:
    assert {shown.where for shown in SHOWN} >= OF_THE_CHAPTER


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: f"{shown.name} {shown.where}")
def test_what_is_shown_is_the_packages_code(shown: Shown) -> None:
    package = inspect.getsource(getattr(selfattn, shown.name, None) or getattr(trained, shown.name))
    assert plain(shown.source) == plain(package)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("SelfAttention_v1", ("dim=-1", "dim=-2")),
        ("SelfAttention_v1", ("** 0.5", "** 0.6")),
        ("SelfAttention_v1", ("self.W_key", "x")),
        ("attention_weights", ("-torch.inf", "torch.inf")),
        ("split_heads", ("-3", "-4")),
    ],
)
def test_one_altered_character_is_seen(name: str, change: tuple[str, str]) -> None:
    source = next(shown.source for shown in SHOWN if shown.name == name)
    assert change[0] in source
    assert plain(source.replace(*change)) != plain(source)
