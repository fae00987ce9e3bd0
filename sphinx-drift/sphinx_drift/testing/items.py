"""Pages, notebooks and docstrings as tests of pytest, through the one comparison.

A page or a notebook is one test, ``docs/page.md::page.md``, since its cells share a kernel: it is
run, judged and reported as by ``python -m sphinx_drift``, with the settings of its project.

Each docstring with examples is a test, ``module.py::object``. Modules below the given folders are
collected; ``conftest.py``, ``setup.py`` and ``__main__.py``, which do things when they are
imported, are skipped; a text file is collected if it is named. The option flags that the project's
file names as ``doctest_optionflags`` hold here too, and so does the fixture ``doctest_namespace``;
standard doctests are pytest's own ``--doctest-modules``.

The policy is ``DRIFT_POLICY`` or, by default, as the nearest ``pyproject.toml`` says.
"""

from __future__ import annotations

import doctest
import os
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.configuration import find_project
from sphinx_drift.device import choose_device
from sphinx_drift.files import check, has_cells, is_searched, prepare, unread
from sphinx_drift.report.summary import summary
from sphinx_drift.report.text import render
from sphinx_drift.run.choice import chosen
from sphinx_drift.run_and_judge import Settings, chosen_policy
from sphinx_drift.testing.docstrings import find_tests
from sphinx_drift.testing.examples import check_examples, module_tests

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from sphinx_drift.compare.outcomes import PageResult

_OPTIONS = ("--drift", "--drift-doctests")
_WITH_EFFECTS = ("__main__.py", "conftest.py", "setup.py")
_TEXTS = (".md", ".rst", ".txt")
_MAY_HAVE_EXAMPLES = re.compile(rb"(?m)>>>|\b__doc__\b|^\s*@\w")
"""What a module has that documents anything by examples: a decorator may add them."""
_FOUND: pytest.StashKey[bool] = pytest.StashKey()
"""Whether anything of ours was collected."""
_HIDDEN: pytest.StashKey[Iterable[str]] = pytest.StashKey()
"""The folders that pytest passes over, unless its settings name others."""


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a policy or a device that there is not, before anything is collected."""
    try:
        if config.option.drift:
            chosen()  # refuses what there is not
            if not _is_set(config, "norecursedirs"):
                config.stash[_HIDDEN] = [*(defaults := config.getini("norecursedirs"))]
                defaults.clear()
        chosen_policy()
        device = choose_device(module=find_project(config.rootpath).devices)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    if device:
        print(f"pages and examples compute on {device}", file=sys.stderr)
    if config.option.drift_doctests:
        patch = pytest.MonkeyPatch()
        patch.setattr(os, "_exit", partial(_refuse_exit, os.getpid(), os._exit))
        config.add_cleanup(patch.undo)


def _refuse_exit(own: int, leave: Callable[[int], NoReturn], status: int) -> NoReturn:
    """Raise instead of ending pytest at once, which with status 0 would pass for a success."""
    if os.getpid() != own:
        leave(status)
    raise SystemExit(f"os._exit({status})")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what was built from pages, and of what pytest passes over all but a book's."""
    if not (config.option.drift and collection_path.is_dir()):
        return None
    return None if is_searched(collection_path, config.stash.get(_HIDDEN, ())) else True


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a page or a notebook, a module that has examples, or a text file that is named."""
    options, is_named = parent.config.option, parent.session.isinitpath(file_path)
    may_be_page = options.drift and unread(file_path) == ""
    # A folder may hold prose; who names a file wants it checked, if not for its examples.
    if may_be_page and (has_cells(file_path) or (is_named and not options.drift_doctests)):
        return _Page.from_parent(parent, path=file_path)
    return _with_examples(file_path, parent, is_named) if options.drift_doctests else None


def _with_examples(path: Path, parent: pytest.Collector, is_named: bool) -> pytest.File | None:  # noqa: FBT001 - a name
    if path.suffix == ".py":
        source = path.read_bytes()
        if path.name in _WITH_EFFECTS:
            return _Unimported.from_parent(parent, path=path) if b">>>" in source else None
        return _Module.from_parent(parent, path=path) if _MAY_HAVE_EXAMPLES.search(source) else None
    if path.suffix in _TEXTS and is_named:
        return _Text.from_parent(parent, path=path)
    return None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep in mind that there is one of ours, whether `-k` deselects it or not."""
    if isinstance(item, _Item):
        item.config.stash[_FOUND] = True


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Learn from a worker of pytest-xdist what it collected."""
    if getattr(node, "workeroutput", {}).get("drift_found"):
        node.config.stash[_FOUND] = True


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load what pages need once for all of them."""
    prepare(item.path for item in session.items if isinstance(item, _Run))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Mark the report as ours; show what is skipped at its own place, not at ours."""
    report = yield
    if is_ours := isinstance(item, _Item):
        vars(report)["is_drift"] = True  # pytest-xdist hands it on
    if is_ours and isinstance(report.longrepr, tuple):
        path, line, _ = item.reportinfo()
        report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail where there are no pages and docstrings, or all were skipped: nothing was checked."""
    config, found = session.config, session.config.stash.get(_FOUND, False)
    if (output := getattr(config, "workeroutput", None)) is not None:
        output["drift_found"] = found
        return
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    ended = {
        ending  # nothing, for what comes before and after a test
        for ending, reports in (reporter.stats.items() if reporter else ())
        if any(getattr(report, "is_drift", False) for report in reports)
    }
    # `--lf` collects only from files with tests that failed.
    is_missing = not found and not config.getoption("lf", default=None)
    if exitstatus == pytest.ExitCode.OK and (is_missing or ended - {""} == {"skipped"}):
        options = [name for name in _OPTIONS if config.getoption(name)]
        why = f": {' and '.join(options)} found nothing in {', '.join(config.args)}"
        if reporter:
            reporter.write_line(f"\nnothing was checked{why * is_missing}", red=True)
        # An option that a project's file adds to every run isn't what this one is for.
        if not is_missing or {*options} & {*config.invocation_params.args}:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


