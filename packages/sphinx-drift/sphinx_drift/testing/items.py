"""Pages, notebooks and docstrings as tests of pytest, through the one comparison.

A page or a notebook is one test, ``docs/page.md::page.md``, since its cells share a kernel: it is
run, judged and reported as by ``python -m sphinx_drift``, with the settings of its project.

Each docstring with examples is a test, ``module.py::module.object``, as with pytest's
``--doctest-modules``: a `pytest.DoctestItem`, so that fixtures and namespaces are pytest's.
"""

import doctest
import json
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

from sphinx_drift.device import choose_device
from sphinx_drift.kinds import Kind
from sphinx_drift.model import PageResult
from sphinx_drift.report.summary import is_nothing, summary
from sphinx_drift.report.text import render
from sphinx_drift.run.choice import COVERAGE_VARIABLE, chosen_runner
from sphinx_drift.search import is_page, is_searched
from sphinx_drift.settings import Settings, changed_by_environment, find_project
from sphinx_drift.shapes import refuse_unknown
from sphinx_drift.testing.docstrings import find_in_module, find_in_text
from sphinx_drift.testing.examples import check_examples

_UNCHECKED = {Kind.NO_EXPECTATION, Kind.NOT_COMPARED, Kind.OTHER_VARIANT, Kind.UNCHECKED}
_WITH_EFFECTS = ("__main__.py", "conftest.py", "setup.py")
_TEXTS = (".md", ".rst", ".txt")
_LEFT_OUT = pytest.StashKey[bool]()


def _files() -> ModuleType:
    """Return what checks pages: it takes a second to import, which examples don't need."""
    from sphinx_drift import files  # noqa: PLC0415

    return files


def pytest_configure(config: pytest.Config) -> None:
    """Refuse an unknown policy or device before anything is collected."""
    try:
        if config.option.drift:
            chosen_runner()  # rejects unknown values
        changed_by_environment(Settings())  # rejects them too
        device = choose_device(modules={find_project(config.rootpath).devices})
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    if device:
        print(f"pages and examples compute on {device}", file=sys.stderr)
    if config.option.drift_doctests:
        patch = pytest.MonkeyPatch()
        for name in ("_exit", "execv", "execve"):  # the other ways call one of these
            here = os.getpid(), threading.get_ident()
            patch.setattr(os, name, partial(_refuse_exit, here, name, getattr(os, name)))
        config.add_cleanup(patch.undo)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Tell a conftest.py that asks whether docstrings are tests; plugins were told before."""
    if session.config.option.drift_doctests:
        session.config.option.doctestmodules = True


def _refuse_exit(
    here: tuple[int, int],
    name: str,
    leave: Callable[..., NoReturn],
    *arguments: Any,
    **named: Any,
) -> NoReturn:
    """Raise instead of ending pytest at once, which with status 0 would pass for a success."""
    is_failure = name == "_exit" and [*arguments, *named.values()] != [0]
    pid, thread = here
    if os.getpid() != pid or (is_failure and threading.get_ident() != thread):
        leave(*arguments, **named)  # from another process, or as pytest-timeout's thread does
    raise SystemExit(f"os.{name}{arguments!r}")


@pytest.fixture(scope="session")
def doctest_namespace() -> dict[str, Any]:
    """Names that examples know, as pytest's plugin has it, which may be off."""
    return {}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what the command leaves out, such as what was built from pages."""
    is_ours = config.option.drift and (collection_path.is_dir() or is_page(collection_path))
    return True if is_ours and not is_searched(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect pages, notebooks, texts and modules with examples, each once.

    Texts are those that are named, and all that pytest's own plugin collects, which says which.
    """
    collected, options = (yield), parent.config.option
    others = [c for c in collected if type(c).__module__ != "_pytest.doctest"]
    is_of_doctest = len(others) < len(collected)
    kept = others if options.drift_doctests else collected
    if file_path.suffix == ".py":
        if options.drift_doctests and (_has_examples(file_path) or _is_by_examples(file_path)):
            return [_Module.from_parent(parent, path=file_path), *kept]
        return kept
    is_named = _is_named(file_path, parent.session)
    file = _File.from_parent(parent, path=file_path)
    file.is_text = options.drift_doctests and (
        is_of_doctest or (is_named and file_path.suffix.lower() in _TEXTS)
    )
    # A folder may hold prose; a file that is named is to be checked, if not for its examples.
    is_wanted = is_named and not file.is_text
    if is_page(file_path):
        file.is_run = options.drift and (is_wanted or _files().has_cells(file_path))
    else:  # the check says what its name must be
        is_read = others or (is_of_doctest and _has_examples(file_path))
        file.is_run = options.drift and is_wanted and not is_read
    return [*kept, file] if file.is_text or file.is_run else kept


