"""Docstrings through the same comparison: a checker for any suite."""

from __future__ import annotations

import builtins
import doctest
import importlib
import sys
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import _get_checker

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.run_and_judge import Settings
from sphinx_drift.testing.docstrings import find_tests
from sphinx_drift.testing.examples import Checker, check_examples, module_tests

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sphinx_drift.compare.outcomes import PageResult

EXACT = Settings(Policy.EXACT)
RAISING = ">>> 1 / 0\nTraceback (most recent call last):\n    ...\n"
GROUPED = RAISING.replace("1 / 0", "raise ExceptionGroup('g', [ValueError(7)])")
PRINTING = RAISING.replace("1 / 0", "print(7) or 1 / 0")
TELLING = """>>> print("Traceback (most recent call last):\\\\n  File\\\\nValueError: 7")\n"""
IGNORING = RAISING.replace("0\n", "0  # doctest: +IGNORE_EXCEPTION_DETAIL\n", 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("DRIFT_POLICY", raising=False)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def checked(folder: Path, source: str, settings: Settings = EXACT) -> PageResult:
    sys.modules.pop("examples_of_mine", None)
    (folder / "examples_of_mine.py").write_text(source, "utf-8")
    importlib.invalidate_caches()
    tests = module_tests(importlib.import_module("examples_of_mine"))
    return check_examples("examples_of_mine.py", tests, settings)


def check(folder: Path, docstring: str, settings: Settings = EXACT) -> PageResult:
    return checked(folder, f'"""Examples.\n\n{docstring}\n"""\n', settings)


# The checker --------------------------------------------------------------------------


NUMBER = doctest.register_optionflag("NUMBER")
FLOWING = doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    ("flags", "want", "got", "same"),
    [
        (0, "tensor([0.3061, 0.8210])", "tensor([0.3061,\n        0.8210])", True),
        (0, "a\n<BLANKLINE>\nb", "a\n\nb", True),
        (0, "tensor([0.3061])", "tensor([0.3062])", False),
        (0, "tensor([0.3061, ...])", "tensor([0.3061, 0.8210])", False),
        (0, "0.821", "0.8210", False),
        (0, "True", "1", False),
        (0, "loss<BLANKLINE> 5", "loss 5", False),
        (0, "x <BLANKLINE> 7", "x <BLANKLINE> 7", True),
        (0, "", "1", False),
        (doctest.ELLIPSIS, "[0.1, ..., 0.3]", "[0.1, 0.2,\n 0.3]", True),
        (doctest.ELLIPSIS, "[0.1, ..., 0.3]", "[0.1, 0.2, 0.4]", False),
        (doctest.ELLIPSIS, "<a at 0x...>", "<a at 0x7f00>", True),
        (doctest.ELLIPSIS, "pi 3.14...", "pi 3.14159", True),
        (doctest.ELLIPSIS, "pi 3.15...", "pi 3.14159", False),
        (doctest.ELLIPSIS, "a\n...\nd", "a\nb\nc\nd", True),
        (doctest.ELLIPSIS, "1...", "True", False),
        (FLOWING, "a b\nc", "a   b c", True),
        (FLOWING, "a b", "ab", False),
        (FLOWING, "a 0.1", "a  0.2", False),
        (FLOWING | doctest.ELLIPSIS, "a ... d", "a b\n  c\n  d", True),
        (0, "a b", "a  b", False),
        (doctest.DONT_ACCEPT_BLANKLINE, "<BLANKLINE>", "<BLANKLINE>", True),
        (doctest.DONT_ACCEPT_BLANKLINE, "a\n<BLANKLINE>", "a\n\n", False),
        (NUMBER, "pi 3.14 -5 .5", "pi 3.14159 -5 0.46", True),
        (NUMBER, "pi 3.17", "pi 3.14159", False),
        (NUMBER, "[1e-3, 2.0E+2, 3.]", "[0.0017, 207.5, 2.5]", True),
        (NUMBER, "1e-3", "2.1e-3", False),
        (NUMBER, "1e400 1e308 1e-400", "1e400 1e308 1e-400", True),
        (NUMBER, "5", "5.01", False),
        (NUMBER, "1.5 5", "1.5 6", False),
        (NUMBER, "1.5 1.6", "1.5", False),
    ],
)
def test_checker(want: str, got: str, flags: int, same: bool) -> None:  # noqa: FBT001 - a column
    assert Checker().check_output(want + "\n", got + "\n", flags) is same
    if flags & doctest.ELLIPSIS and "\n" not in got:  # in one line, the standard library is right
        assert doctest.OutputChecker().check_output(want + "\n", got + "\n", flags | TRUE) is same
    if flags == NUMBER:  # so is pytest
        assert _get_checker().check_output(want + "\n", got + "\n", flags) is same


TRUE = doctest.DONT_ACCEPT_TRUE_FOR_1


