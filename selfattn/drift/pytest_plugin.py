"""Run the examples of docstrings in pytest, through the same comparison as pages.

In a project of its own, one line is all that is needed::

    pytest -p selfattn.drift.pytest_plugin --drift-doctests src README.md

Each docstring with examples is a test, ``module.py::object::line``, and a failure is told as it
is for pages. Modules below the given folders are collected, except ``conftest.py``, ``setup.py``
and ``__main__.py``, which do things when they are imported; a text file is collected if it is
named. The policy is ``SELFATTN_POLICY`` or, by default, as the nearest ``pyproject.toml`` says.
Examples share no fixtures with tests; standard doctests are pytest's own ``--doctest-modules``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from selfattn.drift.extra import needed_by

with needed_by("selfattn.drift.pytest_plugin", pytest.UsageError):
    from selfattn.drift.compare import Policy
    from selfattn.drift.configuration import find_reference
    from selfattn.drift.device import chosen_device
    from selfattn.drift.doctests import check_examples, examples_of_module, examples_of_text
    from selfattn.drift.kinds import Kind
    from selfattn.drift.report import render
    from selfattn.drift.verify import Settings, chosen_policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from doctest import DocTest
    from pathlib import Path

    from selfattn.drift.check import PageResult

_WITH_EFFECTS = ("__main__.py", "conftest.py", "setup.py")
_TEXTS = (".md", ".rst", ".txt")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option; without it nothing changes."""
    parser.getgroup("drift").addoption(
        "--drift-doctests",
        action="store_true",
        help="run the examples of docstrings, compared as selfattn.drift compares pages",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a policy that there is not, before anything is collected."""
    if config.option.drift_doctests:
        try:
            chosen_policy()
            chosen_device()
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a module that has examples, or a text file that is named."""
    if not parent.config.option.drift_doctests:
        return None
    if file_path.suffix == ".py":
        if file_path.name in _WITH_EFFECTS or b">>> " not in file_path.read_bytes():
            return None
        return _Module.from_parent(parent, path=file_path)
    if file_path.suffix in _TEXTS and parent.session.isinitpath(file_path):
        return _Text.from_parent(parent, path=file_path)
    return None


class _Module(pytest.Module):
    """A module: imported as pytest imports tests, with whatever ``--import-mode`` says."""

    def collect(self) -> Iterator[pytest.Collector]:
        return _docstrings(self, examples_of_module(self.obj))


class _Text(pytest.File):
    """A text file."""

    def collect(self) -> Iterator[pytest.Collector]:
        return _docstrings(self, examples_of_text(self.path))


def _docstrings(parent: pytest.File, tests: Iterable[DocTest]) -> Iterator[pytest.Collector]:
    own = getattr(getattr(parent, "obj", None), "__name__", str(parent.path))
    for test in tests:
        name = test.name.removeprefix(own).lstrip(".") or parent.path.stem
        yield _Docstring.from_parent(parent, name=name, test=test)


class _Docstring(pytest.Collector):
    """What has a docstring; a node of its own, so that it can be selected by its name."""

    def __init__(self, *, test: DocTest, **parts: object) -> None:
        super().__init__(**parts)  # type: ignore[arg-type]  # they are pytest's
        self.test = test

    def collect(self) -> Iterator[pytest.Item]:
        line = (self.test.lineno or 0) + 1
        yield _Examples.from_parent(self, name=str(line), test=self.test)


class _Drift(Exception):  # noqa: N818 - it isn't seen by anybody
    """Examples that failed."""

    def __init__(self, result: PageResult) -> None:
        super().__init__(result)
        self.result = result


class _Examples(pytest.Item):
    """The examples of one docstring, which share their variables."""

    def __init__(self, *, test: DocTest, **parts: object) -> None:
        super().__init__(**parts)  # type: ignore[arg-type]  # they are pytest's
        self.test = test

    def runtest(self) -> None:
        file = self.nodeid.partition("::")[0]
        settings = Settings(chosen_policy(), find_reference(self.path.parent))
        result = check_examples(file, [self.test], settings)
        if result.failed:
            raise _Drift(result)
        if result.policy is Policy.STRUCTURE:
            pytest.skip("not verified: only its structure was compared")
        if result.outcomes and all(o.kind is Kind.UNCHECKED for o in result.outcomes):
            pytest.skip("all its examples are skipped")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]
        if isinstance(excinfo.value, _Drift):
            return render([excinfo.value.result], noun="example")
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        assert self.parent is not None  # noqa: S101 - it is a docstring
        line = self.test.lineno or 0
        return self.path, line, f"drift: {self.parent.name}, line {line + 1}"
