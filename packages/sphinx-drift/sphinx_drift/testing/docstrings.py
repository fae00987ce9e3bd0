"""Find the examples of a module or a text file, and those that are never run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import ModuleType

_EXAMPLE_OR_CODE = re.compile(
    r"""(?m)
    ^[ \t]*>>>\ .* (?:\n.*\S.*)*  # an example, whose output may look like a fence
    | (?P<code> ^(?:[ \t]|[-*+][ ]|\d+[.)][ ])* (?P<fence>`{3,}|~{3,}) [^`\n]*\n (?s:.*?) )
      ^[ \t]* (?P=fence) [`~]* [ \t]*$
    """,
    re.VERBOSE,
)
_QUOTED_PROMPT = re.compile(r"(?m)^[ \t]*(?:>[ \t]+)+(?=>>> |\.\.\. )")


class UnreadableError(Exception):
    """The examples of a docstring or a text can't be read, as with an unknown option flag."""


class _Parser(doctest.DocTestParser):
    """Makes of what can't be read one example that says so, and goes on with the others."""

    def get_doctest(
        self,
        string: str,
        globs: dict[str, Any],
        name: str,
        filename: str | None,
        lineno: int | None,
    ) -> doctest.DocTest:
        try:
            return super().get_doctest(string, globs, name, filename, lineno)
        except ValueError as error:
            example = doctest.Example(f"raise UnreadableError({str(error)!r})", "")
            return doctest.DocTest(
                [example], {"UnreadableError": UnreadableError}, name, filename, lineno, string
            )


_PARSER = _Parser()


def find_in_text(path: Path) -> list[doctest.DocTest]:
    """Return the examples of a text file, which share their variables."""
    # A fence at the end of Markdown's code ends an example as a blank line does.
    text = _EXAMPLE_OR_CODE.sub(lambda m: m["code"] or m[0], path.read_text("utf-8-sig"))
    test = _PARSER.get_doctest(text, {}, path.name, str(path), 0)
    return [test, _never_run(path, [(1, text)], [test])]


def find_in_module(path: Path, module: ModuleType | None) -> list[doctest.DocTest]:
    """Return what the standard library finds in a module: nothing if that isn't imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the source is read here, not judged
        nodes = ast.walk(ast.parse(path.read_bytes()))
    constants = (node for node in nodes if isinstance(node, ast.Constant))
    strings = sorted((node.lineno, node.value) for node in constants if isinstance(node.value, str))
    tests = doctest.DocTestFinder(parser=_PARSER).find(module) if module else []
    _correct_lines(tests, strings)
    return [*tests, _never_run(path, strings, tests)]


def _correct_lines(tests: Iterable[doctest.DocTest], strings: Iterable[tuple[int, str]]) -> None:
    """Set the line of each docstring, which a decorator may hide: one of those with its text."""
    lines: dict[str, list[int]] = {}
    for line, text in strings:
        lines.setdefault(inspect.cleandoc(text), []).append(line)
    for test in tests:
        supposed = (test.lineno or 0) + 1
        if own := lines.get(inspect.cleandoc(test.docstring or "")):
            nearest = min(own, key=lambda line: abs(line - supposed))
            own.remove(nearest)
            test.lineno = nearest - 1


def _never_run(
    path: Path, strings: Iterable[tuple[int, str]], tests: Iterable[doctest.DocTest]
) -> doctest.DocTest:
    """Return, marked SKIP, the examples in strings (also behind `> `) that no test contains."""
    run = Counter((example.source, example.want) for test in tests for example in test.examples)
    reported = {inspect.cleandoc(t.docstring or "") for t in tests if "UnreadableError" in t.globs}
    never_run: list[doctest.Example] = []
    for line, text in strings:
        for example in _examples_in(text) if inspect.cleandoc(text) not in reported else ():
            key = (example.source, example.want)
            if run[key]:
                run[key] -= 1
            else:
                example.lineno += line - 1
                example.options[doctest.SKIP] = True
                never_run.append(example)
    return doctest.DocTest(never_run, {}, "never run", str(path), 0, None)


def _examples_in(text: str) -> list[doctest.Example]:
    """Return the examples of a text, quoted ones too; the text itself if one can't be read."""
    try:
        return _PARSER.get_examples(_QUOTED_PROMPT.sub("", text))
    except ValueError:
        return [doctest.Example(text, "")]