def test_checker_serves_in_another_suite(capsys: pytest.CaptureFixture[str]) -> None:
    text = ">>> print([0.25, 0.5])\n[0.25, 0.6]\n"
    test = doctest.DocTestParser().get_doctest(text, {}, "mine", "mine.txt", 0)
    runner = doctest.DocTestRunner(checker=Checker(), verbose=False)
    assert runner.run(test).failed == 1
    out = capsys.readouterr().out
    assert "element [1], documented 0.6, executed 0.5" in out


# Modules ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "kinds"),
    [
        (">>> [0.25, 0.5]\n[0.25, 0.6]", [Kind.DRIFT]),
        (">>> x = 1\n>>> x\n1", [Kind.VERIFIED]),
        (">>> print(1)", [Kind.UNDOCUMENTED]),
        (">>> None\n1", [Kind.DRIFT]),
        (">>> 1 / 0\n1", [Kind.RAISED]),
        (">>> 1 / 0\n>>> 1\n1", [Kind.RAISED, Kind.VERIFIED]),
        (f"{RAISING}ZeroDivisionError: division by zero", [Kind.VERIFIED]),
        (f"{RAISING}ZeroDivisionError: division by one", [Kind.DRIFT]),
        (f"{PRINTING}ZeroDivisionError: division by zero", [Kind.UNDOCUMENTED]),
        (f"{PRINTING}ZeroDivisionError: division by one", [Kind.DRIFT]),
        (f"{GROUPED}ExceptionGroup: g (1 sub-exception)", [Kind.VERIFIED]),
        (f"{TELLING}Traceback (most recent call last):\n  ...\nValueError: 7", [Kind.DRIFT]),
        (">>> object()\n<object object at 0x0>", [Kind.VERIFIED]),
        (">>> object()\n<object object at 0x7f6b9486f0a0>", [Kind.VERIFIED]),
        (">>> object()\n<object at 0x7f6b9486f0a0>", [Kind.DRIFT]),
        (">>> object()  # doctest: +ELLIPSIS\n<object object at ...>", [Kind.VERIFIED]),
        (">>> 1\n1\n>>> 2  # doctest: +SKIP\n3", [Kind.VERIFIED, Kind.UNCHECKED]),
        (IGNORING + "ZeroDivisionError: division by one", [Kind.VERIFIED]),
        (IGNORING + "some.where.ZeroDivisionError", [Kind.VERIFIED]),
        (IGNORING + "ValueError: division by zero", [Kind.DRIFT]),
        (">>> [1, 2]  # doctest: +ELLIPSIS\n[1, ...]", [Kind.VERIFIED]),
        (">>> exit(0)\n>>> 1\n1", [Kind.RAISED, Kind.VERIFIED]),
        (">>> import unittest\n>>> raise unittest.SkipTest('no')", [Kind.UNCHECKED]),
        (">>> import pytest\n>>> pytest.skip('no')", [Kind.UNCHECKED]),
        (
            ">>> 1\n1\n>>> import pytest\n>>> m = pytest.importorskip('gone')\n>>> m.f()\n2",
            [Kind.VERIFIED, Kind.UNCHECKED, Kind.UNCHECKED],
        ),
        ("> >>> 1\n> 2\n>\n> > >>> 3\n> > 3", [Kind.DRIFT, Kind.VERIFIED]),
        (">>> print('> 1')\n> 1", [Kind.VERIFIED]),
        (">>> print('  a')\n  a", [Kind.VERIFIED]),
        (">>> print('a')\n  a", [Kind.DRIFT]),
    ],
)
def test_outcomes_of_an_example(example: str, kinds: list[Kind], folder: Path) -> None:
    result = check(folder, example)
    assert [outcome.kind for outcome in result.outcomes] == kinds


@pytest.mark.parametrize("flag", ["FAIL_FAST", "REPORT_ONLY_FIRST_FAILURE"])
def test_flags_for_reports_hide_no_failure(flag: str, folder: Path) -> None:
    assert check(folder, f">>> 3\n3\n>>> 1  # doctest: +{flag}\n2\n>>> 3\n3").failed


def test_an_example_that_replaces_the_standard_check_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctest.OutputChecker, "check_output", lambda *_: True)
    (outcome,) = check(folder, ">>> 'pi 3.14'  # doctest: +ELLIPSIS\n'pi 3.15...'").outcomes
    assert outcome.kind is Kind.DRIFT


MADE = """
import functools

class Mine:
    @functools.cached_property
    def hidden(self):
        '''
        >>> 3
        3
        '''

def template():
    '''
    >>> {value}
    4
    '''

template.__doc__ = template.__doc__.format(value=5)
"""


def test_a_byte_order_mark_hides_no_example(folder: Path) -> None:
    (test,) = find_tests(folder / "mine.txt", "\ufeff>>> 1\n2\n")
    (outcome,) = check_examples("mine.txt", [test], EXACT).outcomes
    assert (outcome.kind, outcome.line) == (Kind.DRIFT, 1)


