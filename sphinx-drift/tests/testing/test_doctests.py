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
from sphinx_drift.testing.docstrings import find_in_module
from sphinx_drift.testing.examples import Checker, check_examples

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_drift.compare.outcomes import Outcome

EXACT = Settings(Policy.EXACT)
RAISING = ">>> 1 / 0\nTraceback (most recent call last):\n    ...\n"
ENDING = ">>> 3\n3\n>>> 1  # doctest: +{}\n2\n>>> 3\n3"
IGNORING = RAISING.replace("0\n", "0  # doctest: +IGNORE_EXCEPTION_DETAIL\n", 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def checked(folder: Path, source: str, settings: Settings = EXACT) -> list[Outcome]:
    sys.modules.pop("examples_of_mine", None)
    path = folder / "examples_of_mine.py"
    path.write_text(source, "utf-8")
    importlib.invalidate_caches()
    tests = find_in_module(path, importlib.import_module("examples_of_mine"))
    results = [check_examples(path.name, test, settings) for test in tests]
    return [outcome for result in results for outcome in result.outcomes]


def check(folder: Path, docstring: str, settings: Settings = EXACT) -> list[Outcome]:
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
        (0, "a\n⋮\nd", "a\nb\nd", False),
        (doctest.ELLIPSIS, "1", "True", False),
        (doctest.ELLIPSIS, "[0.1, ..., 0.3]", "[0.1, 0.2, 0.3]", True),
        (doctest.ELLIPSIS, "[0.1, ..., 0.3]", "[0.1, 0.2,\n 0.3]", False),
        (doctest.ELLIPSIS, "[0.1, 0.3]", "[0.1,\n 0.3]", True),
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
    if flags & doctest.ELLIPSIS and "..." in want:  # the standard library decides
        assert doctest.OutputChecker().check_output(want + "\n", got + "\n", flags | TRUE) is same
    if flags == NUMBER:  # so is pytest
        assert _get_checker().check_output(want + "\n", got + "\n", flags) is same


TRUE = doctest.DONT_ACCEPT_TRUE_FOR_1


def test_replacing_the_standard_check_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctest.OutputChecker, "check_output", lambda *_: True)
    assert not Checker().check_output("pi 3.15...\n", "pi 3.14159\n", doctest.ELLIPSIS)


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
        ("> >>> 1\n> 2\n>\n> > >>> 3\n> > 3", [Kind.UNCHECKED] * 2),
        (ENDING.format("FAIL_FAST"), [Kind.VERIFIED, Kind.DRIFT, Kind.UNCHECKED]),
        (ENDING.format("REPORT_ONLY_FIRST_FAILURE"), [Kind.VERIFIED, Kind.DRIFT, Kind.UNCHECKED]),
        (">>> print('> 1')\n> 1", [Kind.VERIFIED]),
        (">>> print('  a')\n  a", [Kind.VERIFIED]),
        (">>> print('a')\n  a", [Kind.DRIFT]),
    ],
)
def test_outcomes_of_an_example(example: str, kinds: list[Kind], folder: Path) -> None:
    assert [outcome.kind for outcome in check(folder, example)] == kinds


SEEN = """
number = 1
'''
>>> number  # of an attribute
2
'''

def again():
    '>>> 1  # replaced\\n2'

def again():
    '>>> 1\\n2'

if number > 1:
    def never():
        '>>> 1  # under a condition\\n2'

def outer():
    def inner():
        '>>>1, which nobody can read'

class Class:
    @property
    def value(self):
        '''
        >>> number + 2
        3

        > >>> number  # in a quotation
        > 2
        '''

def made():
    '>>> {value}\\n4'

made.__doc__ = made.__doc__.format(value=5)
"""


def test_what_the_standard_library_finds_runs_and_the_rest_is_named(folder: Path) -> None:
    outcomes = checked(folder, SEEN)
    assert [(each.kind, each.line, each.executed) for each in outcomes[:3]] == [
        (Kind.VERIFIED, 26, "3\n"),
        (Kind.DRIFT, 12, "1\n"),
        (Kind.DRIFT, 34, "5\n"),
    ]
    assert {each.kind for each in outcomes[3:]} == {Kind.UNCHECKED}
    assert [each.line for each in outcomes[3:]] == [4, 9, 16, 20, 29, 34]


@pytest.mark.parametrize(("number", "kind"), [(1, Kind.VERIFIED), (3, Kind.DRIFT)])
def test_a_second_run_changes_no_other_output(number: int, kind: Kind, folder: Path) -> None:
    flowing = ">>> print('a b', A + 0.2)  # doctest: +NORMALIZE_WHITESPACE\na  b 0.3000000000000001"
    counts = f"{flowing}\n>>> next(IDS)\n{number}"
    source = f'"""Examples.\n\n{counts}\n"""\nimport itertools\nA, IDS = 0.1, itertools.count(1)\n'
    outcomes = checked(folder, source, Settings(Policy.PORTABLE))
    assert [outcome.kind for outcome in outcomes] == [Kind.VERIFIED, kind]


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
