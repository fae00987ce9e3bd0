"""Find the examples of a module or a text file."""

import ast
import doctest
import functools
import re
from inspect import cleandoc
from pathlib import Path
from types import ModuleType

_OF_SPHINX = re.compile(r"\s*(?:\.\. |(?:`{3,}|:{3,})\{)(?:testoutput|doctest)(?:::|\})")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FENCE = re.compile(r"(?m)^[ \t]*(?:`{3,}|~{3,}).*$")


class _Finder(doctest.DocTestFinder):
    """Finds the examples of a `functools.cached_property` before Python 3.13, too."""

    def _from_module(self, module: ModuleType | None, thing: object) -> bool:
        # Its class is of another module; the function that it holds is of this one.
        own = thing.func if isinstance(thing, functools.cached_property) else thing
        return super()._from_module(module, own)  # type: ignore[misc, no-any-return]


def find_in_text(path: Path, name: str) -> list[doctest.DocTest]:
    """Return the examples of a text file, which share their variables, as one test.

    The outputs that only `sphinx.ext.doctest` compares are among them, and skipped.
    """
    text = path.read_text("utf-8-sig")
    of_sphinx = [
        doctest.Example("", "", lineno=number, options={doctest.SKIP: True})
        for number, row in enumerate(text.splitlines())
        if _OF_SPHINX.match(row)
    ]
    # A fence at the end of Markdown's code ends an example as a blank line does.
    test = doctest.DocTestParser().get_doctest(_FENCE.sub("", text), {}, name, str(path), 0)
    test.examples += of_sphinx
    return [test] if test.examples else []


def find_in_module(path: Path, module: ModuleType | None) -> list[doctest.DocTest]:
    """Return the docstrings with examples that the standard library finds in a module."""
    if module is None:
        return []
    tests = [test for test in _Finder().find(module) if test.examples]
    source = path.read_bytes()
    text, written = source.decode("utf-8-sig", "replace"), _written(source, module.__name__)
    for test in tests:
        found = written.get(cleandoc(test.docstring or ""), [])
        found = [each for each in found if each[0] == test.name] or found
        if found and test.lineno not in {line for _, line in found}:
            test.lineno = found[0][1]  # that of a decorator's function was found, or none
        elif test.lineno is None and (start := text.find(test.docstring or "")) >= 0:
            test.lineno = text.count("\n", 0, start)  # of a text in `__test__`
    return tests


def _written(source: bytes, module: str) -> dict[str, list[tuple[str, int]]]:
    """Return whose docstring each is in a module, by its text, and the line before it."""
    found: dict[str, list[tuple[str, int]]] = {}
    nodes: list[tuple[ast.AST, str]] = [(ast.parse(source), module)]
    for node, name in nodes:  # which grow
        own = name
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            own = f"{name}.{node.name}"
        if isinstance(node, _DOCUMENTED) and (docstring := ast.get_docstring(node)):
            found.setdefault(docstring, []).append((own, node.body[0].lineno - 1))
        nodes += [(child, own) for child in ast.iter_child_nodes(node)]
    return found


def line_of(test: doctest.DocTest, example: doctest.Example) -> int:
    """Return the line of the file on which an example begins."""
    return (test.lineno or 0) + example.lineno + 1
