"""Find the docstrings in the source of a module, with their names and lines."""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~).*$")
_QUOTED = re.compile(r"(?m)(?:^[ \t]*>(?: .*)?(?:\n|\Z))+")
_UNSURE = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.Try, ast.TryStar),
    *(ast.Match, ast.For, ast.While, ast.With),
)
_QUOTE_MARKS = re.compile(r"(?m)^([ \t]*)(?:>(?: |$))+")


def find_tests(
    path: Path, text: str, names: Mapping[str, object] | None = None, *, sure: bool = True
) -> list[doctest.DocTest]:
    """Return what has examples in a module or a text file: each docstring, or the whole text.

    They are read from the source, so that each is at its line, and none is hidden by a decorator.

    Args:
        path: The file; its suffix says which it is.
        text: What it holds.
        names: The variables that examples begin with.
        sure: Whether to return what is there at run time, or else what may be, such as what is
            defined under a condition.

    Raises:
        ValueError: If an example can't be read.

    """
    # The fences around Markdown's code end an example as a blank line does.
    docstrings = [(1, path.name, _FENCE.sub("", text.removeprefix("\ufeff")))]
    if path.suffix == ".py":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the source is read here, not judged
            found = _docstrings(ast.parse(text), "")
            docstrings = sorted(each for is_sure, each in found if is_sure is sure)
    parse = doctest.DocTestParser().get_doctest
    tests = [
        parse(_dedented(_without_quotes(docstring)), dict(names or {}), name, str(path), line - 1)
        for line, name, docstring in docstrings
    ]
    return [test for test in tests if test.examples]


def _docstrings(
    node: ast.AST, name: str, *, is_sure: bool = True
) -> Iterator[tuple[bool, tuple[int, str, str]]]:
    """Yield the lines, names such as ``Class.method``, and texts of docstrings in a module.

    What is defined under a condition may not be there at run time, and what is in a function isn't:
    `doctest` finds what there is, so each is yielded with whether it is sure to be there.
    """
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented):
        text = ast.get_docstring(node, clean=False)
        if text is not None:
            yield is_sure, (node.body[0].lineno, name, text)
    for _, block in ast.iter_fields(node):
        for statement, after in pairwise(block if isinstance(block, list) else ()):
            match statement, after:
                case (
                    ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target),
                    ast.Expr(ast.Constant(str() as value)),
                ):
                    own = ".".join(filter(None, (name, ast.unparse(target))))
                    yield is_sure, (after.lineno, own, value)
    is_sure = is_sure and not isinstance(node, _UNSURE)
    for child in ast.iter_child_nodes(node):
        own = getattr(child, "name", "") if isinstance(child, documented) else ""
        yield from _docstrings(child, ".".join(filter(None, (name, own))), is_sure=is_sure)


def _without_quotes(text: str) -> str:
    """Remove what marks a quotation in Markdown, if it has examples."""

    def unquoted(match: re.Match[str]) -> str:
        return _QUOTE_MARKS.sub(r"\1", match[0]) if ">>> " in match[0] else match[0]

    return _QUOTED.sub(unquoted, text)


def _dedented(text: str) -> str:
    """Indent the lines below the first as it is: it stands after the quotes."""
    first, newline, rest = text.expandtabs().partition("\n")
    return first + newline + textwrap.dedent(rest)


def line_of(test: doctest.DocTest, example: doctest.Example) -> int:
    """Return the line of the file on which an example begins."""
    return (test.lineno or 0) + example.lineno + 1