def _is_named(path: Path, session: pytest.Session) -> bool:
    """Whether a file was named: pytest may drop its name beside a folder's that holds it."""
    folder = session.config.invocation_params.dir
    named = (folder / name.partition("::")[0] for name in session.config.args)
    return session.isinitpath(path) or str(path) in map(os.path.abspath, named)


def _has_examples(path: Path) -> bool:
    """Whether a file may have examples."""
    return b">>>" in path.read_bytes()


def _is_by_examples(module: Path) -> bool:
    """Whether another module of a package has examples, which may be those of this one.

    None gives them to a test, and importing that for them would hide how pytest's own import ends.
    """
    if module.match("test_*.py") or module.match("*_test.py"):
        return False
    return any(_below_are_examples(each.parent) for each in _packages_of(module)[-1:])


@cache
def _below_are_examples(folder: Path) -> bool:
    return any(map(_has_examples, filter(Path.is_file, folder.rglob("*.py"))))


def _packages_of(path: Path) -> list[Path]:
    """Return the files of the packages that a module is in, from the innermost one."""
    return [*takewhile(Path.is_file, (folder / "__init__.py" for folder in path.parents))]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load what pages need once for all of them; measure them too where pytest-cov measures."""
    if session.config.option.drift:
        _files().prepare(item.path for item in session.items if isinstance(item, _PageTest))
    plugin: Any = session.config.pluginmanager.get_plugin("_cov")
    if measured := getattr(getattr(plugin, "cov_controller", None), "cov", None):
        os.environ[COVERAGE_VARIABLE] = json.dumps(_coverage_options(measured))


def _coverage_options(measured: Any) -> dict[str, Any]:
    """Return how the process of a page measures what pytest-cov measures here."""
    source, data_file, branch = (
        measured.get_option(f"run:{name}") for name in ("source", "data_file", "branch")
    )
    folders = [str(Path(name).absolute()) if Path(name).is_dir() else name for name in source or ()]
    return {
        "source": folders or None,
        "data_file": str(Path(data_file).absolute()),
        "branch": branch,
        "config_file": measured.config.config_file or False,
        "data_suffix": True,
    }


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the tests that passed though they have not compared all, and what they have."""
    passed = terminalreporter.stats.get("passed", ())
    partly = [(report.nodeid, _summary_of(report, "drift-unchecked")) for report in passed]
    if lines := [f"{name}: {text}" for name, text in partly if text]:
        terminalreporter.section("passed, and not all was compared")
        for line in lines:
            terminalreporter.write_line(line)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Remember that tests of ours were left out by whatever chooses tests."""
    for item in items:
        if isinstance(item, _Item):
            item.config.stash[_LEFT_OUT] = True


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Learn from a worker of pytest-xdist, which chooses tests, whether some were left out."""
    if getattr(node, "workeroutput", {}).get("drift_left_out"):
        node.config.stash[_LEFT_OUT] = True


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail where there are no pages and docstrings, or all were skipped: nothing was checked."""
    config = session.config
    is_choice = config.stash.get(_LEFT_OUT, False)
    if (output := getattr(config, "workeroutput", None)) is not None:
        output["drift_left_out"] = is_choice
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus != pytest.ExitCode.OK or reporter is None:  # as in a worker of pytest-xdist
        return
    if _lacks_checks(config, reporter.stats, is_choice=is_choice):
        reporter.write_line(f"\nnothing was checked in {', '.join(config.args)}", red=True)
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def _lacks_checks(
    config: pytest.Config, stats: Mapping[str, Sequence[Any]], *, is_choice: bool
) -> bool:
    """Whether tests of ours were asked for or run, and none of them has checked anything."""
    ours = {end for end, reports in stats.items() for report in reports if _summary_of(report)}
    # An option that a project's file adds to every run neither asks for this nor chooses
    # tests; a choice may have none of ours.
    given = config._parser.parse_known_args([*config.invocation_params.args])  # noqa: SLF001
    names = ("keyword", "markexpr", "lf", "stepwise", "deselect", "collectonly")
    options = [getattr(given, name, None) for name in names]
    is_choice |= any((*options, "::" in " ".join(config.args)))
    is_asked = (given.drift or given.drift_doctests) and not is_choice
    return ours.isdisjoint(("passed", "xfailed", "xpassed")) and bool(ours or is_asked)


def _summary_of(report: Any, key: str = "drift") -> str:
    """Return what a report of a test of ours says that it has compared; nothing of others."""
    return str(dict(getattr(report, "user_properties", ())).get(key, ""))


class _File(pytest.File):
    """A page or a notebook, or a text with examples; a page may be both."""

    is_run: bool
    is_text: bool

    def collect(self) -> Iterator[pytest.Item]:
        name, encoding = self.path.name, _setting(self.config, "doctest_encoding") or "utf-8"
        if self.is_run:
            yield _PageTest.from_parent(self, name=name)
        if self.is_text:
            name = "examples" if self.is_run else name  # which is the other test's
            yield from _docstrings(self, lambda: find_in_text(self.path, name, encoding))


class _Module(pytest.Module):
    """A module: imported as pytest imports tests, with whatever ``--import-mode`` says."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            module = None if self.path.name in _WITH_EFFECTS else self._import()
        except SystemExit as error:  # pytest would end with it, and with its status
            raise self.CollectError(f"the module can't be imported: {error!r}") from error
        except self.CollectError as error:
            is_missing = isinstance(error.__cause__, ImportError)
            if is_missing and self.config.getoption("doctest_ignore_import_errors", default=False):
                pytest.skip(f"unable to import {self.path}", allow_module_level=True)
            raise
        if module is not None:  # its own fixtures, for `getfixture` and those that are automatic
            self.session._fixturemanager.parsefactories(self)  # noqa: SLF001
        return _docstrings(self, lambda: find_in_module(self.path, module))

    def _import(self) -> Any:
        """Import it after its packages, or ``importlib`` runs it again after they have."""
        for path in reversed(_packages_of(self.path)):
            _ = _Module.from_parent(self.parent, path=path).obj
        return self.obj


