"""Run the examples of docstrings in pytest, through the same comparison as pages.

One line is all that is needed::

    pytest -p sphinx_drift.pytest_plugin --drift-doctests src README.md

Each docstring with examples is a test, ``module.py::object``, and a failure is told as it is for
pages. Modules below the given folders are collected; ``conftest.py``, ``setup.py`` and
``__main__.py``, which do things when they are imported, are skipped; a text file is collected if it
is named. The policy is ``DRIFT_POLICY`` or, by default, as the nearest ``pyproject.toml`` says. The
option flags that the project's file names as ``doctest_optionflags`` hold here too.
Examples share no fixtures with tests; standard doctests are pytest's own ``--doctest-modules``.
"""

from __future__ import annotations

import doctest
import os
import re
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import pytest

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.configuration import find_project
from sphinx_drift.device import choose_device
from sphinx_drift.doctests.examples import check_examples, module_tests
from sphinx_drift.report.text import render
from sphinx_drift.run_and_judge import Settings, chosen_policy
from sphinx_drift.source.docstrings import find_tests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sphinx_drift.compare.outcomes import PageResult

_WITH_EFFECTS = ("__main__.py", "conftest.py", "setup.py")
_TEXTS = (".md", ".rst", ".txt")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the option; without it nothing changes."""
    if not pluginmanager.hasplugin("doctest"):  # `-p no:doctest`: it has the flags else
        parser.addini("doctest_optionflags", "option flags for doctests", "args", [])
    parser.getgroup("drift").addoption(
        "--drift-doctests",
        action="store_true",
        help="run the examples of docstrings, compared as sphinx_drift compares pages",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a policy or a device that there is not, before anything is collected."""
    if config.option.drift_doctests:
        try:
            chosen_policy()
            device = choose_device(module=find_project(config.rootpath).devices)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        if device:
            print(f"examples compute on {device}", file=sys.stderr)
        patch = pytest.MonkeyPatch()
        patch.setattr(os, "_exit", partial(_refuse_exit, os.getpid(), os._exit))
        config.add_cleanup(patch.undo)


def _refuse_exit(own: int, leave: Callable[[int], NoReturn], status: int) -> NoReturn:
    """Raise instead of ending pytest at once, which with status 0 would pass for a success."""
    if os.getpid() != own:
        leave(status)
    raise SystemExit(f"os._exit({status})")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a module that has examples, or a text file that is named."""
    if not parent.config.option.drift_doctests:
        return None
    if file_path.suffix == ".py":
        if not re.search(rb">>> |\b__doc__\b", file_path.read_bytes()):
            return None
        if file_path.name in _WITH_EFFECTS:
            return _Unimported.from_parent(parent, path=file_path)
        return _Module.from_parent(parent, path=file_path)
    if file_path.suffix in _TEXTS and parent.session.isinitpath(file_path):
        return _Text.from_parent(parent, path=file_path)
    return None


class _Module(pytest.Module):
    """A module: imported as pytest imports tests, with whatever ``--import-mode`` says."""

    def collect(self) -> list[_Docstring]:
        try:
            return _items(self, module_tests(self.obj))
        except SystemExit as error:  # pytest would end with it, and with its status
            raise self.CollectError(f"the module can't be imported: {error!r}") from error


class _Unimported(pytest.File):
    """A module that is not imported: it is skipped by its name."""

    def collect(self) -> list[_Docstring]:
        pytest.skip("to import it would run it", allow_module_level=True)


class _Text(pytest.File):
    """A text file."""

    def collect(self) -> list[_Docstring]:
        return _items(self, find_tests(self.path, self.path.read_text("utf-8")))


def _items(parent: pytest.File, tests: list[doctest.DocTest]) -> list[_Docstring]:
    items, seen = [], Counter[str]()
    for test in tests:
        name = test.name or parent.path.stem
        seen[name] += 1  # a getter and its setter have one name, as all that is defined twice
        name += f"-{seen[name]}" * (seen[name] > 1)
        items.append(_Docstring.from_parent(parent, name=name, test=test))
    return items


class _Drift(Exception):  # noqa: N818 - it isn't seen by anybody
    """Examples that failed: what came of them is their item's result."""


class _Docstring(pytest.Item):
    """The examples of one docstring, which share their variables."""

    result: PageResult

    def __init__(self, *, test: doctest.DocTest, **parts: object) -> None:
        super().__init__(**parts)  # type: ignore[arg-type]  # they are pytest's
        self._test = test

    def runtest(self) -> None:
        file = self.nodeid.partition("::")[0]
        settings = Settings(chosen_policy(), find_project(self.path.parent).reference)
        self.result = check_examples(file, [self._test], settings, flags=_flags(self.config))
        if self.result.failed:
            raise _Drift
        outcomes = self.result.outcomes
        if outcomes and all(outcome.kind is Kind.UNCHECKED for outcome in outcomes):
            pytest.skip("all its examples are skipped")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]
        if isinstance(excinfo.value, _Drift):
            return render([self.result], noun="example")
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        line = self._test.lineno or 0
        return self.path, line, f"drift: {self.name}, line {line + 1}"


def _flags(config: pytest.Config) -> int:
    """Return the option flags that the project's file sets; pytest's own default is ELLIPSIS."""
    text = config.inipath.read_text("utf-8") if config.inipath else ""
    overrides = config.getoption("override_ini") or []
    if not re.search(r"(?m)^[^#;\n]*\bdoctest_optionflags\b", "\n".join([text, *overrides])):
        return 0
    flags = 0
    for name in config.getini("doctest_optionflags"):
        flags |= doctest.OPTIONFLAGS_BY_NAME.get(name, 0)  # pytest has some of its own
    return flags