def test_docstrings_of_the_source_and_those_that_are_made(folder: Path) -> None:
    result = checked(folder, '""">>> 1\n1\n"""\n' + MADE)
    assert [(o.kind, o.line, o.executed) for o in result.outcomes] == [
        (Kind.VERIFIED, 1, "1\n"),
        (Kind.VERIFIED, 11, "3\n"),
        (Kind.DRIFT, 17, "5\n"),
    ]


DISPATCHED = """
import functools

@functools.singledispatch
def kind(x):
    pass

@kind.register
def _(x: int):
    '>>> 1\\n2'

@kind.register
def _(x: str):
    '>>> {value}\\n3'

_.__doc__ = _.__doc__.format(value=3)
"""


BRANCHES = """
import contextlib
import functools
import sys

if sys.version_info > (3,):
    def f():
        '>>> 1\\n1'
else:
    def f():
        '>>> 1\\n2'

if sys.version_info < (3,):
    def g():
        '>>> 1\\n3'

try:
    from gone import h
except ImportError:
    def h():
        '>>> 1\\n4'

def outer():
    def inner():
        '>>> 1\\n5'

with contextlib.suppress(ImportError):
    import gone
    def i():
        '>>> 1\\n8'

match sys.platform:
    case "none":
        def k():
            '>>> 1\\n6'
    case _:
        @functools.cache
        def k():
            '>>> 1\\n7'

for _ in ():
    def m():
        '>>> 1\\n8'
"""


def test_what_is_not_there_at_run_time_does_not_run(folder: Path) -> None:
    result = checked(folder, BRANCHES)
    assert [(o.documented, o.line, o.kind) for o in result.outcomes] == [
        ("1\n", 8, Kind.VERIFIED),
        ("4\n", 21, Kind.DRIFT),
        ("7\n", 39, Kind.DRIFT),
    ]


def test_a_docstring_that_is_made_replaces_the_last_of_its_name(folder: Path) -> None:
    result = checked(folder, DISPATCHED)
    assert [(o.kind, o.executed) for o in result.outcomes] == [
        (Kind.DRIFT, "1\n"),
        (Kind.VERIFIED, "3\n"),
    ]


ATTRIBUTES = """
number = 1
\"\"\"
>>> number
2
\"\"\"

class Class:
    size: int = 3
    \"\"\"Its size.

    >>> Class.size
    4
    \"\"\"

    def __init__(self):
        self.own = 5
        \"\"\">>> Class().own
        6
        \"\"\"
"""


def test_docstrings_of_attributes(folder: Path) -> None:
    result = checked(folder, ATTRIBUTES)
    tests = module_tests(sys.modules["examples_of_mine"])
    assert [test.name for test in tests] == ["number", "Class.size", "Class.__init__.self.own"]
    assert [(o.kind, o.line) for o in result.outcomes] == [
        (Kind.DRIFT, line) for line in (4, 12, 18)
    ]


def test_rounding_is_judged_at_full_precision(folder: Path) -> None:
    mine = ">>> import torch\n>>> torch.tensor(155.92394)\ntensor(155.9240)"
    (exact,) = check(folder, mine).outcomes
    assert exact.kind is Kind.DRIFT
    assert exact.rounding is not None
    assert exact.rounding.same
    (portable,) = check(folder, mine, Settings(Policy.PORTABLE)).outcomes
    assert portable.kind is Kind.VERIFIED
    assert len(portable.verdict.accepted) == 1


@pytest.mark.parametrize(("number", "kind"), [(1, Kind.VERIFIED), (3, Kind.DRIFT)])
def test_a_second_run_changes_no_other_output(number: int, kind: Kind, folder: Path) -> None:
    counts = f">>> 0.1 + 0.2\n0.3000000000000001\n>>> next(IDS)\n{number}"
    source = f'"""Examples.\n\n{counts}\n"""\nimport itertools\nIDS = itertools.count(1)\n'
    result = checked(folder, source, Settings(Policy.PORTABLE))
    assert [outcome.kind for outcome in result.outcomes] == [Kind.VERIFIED, kind]


def test_skipped_examples_shift_nothing(folder: Path) -> None:
    text = (
        ">>> 1  # doctest: +SKIP\n2\n>>> import torch\n"
        ">>> torch.tensor(155.92394)\ntensor(155.9240)\n>>> torch.tensor(0.5)\ntensor(0.5000)"
    )
    result = check(folder, text, Settings(Policy.PORTABLE))
    assert [outcome.kind for outcome in result.outcomes].count(Kind.VERIFIED) == 2


def test_full_precision_leaves_no_trace(folder: Path) -> None:
    import numpy as np  # noqa: PLC0415 - after the module that uses it
    import torch  # noqa: PLC0415 - the same

    def state() -> list[object]:
        changed = (builtins.print, np.set_printoptions, torch.set_printoptions)
        texts = (str(np.array(1 / 3)), np.get_printoptions(), str(torch.tensor(1 / 3)))
        return [*changed, torch.Tensor.__format__, *texts]

    before = state()
    check(folder, ">>> import torch\n>>> torch.tensor(1 / 3)\ntensor(0.3334)")
    assert state() == before
