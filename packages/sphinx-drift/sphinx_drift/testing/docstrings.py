"""Find the examples of a module or a text file."""

import doctest
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from sphinx_drift.source.markdown import config_without_book, lines_of, read_markdown

_OF_SPHINX = re.compile(r"\s*(?:\.\. |(?:`{3,}|:{3,})\{)(?:testoutput|doctest)(?:::|\})")
_MARKDOWN = (".md", ".markdown")


class _Finder(doctest.DocTestFinder):
    """Finds the examples of a `functools.cached_property` before Python 3.13, too."""

    def _from_module(self, module: ModuleType | None, thing: object) -> bool:
        # Its class is of another module; the function that it holds is of this one.
        own = thing.func if isinstance(thing, functools.cached_property) else thing
        return super()._from_module(module, own)  # type: ignore[misc, no-any-return]


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
        for number in _bounds("\n".join(lines)):
            lines[number - 1] = ""
    globs = {"__name__": "__main__"}  # which classes take for their module
    test = doctest.DocTestParser().get_doctest("\n".join(lines), globs, name, str(path), 0)
    test.examples += of_sphinx
    return [test] if test.examples else []


def _bounds(text: str, above: int = 0) -> Iterator[int]:
    """Yield the lines that open or close a fence, also in a fence that shows Markdown."""
    reading = read_markdown(text, config_without_book())
    for fence in [*reading.fences, *reading.others]:
        # An example may print fences; one that is shown has an example in it.
        if not above or (fence.is_closed and ">>>" in fence.content):
            yield above + fence.first
            if fence.is_closed:
                yield above + fence.last
            yield from _bounds(fence.content, above + fence.first)


def find_in_module(path: Path, module: ModuleType | None) -> list[doctest.DocTest]:
    """Return the docstrings with examples that the standard library finds in a module."""
    tests = _Finder().find(module) if module else []
    text = path.read_text("utf-8-sig", "replace")
    for test in tests:
        if test.lineno is None and (start := text.find(test.docstring or "")) >= 0:
            test.lineno = text.count("\n", 0, start)  # of a property, before Python 3.13
    return [test for test in tests if test.examples]


def line_of(test: doctest.DocTest, example: doctest.Example) -> int:
    """Return the line of the file on which an example begins."""
    return (test.lineno or 0) + example.lineno + 1
