"""Another project's pages and docstrings, in its own pytest, through our comparison."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import torch  # noqa: F401 - once for all: each run in this process forgets what it imported
from notebooks import code, notebook, stream
from small_book import FRONT, cell, write

import sphinx_drift.__main__ as command
import sphinx_drift.testing.items  # noqa: F401 - the same

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "sphinx_drift.pytest_plugin")
MODES = ("prepend", "append", "importlib")
SKIP_ALL = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.skip)
"""
MODULE = '''\
"""A module.

>>> value = [0.25,  0.5]
>>> value
[0.25, 0.5]
"""


def right():
    """
    >>> 1 + 1
    2
    """


class Outer:
    """Has a method."""

    def method(self):
        """Do it.

        >>> [0.25, 0.5]
        [0.25, 0.6]
        """


def left_out():
    """
    >>> 1  # doctest: +SKIP
    2
    >>> x = 1
    """

'''


@pytest.fixture(autouse=True)
def _alone(pytester: pytest.Pytester) -> None:
    # Hypothesis takes longer to import, in each run, than all the rest.
    pytester.makeini("[pytest]\naddopts = -p no:hypothesispytest\n")


# Pages and notebooks -------------------------------------------------------------------


def test_a_page_is_a_test_and_is_told_as_by_the_command(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # of this test
    seen = "import os\nprint('PYTEST_CURRENT_TEST' in os.environ)"
    files: dict[str, Any] = {
        "docs/good.md": FRONT + cell(seen, "False"),
        "docs/silent.md": FRONT + cell("print(1)"),
        "docs/prose.md": "# Prose\n",
        "docs/_build/copy.md": FRONT + cell("print(1)", "2"),
        "docs/.hidden.md": FRONT + cell("print(1)", "2"),
        "site/_downloads/1/copy.md": FRONT + cell("print(1)", "2"),
        "unmarked.md": cell("print(1)", "1"),
        "drifted.ipynb": notebook(code("print(0.5)", stream("0.4\n"))),
    }
    write(Path(), files)
    assert command.main(["."]) == 1
    *failures, _ = capsys.readouterr().out.split("\n\n")
    result = pytester.runpytest(*PLUGIN, "--drift", "-v", "--junitxml", "report.xml")
    result.assert_outcomes(passed=1, failed=2, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(
        ["docs/good.md::good.md PASSED*", "docs/silent.md::silent.md SKIPPED*"]
    )
    report = ET.parse("report.xml")  # noqa: S314 - ours
    told = "\n".join(failure.text or "" for failure in report.iter("failure"))
    assert len(failures) == 2
    assert all(each in told for each in failures)
    assert "1 output verified on 1 page" in report.find(".//property").get("value")  # type: ignore[union-attr, operator]


@pytest.mark.parametrize(
    ("named", "conftest"), [(".", ""), ("silent.md", ""), ("silent.md", SKIP_ALL)]
)
def test_where_no_page_documents_anything_nothing_was_checked(
    named: str, conftest: str, pytester: pytest.Pytester
) -> None:
    Path("silent.md").write_text(FRONT + cell("print(1)"), "utf-8")
    pytester.makeconftest(conftest)
    pytester.makepyfile(test_it="def test_it():\n    pass\n")
    result = pytester.runpytest(*PLUGIN, "--drift", named)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*nothing*checked*"])


@pytest.mark.parametrize("option", ["--drift", "--drift-doctests"])
@pytest.mark.parametrize("others", [(), ("-n", "1", "-p", "xdist")])
def test_an_option_that_finds_nothing_beside_tests_is_told(
    option: str, others: tuple[str, ...], pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(**{"tests/test_it": "def test_it():\n    pass\n"})
    write(Path(), {"docs/page": FRONT + cell("print(1)", "1"), "src/mine.py": MODULE})
    ini = "[pytest]\ntestpaths = tests\naddopts = -p no:hypothesispytest"
    for every_run in ("", "-k test_"):
        pytester.makeini(f"{ini} {every_run}")
        result = pytester.runpytest(*PLUGIN, option, *others)
        assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
        result.stdout.fnmatch_lines(["nothing was checked in tests"])
    both = (*PLUGIN, option, "-k", "test_it", "tests", "docs/page.md", "src", *others)
    assert pytester.runpytest(*both).ret == pytest.ExitCode.OK
    one = (*PLUGIN, option, "tests/test_it.py::test_it", *others)
    assert pytester.runpytest(*one).ret == pytest.ExitCode.OK
    pytester.makeini(f"{ini} {option}")
    assert pytester.runpytest(*PLUGIN, *others).ret == pytest.ExitCode.OK


BY_CONFTEST = """
def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[i for i in items if i.name == {0!r}])
    items[:] = [i for i in items if i.name != {0!r}]
"""


@pytest.mark.parametrize(
    ("deselected", "options", "ret"),
    [
        ("", ("--deselect", "mine.py::mine"), pytest.ExitCode.OK),
        ("", ("--deselect", "mine.py::mine", "-n", "1", "-p", "xdist"), pytest.ExitCode.OK),
        ("mine", (), pytest.ExitCode.OK),
        ("mine", ("-n", "1", "-p", "xdist"), pytest.ExitCode.OK),
        ("test_b", ("test_it.py",), pytest.ExitCode.NO_TESTS_COLLECTED),
    ],
)
def test_nothing_is_asked_where_docstrings_are_deselected(
    deselected: str, options: tuple[str, ...], ret: int, pytester: pytest.Pytester
) -> None:
    test_it = "def test_a():\n    pass\n\ndef test_b():\n    pass\n"
    pytester.makepyfile(mine='""">>> 1\n1\n"""\n', test_it=test_it)
    pytester.makeconftest(BY_CONFTEST.format(deselected))
    assert pytester.runpytest(*PLUGIN, "--drift-doctests", *options).ret == ret


def test_examples_that_are_expected_to_fail_were_checked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine='""">>> 1\n2\n"""\n')
    pytester.makeconftest(
        "import pytest\n\ndef pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.xfail)\n"
    )
    result = pytester.runpytest(*PLUGIN, "--drift-doctests")
    result.assert_outcomes(xfailed=1)
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    ("option", "variable"), [("--drift", "DRIFT_RUNNER"), ("--drift-doctests", "DRIFT_POLICY")]
)
def test_a_variable_that_nothing_could_follow_is_refused(
    option: str, variable: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "off")
    result = pytester.runpytest(*PLUGIN, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{variable} must be one of*"])


def test_the_cells_and_the_examples_of_a_text_are_tests(pytester: pytest.Pytester) -> None:
    Path("page.md").write_text(f"{FRONT}{cell('print(1)', '1')}\n\n>>> 1 + 1\n3\n", "utf-8")
    Path("README.md").write_text("```\n>>> 1\n1\n```\n", "utf-8")
    both = (*PLUGIN, "--drift", "--drift-doctests", "page.md", "README.md")
    pytester.runpytest(*both).assert_outcomes(passed=2, failed=1)
    result = pytester.runpytest(*PLUGIN, "--drift", "README.md")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*nothing was checked*"])


LIGHT = "not {'nbformat', 'sphinx'} & loaded.keys()"
WITHOUT_GRAMMAR = "'nbformat' in loaded and loaded['rfc3987_syntax'] is None"


@pytest.mark.parametrize(
    ("module", "claim"),
    [
        *((name, LIGHT) for name in (PLUGIN[1], "sphinx_drift.testing.items")),
        ("sphinx_drift.run.__main__", LIGHT),
        ("sphinx_drift.__main__", WITHOUT_GRAMMAR),
        ("sphinx_drift.mystmd.__main__", WITHOUT_GRAMMAR),
    ],
)
def test_what_starts_loads_no_more_than_it_needs(module: str, claim: str) -> None:
    code = f"import {module}\nfrom sys import modules as loaded\nassert {claim}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pytest_finds_the_plugin_once() -> None:
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    points = tomllib.loads(pyproject.read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    # By any other name, `-p sphinx_drift.pytest_plugin` would register it a second time.
    assert points == {PLUGIN[1]: PLUGIN[1]}


# Docstrings ------------------------------------------------------------------------------


def test_module(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine=MODULE)
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", "-v", "-rs")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "mine.py::mine PASSED*",
            "mine.py::mine.right PASSED*",
            "mine.py::mine.Outer.method FAILED*",
            "mine.py:22: drift: *",
            "*documented 0.6, executed 0.5*",
            "1 example drifted, 0 examples verified*",
            "SKIPPED * mine.py: mine.left_out: nothing is compared on lines 29",
        ]
    )


def test_a_module_is_named_from_where_pytest_is_called(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(mine=MODULE)
    pytester.makeini("[pytest]")
    monkeypatch.chdir(pytester.mkdir("docs"))
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", "../mine.py")
    result.stdout.fnmatch_lines(["../mine.py:22: drift: *"])


@pytest.mark.parametrize("mode", MODES)
def test_package(mode: str, pytester: pytest.Pytester) -> None:
    inner = '"""\n>>> from mine.inner import number\n>>> number\n3\n"""\n\nfrom . import two\n\n'
    pytester.mkpydir("mine")
    package = pytester.path / "mine"
    (package / "__init__.py").write_text('""">>> two\n2\n"""\n\ntwo = 2\n')
    (package / "inner.py").write_text(inner + "number = two + 1\n")
    for name in ("__main__.py", "setup.py"):
        (package / name).write_text('""">>> 1\n2\n"""\nraise SystemExit(3)\n')
    (package / "test_gone.py").write_text("import no_such_module_of_mine\n")
    (pytester.mkdir("scripts") / "silent.py").write_text("raise RuntimeError\n")
    (pytester.mkpydir("bare") / ".#a.py").symlink_to("nowhere")  # as Emacs locks a file
    (package / "given.py").write_text("from .inner import __doc__ as __doc__\n")
    pytester.syspathinsert()
    options = ("--drift-doctests", f"--import-mode={mode}", "--continue-on-collection-errors")
    result = pytester.runpytest(*PLUGIN, *options, "mine", "bare", "scripts")
    result.assert_outcomes(passed=3, errors=1)
    pytester.runpytest(*PLUGIN, *options, "mine/given.py").assert_outcomes(passed=1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("named", "passed"), [("once", 2), ("once/inner.py", 1)])
def test_module_that_its_package_imports_is_run_once(
    named: str, passed: int, mode: str, pytester: pytest.Pytester
) -> None:
    pytester.mkpydir("once")
    (pytester.path / "once" / "__init__.py").write_text(
        "import once.inner\nfirst = once.inner.Thing\n"
    )
    inner = '""">>> import once\n>>> once.first is Thing\nTrue\n"""\n\n'
    inner += 'class Thing:\n    """\n    >>> 1\n    1\n    """\n    __module__ = "once"\n'
    (pytester.path / "once" / "inner.py").write_text(inner)
    pytester.syspathinsert()
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", f"--import-mode={mode}", named)
    result.assert_outcomes(passed=passed)  # an example is its package's if its class says so


def test_examples_have_the_fixtures_of_their_module(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_mine='""">>> getfixture("three")\n3\n>>> set_up\n[1]\n"""\nimport pytest\n\n'
        "set_up = []\n\n@pytest.fixture\ndef three():\n    return 3\n\n"
        "@pytest.fixture(autouse=True)\ndef one():\n    set_up.append(1)\n"
    )
    pytester.runpytest(*PLUGIN, "--drift-doctests").assert_outcomes(passed=1)


def test_examples_have_the_names_that_conftest_gives_them(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\n\n@pytest.fixture(autouse=True)\n"
        "def add(doctest_namespace):\n    doctest_namespace['nx'] = 0.5"
    )
    pytester.makepyfile(mine='""">>> nx\n0.5\n"""\n')
    # A worker of pytest-xdist tells what it has checked.
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", "-n", "1", "-p", "xdist")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK


def test_off_unless_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine=MODULE, test_it=f'"""{">>> 1"}\n2\n"""\n\ndef test_it():\n    pass\n')
    pytester.runpytest(*PLUGIN).assert_outcomes(passed=1)
    pytester.runpytest(*PLUGIN, "--drift-doctests", "test_it.py").assert_outcomes(
        passed=1, failed=1
    )


@pytest.mark.parametrize("leave", ["os._exit(0)", "os.execl('/bin/true', 'true')"])
def test_example_that_would_end_pytest_fails_alone(leave: str, pytester: pytest.Pytester) -> None:
    fork = ">>> child = os.fork() or os._exit(3)\n>>> os.waitstatus_to_exitcode(os.wait()[1])\n3\n"
    example = f'"""\n>>> import os\n>>> {leave}\n"""\n'
    pytester.makepyfile(leaves=example, forks=f'"""\n>>> import os\n{fork}"""\n')
    files = ("leaves.py", "forks.py")
    result = pytester.runpytest_subprocess(*PLUGIN, "--drift-doctests", "--pyargs", *files)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*SystemExit: os.*"])


@pytest.mark.parametrize("status", ["7", "0", "status=7"])
def test_a_thread_may_end_pytest_as_a_failure(status: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it='""">>> 1\n1\n"""\nimport os, threading\n\ndef test_it():\n'
        f"    thread = threading.Thread(target=lambda: os._exit({status}))\n"
        "    thread.start()\n    thread.join()\n"
    )  # as pytest-timeout does
    result = pytester.runpytest_subprocess(*PLUGIN, "--drift-doctests", "test_it.py")
    assert (result.ret, "2 passed" in result.stdout.str()) == (int(status[-1]), status == "0")


def test_coverage_counts_what_notebooks_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine="def used():\n    return 2\n\n\ndef unused():\n    return 3\n")
    (pytester.path / "page.md").write_text(FRONT + cell("import mine\nmine.used()", "2"), "utf-8")
    result = pytester.runpytest_subprocess(*PLUGIN, "--drift", "--cov=mine", "page.md")
    result.stdout.fnmatch_lines(["mine.py * 75%"])


