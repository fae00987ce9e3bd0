"""Find the docstrings of a module's source: what each belongs to, and where it stands."""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~).*$")


@dataclass(frozen=True)
class Docstring:
    """One docstring."""

    name: str
    """What it belongs to, such as ``Class.method``; empty for the module."""
    text: str
    line: int
    """Line on which it begins, counted from 1."""
    end_line: int = 0
    raw: bool = False
    """Whether a backslash in it is one."""


def find_docstrings(source: str) -> list[Docstring]:
    """Return the docstrings of a module, in order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the source is read here, not judged
        tree = ast.parse(source)
    lines = source.encode().splitlines()
    return sorted(_below(tree, "", lines), key=lambda docstring: docstring.line)


def _below(node: ast.AST, name: str, lines: list[bytes]) -> Iterator[Docstring]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented):
        text = ast.get_docstring(node, clean=False)
        if text is not None:
            first = node.body[0]
            opening = lines[first.lineno - 1][first.col_offset :].partition(b'"')[0]
            raw = b"r" in opening.partition(b"'")[0].lower()
            yield Docstring(name, text, first.lineno, first.end_lineno or first.lineno, raw)
    for child in ast.iter_child_nodes(node):
        own = getattr(child, "name", "") if isinstance(child, documented) else ""
        yield from _below(child, ".".join(filter(None, (name, own))), lines)


def without_fences(text: str) -> str:
    """Blank the fences around Markdown's code: they end an example as a blank line does."""
    return _FENCE.sub("", text)


def find_examples(path: Path, text: str) -> dict[int, doctest.Example]:
    """Return the examples of a module or a text file, by the line on which each begins."""
    docstrings = [Docstring("", without_fences(text), 1)]
    if path.suffix == ".py":
        docstrings = find_docstrings(text)
    parse = doctest.DocTestParser().get_examples
    examples = {each.line + e.lineno: e for each in docstrings for e in parse(each.text)}
    for example in examples.values():
        if follows_quotes(example):
            example.want = textwrap.dedent(example.want)
    return examples


def follows_quotes(example: doctest.Example) -> bool:
    """Whether an example begins its docstring: the lines below are indented, and it is not."""
    return not example.lineno and not example.indent
