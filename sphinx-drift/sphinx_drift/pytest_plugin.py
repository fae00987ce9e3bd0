"""Run the examples of docstrings in pytest, through the same comparison as pages.

In a project of its own, one line is all that is needed::

    pytest -p sphinx_drift.pytest_plugin --drift-doctests src README.md

Each docstring with examples is a test, ``module.py::object::line``, and a failure is told as it
is for pages. Modules below the given folders are collected, except ``conftest.py``, ``setup.py``
and ``__main__.py``, which do things when they are imported; a text file is collected if it is
named. The policy is ``DRIFT_POLICY`` or, by default, as the nearest ``pyproject.toml`` says.
The option flags of ``doctest_optionflags`` hold here too, and ``--drift-json`` and
``--drift-junit`` write what came of each example.
Examples share no fixtures with tests; standard doctests are pytest's own ``--doctest-modules``.
"""

from __future__ import annotations

import base64
import doctest
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.configuration import find_project
from sphinx_drift.device import choose_device
from sphinx_drift.doctests.examples import (
    Examples,
    check_examples,
    examples_of_module,
    examples_of_text,
)
from sphinx_drift.doctests.exits import watch_exits
from sphinx_drift.report.formats import to_json, to_junit
from sphinx_drift.report.text import render
from sphinx_drift.run_and_judge import Settings, chosen_policy

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from sphinx_drift.compare.outcomes import PageResult

_WITH_EFFECTS = ("__main__.py", "conftest.py", "setup.py")
_TEXTS = (".md", ".rst", ".txt")
_SENT = "drift"
"""An attribute of a report, which pytest-xdist carries from the process that made it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; without the first nothing changes."""
    add = parser.getgroup("drift").addoption
    add(
        "--drift-doctests",
        action="store_true",
        help="run the examples of docstrings, compared as sphinx_drift compares pages",
    )
    add("--drift-json", type=Path, metavar="FILE", help="write what came of the examples as JSON")
    add("--drift-junit", type=Path, metavar="FILE", help="the same as JUnit XML")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Watch for exits before a module is imported, as `from os import _exit` takes it away."""
    if early_config.known_args_namespace.drift_doctests:
        watch_exits()


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a policy that there is not, before anything is collected."""
    if config.option.drift_doctests:
        watch_exits()  # in a process of pytest-xdist
        try:
            chosen_policy()
            choose_device(module=find_project(config.rootpath).devices)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        if not hasattr(config, "workerinput"):  # of pytest-xdist, which sends its results here
            config.pluginmanager.register(_Reports(config), "drift-reports")


class _Reports:
    """Collects what came of the examples, and writes it at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._json: Path | None = config.option.drift_json
        self._junit: Path | None = config.option.drift_junit
        self._results: list[PageResult] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        sent = getattr(report, _SENT, "")
        if sent:
            self._results.append(pickle.loads(base64.b64decode(sent)))  # noqa: S301 - ours

    def pytest_sessionfinish(self) -> None:
        if self._json:
            self._json.write_text(to_json(self._results, noun="example"), "utf-8")
        if self._junit:
            self._junit.write_text(to_junit(self._results), "utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what came of examples along with their report."""
    report = yield
    if isinstance(item, _Item) and item.result is not None and call.when == "call":
        report.__dict__[_SENT] = base64.b64encode(pickle.dumps(item.result)).decode()
    return report


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

    def collect(self) -> Iterator[pytest.Collector | pytest.Item]:
        try:
            module = self.obj
        except SystemExit as error:  # pytest would end with it, and with its status
            raise self.CollectError(f"the module can't be imported: {error!r}") from error
        return _docstrings(self, examples_of_module(module))


class _Text(pytest.File):
    """A text file."""

    def collect(self) -> Iterator[pytest.Collector | pytest.Item]:
        return _docstrings(self, examples_of_text(self.path))


def _docstrings(
    parent: pytest.File, examples: Examples
) -> Iterator[pytest.Collector | pytest.Item]:
    own = getattr(getattr(parent, "obj", None), "__name__", str(parent.path))
    for test in examples.tests:
        name = test.name.removeprefix(own).lstrip(".") or parent.path.stem
        yield _Docstring.from_parent(parent, name=name, test=test)
    for problem in examples.problems:
        alone = Examples((), (problem,))
        yield _Item.from_parent(parent, name=f"line {problem.line}", examples=alone)


class _Docstring(pytest.Collector):
    """What has a docstring; a node of its own, so that it can be selected by its name."""

    def __init__(self, *, test: doctest.DocTest, **parts: object) -> None:
        super().__init__(**parts)  # type: ignore[arg-type]  # they are pytest's
        self._test = test

    def collect(self) -> Iterator[pytest.Item]:
        line = (self._test.lineno or 0) + 1
        yield _Item.from_parent(self, name=str(line), examples=Examples([self._test]))


class _Drift(Exception):  # noqa: N818 - it isn't seen by anybody
    """Examples that failed: what came of them is their item's result."""


class _Item(pytest.Item):
    """The examples of one docstring, which share their variables; or one that can't be read."""

    def __init__(self, *, examples: Examples, **parts: object) -> None:
        super().__init__(**parts)  # type: ignore[arg-type]  # they are pytest's
        self.result: PageResult | None = None
        self._examples = examples

    def runtest(self) -> None:
        file = self.nodeid.partition("::")[0]
        settings = Settings(chosen_policy(), find_project(self.path.parent).reference)
        flags = 0
        for name in self.config.getini("doctest_optionflags"):
            flags |= doctest.OPTIONFLAGS_BY_NAME.get(name, 0)  # pytest has some of its own
        result = self.result = check_examples(file, self._examples, settings, flags=flags)
        if result.failed:
            raise _Drift
        if result.policy is Policy.STRUCTURE:
            pytest.skip("not verified: only its structure was compared")
        if result.outcomes and all(o.kind is Kind.UNCHECKED for o in result.outcomes):
            pytest.skip("all its examples are skipped")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]
        if isinstance(excinfo.value, _Drift) and self.result is not None:
            return render([self.result], noun="example")
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        first = self._examples.tests[0].lineno if self._examples.tests else None
        line = first or 0
        assert self.parent is not None  # noqa: S101 - it stands in a file
        return self.path, line, f"drift: {self.parent.name}, line {line + 1}"
