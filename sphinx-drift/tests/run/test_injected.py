"""What is changed for a page in its process: the libraries that it imports, and no others."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sphinx_drift.run.injected import disturb, print_full_precision, watch_imports
from sphinx_drift.run.results import injected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runners import Pages

MARK = "\N{INVISIBLE SEPARATOR}"
LOADED = "import sys\nprint([name for name in ('numpy', 'torch') if name in sys.modules])"
DIGITS = "0.3333333432674408"  # a third in float32


@pytest.fixture(params=["fork", "stock"])
def outputs(request: pytest.FixtureRequest, pages: Pages) -> Callable[..., list[str]]:
    """Return what runs cells after a function of ours, and returns what each has printed."""

    def run(before: Callable[[], object], *cells: str) -> list[str]:
        probes = tuple(map(injected, (watch_imports, before)))
        notebook, execution = getattr(pages, request.param)(*cells, before=probes, after=())
        assert execution.failure is None
        outputs = (cell.outputs for cell in notebook.cells[1:])
        return ["".join(output.text for output in each) for each in outputs]

    return run


@pytest.mark.parametrize("before", [print_full_precision, disturb])
def test_a_page_that_imports_no_library_gets_none(
    outputs: Callable[..., list[str]], before: Callable[[], object]
) -> None:
    assert outputs(before, LOADED) == ["[]\n"]


def test_a_library_prints_full_precision_as_soon_as_it_is_imported(
    outputs: Callable[..., list[str]],
) -> None:
    cells = (
        "print(1 / 3)",
        "import numpy\nprint(numpy.array([1, 3], 'float32')[:1] / 3)",
        LOADED,
        "from torch import tensor\nprint(tensor([1.]) / 3)",
    )
    plain, numpy, loaded, torch = outputs(print_full_precision, *cells)
    assert plain == f"{1 / 3}\n"
    assert numpy == f"[{DIGITS}{MARK}float32{MARK}]\n"
    assert loaded == "['numpy']\n"
    assert torch.startswith(f"tensor([{DIGITS}")


def test_the_second_run_has_another_number_of_threads(outputs: Callable[..., list[str]]) -> None:
    threads = "import torch\nprint(torch.get_num_threads())"
    stable = "print(torch.initial_seed())"
    first, second = (outputs(disturb, threads, stable) for _ in range(2))
    assert first[0] == second[0]
    assert first[1] != second[1]


# In a process of its own: a library of a book's own, which brings NumPy with it.

BEGIN = """
import importlib, sys
from sphinx_drift.run.fork_server import Preloaded
from sphinx_drift.run.injected import print_full_precision, watch_imports
"""
SHOW = """
print(own.numbers)
print(own.__loader__.__class__.__name__, own.__spec__.loader is own.__loader__)
"""
OWN = "import numpy\nnumbers = numpy.array([1, 3], 'float32')[:1] / 3\n"


def shown(folder: Path, *lines: str, own: str = OWN) -> list[str]:
    """Return what a program prints beside a module of its own, a line each."""
    (folder / "own.py").write_text(own, encoding="utf-8")
    program = "\n".join([BEGIN, *lines])
    command = [sys.executable, "-c", program]
    path = {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


CHANGE = "watch_imports(); print_full_precision()"
HIDE = "hidden = Preloaded(); hidden.load('own'); hidden.hide(); assert 'own' not in sys.modules"


@pytest.mark.parametrize(
    "lines",
    [
        [CHANGE, "import own"],
        [HIDE, CHANGE, "import own"],
        ["import own", CHANGE],
    ],
    ids=["imported", "preloaded", "imported by then"],
)
def test_a_library_that_another_one_brings_prints_full_precision(
    tmp_path: Path, lines: list[str]
) -> None:
    numbers, loader = shown(tmp_path, *lines, SHOW)
    assert DIGITS in numbers
    assert loader == "SourceFileLoader True"


def test_a_library_is_changed_once_it_is_whole(tmp_path: Path) -> None:
    """It may import itself, and others, while it is imported."""
    circular = "import numpy\nimport own, other\nnumbers = other.numbers\nwhole = True\n"
    (tmp_path / "other.py").write_text(OWN, encoding="utf-8")
    lines = (
        "watch_imports()",
        "seen = []",
        "sys.__dict__['_drift_when_imported']('own', lambda own: seen.append(own.whole))",
        "import own",
        "print(seen)",
    )
    assert shown(tmp_path, *lines, own=circular) == ["[True]"]


def test_an_import_that_fails_fails_as_ever_and_may_be_tried_again(tmp_path: Path) -> None:
    failing = "import sys\nif 'ready' not in sys.__dict__: raise ValueError('not yet')\n" + OWN
    lines = (
        CHANGE,
        "try: import own",
        "except ValueError as error: print(error)",
        "try: import nowhere",
        "except ModuleNotFoundError as error: print(error)",
        "sys.ready = True",
        "import own",
        "print(own.numbers)",
    )
    first, second, numbers = shown(tmp_path, *lines, own=failing)
    assert first == "not yet"
    assert second == "No module named 'nowhere'"
    assert DIGITS in numbers


def test_what_looks_for_a_library_finds_it(tmp_path: Path) -> None:
    lines = (
        CHANGE,
        "found = importlib.util.find_spec('own')",
        "print(found.origin, found.loader.get_source('own').splitlines()[0])",
        "import importlib.resources, collections.abc, zlib, numpy.linalg",
        "print(importlib.resources.files('numpy').joinpath('__init__.py').is_file())",
        "print(numpy.linalg.__spec__.loader is numpy.linalg.__loader__)",
    )
    assert shown(tmp_path, "import importlib.util", *lines) == [
        f"{tmp_path / 'own.py'} import numpy",
        "True",
        "True",
    ]
