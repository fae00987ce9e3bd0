"""Find the examples of a module or a text file, and those that are never run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import ModuleType

_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~).*$")
_QUOTED_PROMPT = re.compile(r"(?m)^[ \t]*(?:>[ \t]+)+(?=>>> |\.\.\. )")
_PARSER = doctest.DocTestParser()


def find_in_text(path: Path) -> list[doctest.DocTest]:
    """Return the examples of a text file, which share their variables."""
    # The fences around Markdown's code end an example as a blank line does.
    text = _FENCE.sub("", path.read_text("utf-8-sig"))
    test = _PARSER.get_doctest(text, {}, path.name, str(path), 0)
    return [test, _never_run(path, [(1, text)], [test])]


def find_in_module(path: Path, module: ModuleType | None) -> list[doctest.DocTest]:
    """Return what the standard library finds in a module: nothing if that isn't imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the source is read here, not judged
        nodes = ast.walk(ast.parse(path.read_bytes()))
    constants = (node for node in nodes if isinstance(node, ast.Constant))
    strings = sorted((each.lineno, each.value) for each in constants if isinstance(each.value, str))
    lines = {inspect.cleandoc(text): line for line, text in strings}
    tests = doctest.DocTestFinder().find(module) if module else []
    for test in tests:  # a decorator may hide where a docstring stands
        line = (test.lineno or 0) + 1
        test.lineno = lines.get(inspect.cleandoc(test.docstring or ""), line) - 1
    return [*tests, _never_run(path, strings, tests)]


def _never_run(
    path: Path, strings: Iterable[tuple[int, str]], tests: Iterable[doctest.DocTest]
) -> doctest.DocTest:
    """Return the examples that are in strings, or in quotations there, and in no test: skipped."""
    found = Counter((each.source, each.want) for test in tests for each in test.examples)
    left = []
    for line, text in strings:
        try:
            examples = _PARSER.get_examples(_QUOTED_PROMPT.sub("", text))
        except ValueError:  # one of them can't be read
            examples = [doctest.Example(text, "")]
        for example in examples:
            found[key := (example.source, example.want)] -= 1
            if found[key] < 0:
                example.lineno += line - 1
                example.options[doctest.SKIP] = True
                left.append(example)
    return doctest.DocTest(left, {}, "never run", str(path), 0, None)