def _docstrings(
    parent: pytest.File, find: Callable[[], list[doctest.DocTest]]
) -> Iterator[pytest.Item]:
    """Yield a test for each docstring."""
    try:
        tests = find()
        runner = doctest.DocTestRunner(optionflags=_option_flags(parent.config) if tests else 0)
    except ValueError as error:  # of an unknown option flag, say
        raise parent.CollectError(str(error)) from error
    for test in tests:
        yield _Docstring.from_parent(parent, name=test.name, runner=runner, dtest=test)  # type: ignore[arg-type]


class _Item(pytest.Item):
    """What is run and compared."""

    result: PageResult
    noun = "output"

    def conclude(self) -> set[Kind]:
        """Fail, or return which kinds of outcomes there are."""
        text = summary([self.result], noun=self.noun)
        self.user_properties.append(("drift", text))  # JUnit has it
        kinds = {outcome.kind for outcome in self.result.outcomes}
        unchecked = kinds & _UNCHECKED or (self.noun == "output" and Kind.VERIFIED not in kinds)
        if unchecked and not self.result.failed:
            self.user_properties.append(("drift-unchecked", text))
        if self.result.failed:
            pytest.fail(render([self.result], noun=self.noun), pytrace=False)
        return kinds


class _PageTest(_Item):
    """All cells of a page or a notebook, which share a kernel."""

    def runtest(self) -> None:
        path = Path(os.path.relpath(self.path))
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PYTEST_CURRENT_TEST")  # libraries ask for it, and then do other things
            file = _files().open_file(path, named=_is_named(self.path, self.session))
            self.result = _files().check(file).result
        self.conclude()
        if is_nothing([self.result]):
            pytest.skip(summary([self.result]))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"drift: {self.name}"


class _Docstring(_Item, pytest.DoctestItem):
    """The examples of one docstring, which share their variables."""

    noun = "example"

    def runtest(self) -> None:
        file = os.path.relpath(self.path)
        settings = changed_by_environment(find_project(self.path.parent))
        self.result = check_examples(file, self.dtest, settings, flags=self.runner.optionflags)
        if self.conclude() == {Kind.UNCHECKED}:
            lines = ", ".join(str(outcome.line) for outcome in self.result.outcomes)
            pytest.skip(f"{file}: {self.name}: nothing is compared on lines {lines}")


def _option_flags(config: pytest.Config) -> int:
    """Return the option flags that pytest has for examples.

    Raises:
        ValueError: If one has no such name.

    """
    names = {*_setting(config, "doctest_optionflags")}
    refuse_unknown(names, doctest.OPTIONFLAGS_BY_NAME, "doctest_optionflags")
    return sum(doctest.OPTIONFLAGS_BY_NAME[name] for name in names)


def _setting(config: pytest.Config, name: str) -> Any:
    """Return a setting of pytest's plugin for examples; nothing if that is off."""
    try:
        return config.getini(name)
    except ValueError:
        return ""