class _Page(pytest.File):
    """A page or a notebook, and the examples in the text of one that is named."""

    def collect(self) -> list[_Item]:
        run: list[_Item] = [_Run.from_parent(self, name=self.path.name)]
        is_named = self.session.isinitpath(self.path) and self.path.suffix in _TEXTS
        has_examples = is_named and self.config.option.drift_doctests
        return [*run, *(_text_items(self) if has_examples else ())]


class _Module(pytest.Module):
    """A module: imported as pytest imports tests, with whatever ``--import-mode`` says."""

    def collect(self) -> list[_Docstring]:
        try:
            module = self.obj
        except SystemExit as error:  # pytest would end with it, and with its status
            raise self.CollectError(f"the module can't be imported: {error!r}") from error
        return _items(self, partial(module_tests, module))


class _Unimported(pytest.File):
    """A module that is not imported: it is skipped by its name."""

    def collect(self) -> list[_Docstring]:
        pytest.skip("to import it would run it", allow_module_level=True)


class _Text(pytest.File):
    """A text file."""

    def collect(self) -> list[_Docstring]:
        return _text_items(self)


def _text_items(parent: pytest.File) -> list[_Docstring]:
    text = parent.path.read_text("utf-8")
    return _items(parent, partial(find_tests, parent.path, text))


def _items(parent: pytest.File, find: Callable[[], list[doctest.DocTest]]) -> list[_Docstring]:
    try:
        tests = find()
    except ValueError as error:  # an example can't be read
        raise parent.CollectError(str(error)) from error
    items, seen = [], Counter[str]()
    for test in tests:
        name = test.name or parent.path.stem
        seen[name] += 1  # a getter and its setter have one name, as all that is defined twice
        name += f"-{seen[name]}" * (seen[name] > 1)
        runner = doctest.DocTestRunner()  # pytest's own items ask for one
        item = _Docstring.from_parent(parent, name=name, runner=runner, dtest=test)  # type: ignore[arg-type]
        items.append(item)
    return items


class _Drift(Exception):  # noqa: N818 - it isn't seen by anybody
    """Cells or examples that failed: what came of them is their item's result."""


class _Item(pytest.Item):
    """What is run and compared."""

    result: PageResult
    noun = "output"

    def conclude(self) -> set[Kind]:
        """Fail, or return which kinds of outcomes there are."""
        self.user_properties.append(("drift", self.summary()))  # JUnit has it
        if self.result.failed:
            raise _Drift
        return {outcome.kind for outcome in self.result.outcomes}

    def summary(self) -> str:
        """Say how much was verified, and what failed."""
        return summary([self.result], noun=self.noun)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]
        if isinstance(excinfo.value, _Drift):
            return render([self.result], noun=self.noun)
        return super().repr_failure(excinfo)


class _Run(_Item):
    """All cells of a page or a notebook, which share a kernel."""

    def runtest(self) -> None:
        path = Path(os.path.relpath(self.path))
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PYTEST_CURRENT_TEST")  # libraries ask for it, and then do other things
            self.result = check(path, named=self.session.isinitpath(self.path)).result
        if Kind.VERIFIED not in self.conclude():
            pytest.skip(self.summary())

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"drift: {self.name}"


class _Docstring(_Item, pytest.DoctestItem):  # type: ignore[misc]  # in how it reports
    """The examples of one docstring, which share their variables."""

    noun = "example"

    def setup(self) -> None:
        """Run the fixtures that every test has, which may give examples names."""
        if self.config.pluginmanager.hasplugin("doctest"):
            super().setup()

    def runtest(self) -> None:
        file = self.nodeid.partition("::")[0]
        settings = Settings(chosen_policy(), find_project(self.path.parent).reference)
        self.result = check_examples(file, [self.dtest], settings, flags=_flags(self.config))
        if self.conclude() == {Kind.UNCHECKED}:
            pytest.skip("nothing that its examples print is checked")

    def reportinfo(self) -> tuple[Path, int, str]:
        line = self.dtest.lineno or 0
        return self.path, line, f"drift: {self.name}, line {line + 1}"


def _flags(config: pytest.Config) -> int:
    """Return the option flags that the project's file sets; pytest's own default is ELLIPSIS."""
    if not _is_set(config, "doctest_optionflags"):
        return 0
    flags = 0
    for name in config.getini("doctest_optionflags"):
        flags |= doctest.OPTIONFLAGS_BY_NAME.get(name, 0)
    return flags


def _is_set(config: pytest.Config, name: str) -> bool:
    """Whether the project's file or an option of pytest gives a setting a value."""
    text = config.inipath.read_text("utf-8") if config.inipath else ""
    overrides = config.getoption("override_ini") or []
    return bool(re.search(rf"(?m)^[^#;\n]*\b{name}\b", "\n".join([text, *overrides])))
