"""Find the examples of a module or a text file."""

import ast
import doctest
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType

from sphinx_drift.source.markdown import lines_of

_OF_SPHINX = re.compile(r"\s*(?:\.\. |(?:`{3,}|:{3,})\{)testoutput(?:::|\})")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_MARKDOWN = (".md", ".markdown")
_FENCE = re.compile(
    r"(?P<indent>(?:[\s>]|[-*+:] |\d+[.)] )*)(?P<markup>`{3,}(?=[^`]*$)|~{3,}|:{3,})"
)
_INDENTED = 4
"""Columns that make a line code, where no list or admonition holds it."""


class _Finder(doctest.DocTestFinder):
    """Finds the examples of a function in what a decorator made, such as a cached property."""

    def _from_module(self, module: ModuleType | None, thing: object) -> bool:
        # Its class is of another module; the function that it holds is of this one.
        return super()._from_module(module, _function_in(thing))  # type: ignore[misc, no-any-return]

    def _find(self, tests: list[doctest.DocTest], thing: object, *others: object) -> None:
        function = _function_in(thing)
        own = getattr(thing, "__dict__", {}).get("__doc__", function.__doc__)
        found = function if own == function.__doc__ else thing
        super()._find(tests, found, *others)  # type: ignore[misc]


def _function_in(thing: object) -> object:
    """Return the function that a descriptor holds, as those of functools do, or what is given."""
    if isinstance(thing, (ModuleType, type, FunctionType)):
        return thing
    held = inspect.getattr_static(thing, "func", None)
    if isinstance(held, (classmethod, staticmethod)):
        held = held.__func__
    return held if inspect.isfunction(held) else thing


def find_in_text(path: Path, name: str, encoding: str = "utf-8") -> list[doctest.DocTest]:
    """Return the examples of a text file, which share their variables, as one test.

    The outputs that only `sphinx.ext.doctest` compares are among them, and skipped.
    """
    lines = lines_of(path.read_text(encoding).removeprefix("\ufeff"))
    of_sphinx = [
        doctest.Example("", "", lineno=number, options={doctest.SKIP: True})
        for number, row in enumerate(lines)
        if _OF_SPHINX.match(row)
    ]
    if path.suffix.lower() in _MARKDOWN:  # the end of a fence ends an example as a blank line does
        for index in [*_bounds(lines, 0, len(lines))]:
            lines[index] = ""
    globs = {"__name__": "__main__"}  # which classes take for their module
    test = doctest.DocTestParser().get_doctest("\n".join(lines), globs, name, str(path), 0)
    test.examples += of_sphinx
    return [test] if test.examples else []


def _bounds(lines: Sequence[str], first: int, last: int, *, inside: bool = False) -> Iterator[int]:
    """Yield the indices of the lines that open or close a fence, also in another one.

    An example may print fences, and code that is indented show them: what is inside a fence or
    indented is one if it ends there and an example is in it.
    """
    while first < last:
        start, first = first, first + 1
        if not (opening := _FENCE.match(lines[start])):
            continue
        markup = opening["markup"]
        closing = re.compile(rf"[\s>]*{markup}{markup[0]}*\s*$")
        end = next((i for i in range(first, last) if closing.match(lines[i])), last)
        holds_example = any(">>>" in row for row in lines[first:end])
        may_be_printed = inside or len(opening["indent"].expandtabs()) >= _INDENTED
        if not may_be_printed or (end < last and holds_example):
            yield from (start, *range(end, min(end + 1, last)))
            yield from _bounds(lines, first, end, inside=True)
        if end < last:
            first = end + 1


def find_in_module(path: Path, module: ModuleType | None) -> list[doctest.DocTest]:
    """Return the docstrings with examples that the standard library finds in a module."""
    if module is None:
        return []
    tests = [test for test in _Finder().find(module) if test.examples]
    source = path.read_bytes()
    text = source.decode("utf-8-sig", "replace")
    written, owners = _written(source, module.__name__)
    for test in tests:
        found = written.get(inspect.cleandoc(test.docstring or ""), [])
        found = [each for each in found if each[0] == test.name] or found
        if found:
            if test.lineno not in {line for _, line in found}:
                test.lineno = found[0][1]  # that of a decorator's function was found, or none
        elif (start := text.find(test.docstring or "")) >= 0:
            test.lineno = text.count("\n", 0, start)  # it is given to something, or in `__test__`
        else:  # of a docstring that a decorator makes or changes
            test.lineno = owners.get(test.name, test.lineno)
    return tests


def _written(source: bytes, module: str) -> tuple[dict[str, list[tuple[str, int]]], dict[str, int]]:
    """Return whose docstring each is in a module, by its text, and where each owner's is.

    Lines are counted from 0, as doctest does. An owner without a docstring has its own line.
    """
    found: dict[str, list[tuple[str, int]]] = {}
    owners: dict[str, int] = {}
    nodes: list[tuple[ast.AST, str]] = [(ast.parse(source), module)]
    for node, name in nodes:  # which grow
        own = name
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            own = f"{name}.{node.name}"
            owners[own] = node.lineno - 1
        if isinstance(node, _DOCUMENTED) and (docstring := ast.get_docstring(node)):
            owners[own] = node.body[0].lineno - 1
            found.setdefault(docstring, []).append((own, owners[own]))
        nodes += [(child, own) for child in ast.iter_child_nodes(node)]
    return found, owners


def line_of(test: doctest.DocTest, example: doctest.Example) -> int:
    """Return the line of the file on which an example begins."""
    return (test.lineno or 0) + example.lineno + 1