@pytest.mark.parametrize("names", [("README.md",), (".", "README.md")])
def test_text_file_that_is_named(names: tuple[str, ...], pytester: pytest.Pytester) -> None:
    (pytester.path / "README.md").write_text(
        "\ufeff>>> two = 2\n\n\n```\n>>> two\n3\n```\n", "utf-8"
    )
    pytester.runpytest(*PLUGIN, "--drift-doctests").assert_outcomes()
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", *names, "-rs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["README.md:5: drift*", "*documented 3, executed 2*"])


@pytest.mark.parametrize(
    ("options", "name", "told"),
    [
        (["--drift-doctests"], "test_api.txt", "docs/test_api.txt:3: drift: *"),
        (["--drift-doctests", "--doctest-glob=*.rst"], "a.rst", "docs/a.rst:3: drift: *"),
        (["--drift-doctests", "--doctest-glob=*.md"], "a.md", "docs/a.md:3: drift: *"),
        (["--drift"], "test_api.txt", "*DocTestFailure"),
    ],
)
def test_the_texts_that_pytest_collects_are_collected_once(
    options: list[str], name: str, told: str, pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\naddopts = -p no:hypothesispytest\ndoctest_encoding = latin-1")
    Path("docs").mkdir()
    text = ">>> 'é', __name__\n('é', '__main__')\n>>> 1\n2\n"
    Path("docs", name).write_text(text, "latin-1")
    result = pytester.runpytest(*PLUGIN, *options, "docs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])


@pytest.mark.parametrize(
    ("options", "name", "status", "told"),
    [
        (["--drift-doctests"], "README", 4, "*not found: *README*"),
        (["--drift-doctests"], "a.ipynb", 4, "*not found: *a.ipynb*"),
        (["--drift-doctests"], "README.MD", 1, "README.MD:1: drift: *"),
        (["--drift-doctests", "--drift"], "README", 1, "*its name must end with .md*"),
        (["--drift"], "prose.rst", 1, "*its name must end with .md*"),
        (["--drift"], "a.pyi", 1, "*its name must end with .md*"),
        (["--drift"], "a.rst", 1, "*DocTestFailure"),
    ],
)
def test_a_file_that_is_named_is_read_or_refused(
    options: list[str], name: str, status: int, told: str, pytester: pytest.Pytester
) -> None:
    Path("page.md").write_text(FRONT + cell("print(1)", "1"), "utf-8")
    Path("mine.py").write_text('""">>> 1\n1\n"""\n', "utf-8")
    Path(name).write_text("Prose\n" if name == "prose.rst" else ">>> 1\n2\n", "utf-8")
    result = pytester.runpytest(*PLUGIN, *options, "page.md", "mine.py", name)
    assert result.ret == status
    output = result.stderr if status == pytest.ExitCode.USAGE_ERROR else result.stdout
    output.fnmatch_lines([told])


@pytest.mark.parametrize("ending", ["md", "rst", "txt"])
@pytest.mark.parametrize("own", [(), ("-p", "no:doctest")])
def test_a_text_that_is_named_is_collected_once(
    ending: str, own: tuple[str, ...], pytester: pytest.Pytester
) -> None:
    text = ".. doctest::\n\n   >>> 0.5\n   0.5\n\n.. testoutput::\n\n   wrong\n"
    (pytester.path / f"USAGE.{ending}").write_text(text, "utf-8")
    result = pytester.runpytest(*PLUGIN, *own, "--drift-doctests", f"USAGE.{ending}")
    result.assert_outcomes(passed=1)
    told = f"USAGE.{ending}::USAGE.{ending}: 1 example verified, 1 unchecked *"
    result.stdout.fnmatch_lines([told])


def test_rounding_is_named(pytester: pytest.Pytester) -> None:
    (pytester.path / "pyproject.toml").write_text("[tool.sphinx-drift.reference]\npython = '1'\n")
    text = '"""\n>>> import torch\n>>> torch.tensor(0.6123499)\ntensor(0.6124)\n"""\n'
    pytester.makepyfile(mine=text)
    run = (*PLUGIN, "--drift-doctests", "mine.py")
    pytester.runpytest(*run).assert_outcomes(passed=1)  # portable, elsewhere
    (pytester.path / "pyproject.toml").write_text("")
    result = pytester.runpytest(*run)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*rounding may explain it: portable accepts it*"])


LACKING = "import no_such_module_of_mine"
IGNORING = ("--doctest-ignore-import-errors",)


@pytest.mark.parametrize(
    ("text", "options", "outcome", "message"),
    [
        (LACKING, (), "errors", "*No module named 'no_such_module_of_mine'*"),
        (LACKING, IGNORING, "skipped", "*"),
        ("raise ValueError", IGNORING, "errors", "*ValueError*"),
        ("raise SystemExit(0)", (), "errors", "*can't be imported: SystemExit(0)*"),
        ("import os\nos._exit(0)", (), "errors", "*can't be imported: SystemExit('os._exit(0,)')*"),
        ("def f():\n    '>>> 1  # doctest: +NO'", (), "errors", "*line 1 * invalid option: '+NO'*"),
    ],
)
def test_a_module_that_cannot_be_collected_fails_or_is_skipped_alone(
    text: str, options: tuple[str, ...], outcome: str, message: str, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(mine=f"{MODULE}\n{text}\n", other='""">>> 1\n1\n"""\n')
    both = ("--drift-doctests", "--continue-on-collection-errors")
    result = pytester.runpytest(*PLUGIN, *both, *options)
    result.assert_outcomes(passed=1, **{outcome: 1})
    result.stdout.fnmatch_lines([message])


def test_a_conftest_is_told_that_there_are_docstrings_and_plugins_are_not(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(
        "import pytest\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_configure(config):\n"  # as pytest-doctestplus asks, to give way to pytest
        "    assert not config.getoption('--doctest-modules')\n"
        "def pytest_collection_modifyitems(config, items):\n"
        "    items[:] = items if config.getoption('--doctest-modules') else []\n"
    )
    pytester.makepyfile(mine='""">>> 1\n1\n"""\n')
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", "mine.py")
    result.assert_outcomes(passed=1)


def test_what_an_example_prints_is_written_below_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine='""">>> 1\n"""\n')
    result = pytester.runpytest(*PLUGIN, "--drift-doctests", "mine.py")
    result.stdout.fnmatch_lines(["*to do: write it below its example"])


@pytest.mark.parametrize(
    ("setting", "outcomes"),
    [
        ("", {"passed": 1}),
        ("doctest_optionflags = ELLIPSIS NUMBER", {"passed": 1}),
        ("doctest_optionflags = SKIP", {"skipped": 1}),
        ("doctest_optionflags = SKPI", {"errors": 1}),
    ],
)
def test_option_flags_are_those_of_pytest(
    setting: str, outcomes: dict[str, int], pytester: pytest.Pytester
) -> None:
    pytester.makeini(f"[pytest]\naddopts = -p no:hypothesispytest\n{setting}\n")
    pytester.makepyfile(mine='""">>> print("loss 0.6931")\nloss 0.6...\n"""\n')
    result = pytester.runpytest(*PLUGIN, "--drift-doctests")
    result.assert_outcomes(**outcomes)
    if "errors" in outcomes:
        result.stdout.fnmatch_lines(["*got 'SKPI'; did you mean 'SKIP'?*"])
