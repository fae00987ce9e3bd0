"""Docstrings through the same comparison as pages."""

import builtins
import doctest
import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from case_tables import rows

from sphinx_drift.compare.compare import Policy
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome
from sphinx_drift.output.filters import make_filter
from sphinx_drift.settings import Settings
from sphinx_drift.testing.docstrings import find_in_module, find_in_text
from sphinx_drift.testing.examples import check_examples

EXACT = Settings(Policy.EXACT)
CASES = Path(__file__).with_name("doctests.txt")
DECORATORS = """
import functools, typing

def wrapped(function):
    @functools.wraps(function)
    def call(*values):
        return function(*values)
    return call

def renamed(function):
    def call(*values):
        return function(*values)
    call.__doc__ = function.__doc__
    return call

def extended(function):
    call = wrapped(function)
    call.__doc__ += "\\n    More."
    return call

def func():
    pass

class Lazy:
    __module__ = "another"

    def __init__(self, function):
        self.func, self.__doc__ = function, function.__doc__

    def __get__(self, one, owner=None):
        return self.func(one)

"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def checked(
    folder: Path, source: str, settings: Settings = EXACT, *, flags: int = 0
) -> list[Outcome]:
    sys.modules.pop("examples_of_mine", None)
    path = folder / "examples_of_mine.py"
    path.write_text(source, "utf-8")
    importlib.invalidate_caches()
    tests = find_in_module(path, importlib.import_module("examples_of_mine"))
    results = [check_examples(path.name, test, settings, flags=flags) for test in tests]
    return [outcome for result in results for outcome in result.outcomes]


def check(folder: Path, docstring: str, settings: Settings = EXACT) -> list[Outcome]:
    return checked(folder, f'"""Examples.\n\n{docstring}\n"""\n', settings)


@pytest.mark.parametrize(("options", "want", "got", "same"), rows(CASES, "Options"))
def test_an_output_is_compared_as_its_flags_say(
    options: str, want: str, got: str, same: str, folder: Path
) -> None:
    flags = sum(doctest.OPTIONFLAGS_BY_NAME[option] for option in options.split())
    docstring = f">>> print(TEXT)\n{want}\n".replace("\n", "\n    ")
    source = f'TEXT = {got!r}\n\ndef f():\n    r"""\n    {docstring}"""\n'
    (outcome,) = checked(folder, source, flags=flags)
    assert (outcome.kind is Kind.VERIFIED) is bool(same)


def test_flags_of_other_packages_say_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_package = 1 << 30
    monkeypatch.setitem(doctest.OPTIONFLAGS_BY_NAME, "IGNORE_OUTPUT", of_package)

    class Checker(doctest.OutputChecker):
        def check_output(self, want: str, got: str, optionflags: int) -> bool:
            return bool(optionflags & of_package) or super().check_output(want, got, optionflags)

    monkeypatch.setattr(doctest, "OutputChecker", Checker)
    outcomes = check(folder, ">>> 1  # doctest: +IGNORE_OUTPUT, +ELLIPSIS\n2")
    assert [outcome.kind for outcome in outcomes] == [Kind.DRIFT]


@pytest.mark.parametrize(("example", "kinds"), rows(CASES, "Examples"))
def test_outcomes_of_an_example(example: str, kinds: str, folder: Path) -> None:
    assert " ".join(outcome.kind.label for outcome in check(folder, example)) == kinds


@pytest.mark.parametrize(("ending", "text", "wants"), rows(CASES, "Endings"))
def test_a_fence_of_markdown_ends_an_example(
    ending: str, text: str, wants: str, tmp_path: Path
) -> None:
    path = tmp_path / f"text.{ending}"
    path.write_text(text, "utf-8")
    tests = find_in_text(path, "text")
    assert "|".join(each.want.strip() for test in tests for each in test.examples) == wants


def test_filters_of_the_project_hold_for_docstrings(folder: Path) -> None:
    settings = replace(EXACT, filters=(make_filter(r"\d+ ms", "time", "it varies"),))
    example = ">>> 'took 5 ms'\n'took 7 ms'"
    kinds = [check(folder, example, chosen)[0].kind for chosen in (EXACT, settings)]
    assert kinds == [Kind.DRIFT, Kind.VERIFIED]


@pytest.mark.parametrize(
    "decorator",
    [
        *("typing.final", "property", "functools.cached_property", "wrapped", "renamed"),
        "extended",
        *("functools.singledispatchmethod", "Lazy", "functools.partialmethod"),
        "functools.singledispatchmethod\n    @classmethod",
    ],
)
def test_examples_have_lines_of_their_own(decorator: str, folder: Path) -> None:
    docstring = '"""Return.\n\n        >>> 2\n        9\n        """'
    source = f"{DECORATORS}class A:\n" + "".join(
        f'    @{decorator}\n    def {name}(self, a: "int" = 0):\n        {docstring}\n'
        for name in "bc"
    )
    source += '__test__ = {"d": """\n>>> 2\n9\n"""}\n'
    lines = [number for number, row in enumerate(source.splitlines(), 1) if ">>> 2" in row]
    outcomes = checked(folder, source)
    assert [(o.kind, o.line) for o in outcomes] == [(Kind.DRIFT, line) for line in lines]


def test_a_docstring_that_a_property_is_given_has_examples(folder: Path) -> None:
    source = (
        "import functools\n\nclass A:\n"
        "    b = functools.cached_property(lambda self: 1)\n"
        "    b.__doc__ = '''\n>>> 2\n9\n'''\n"
    )
    assert [(o.kind, o.line) for o in checked(folder, source)] == [(Kind.DRIFT, 6)]


def test_a_docstring_that_a_decorator_makes_has_the_line_of_its_function(folder: Path) -> None:
    makes = "def made(f):\n    f.__doc__ = f'>>> {1 + 1}\\n9'\n    return f\n"
    source = f"{makes}'''Not this.'''\n@made\ndef b():\n    'x' or 1\n"
    assert [(o.kind, o.line) for o in checked(folder, source)] == [(Kind.DRIFT, 6)]


@pytest.mark.parametrize(
    ("example", "line"),
    [
        (">>> print(*'ab', sep=chr(10))\na\nc", 2),
        (">>> print(*'ab', sep=chr(10))  # doctest: +NORMALIZE_WHITESPACE\na\nc", 2),
        (">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: no", 3),
    ],
)
def test_a_drift_has_the_line_of_the_documented_text(example: str, line: int, folder: Path) -> None:
    first = check(folder, example)[0]
    assert first.body_line - first.line == line - 1


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
