"""Variants: of several texts for one output the one that holds is compared, the rest told."""

import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from small_book import FRONT, cell, expected, write

from sphinx_drift.__main__ import main
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Page
from sphinx_drift.run.injected import report_versions
from sphinx_drift.source.read_source import load
from sphinx_drift.source.variants import choose_variants, read_condition

NUMPY = version("numpy")
MARKERS = {"python_version": "3.13", "sys_platform": "linux", "platform_machine": "x86_64"}


def variant(when: str, text: str, *options: str) -> str:
    rows = [f":when: {when}"] * bool(when) + [*options]
    return expected(*rows, *[""] * bool(rows), text).rstrip("\n")


def page(tmp_path: Path, *variants: str, code: str = "print(1)") -> Path:
    """Write a page whose cell is on line 7, and whose variants begin on line 11."""
    return write(tmp_path, {"page": FRONT + "\n\n".join([cell(code), *variants])}) / "page.md"


def read(path: Path) -> Page:
    loaded = load(path)
    assert loaded is not None
    return loaded[0]


@pytest.mark.parametrize(
    ("when", "versions", "markers", "holds"),
    [
        ("numpy<2", {"numpy": "1.26.4"}, {}, True),
        ("numpy<2", {}, {}, False),
        ("numpy>=2", {"numpy": "2.1.0rc1"}, {}, True),
        ("torch>=2.13,<3", {"torch": "2.13.0+cpu"}, {}, True),
        ("Scikit_Learn ~= 1.4", {"scikit-learn": "1.5"}, {}, True),
        ("python>=3.13", {"python": "3.13.1"}, {}, True),
        ('python_version >= "3.13"', {}, {}, True),
        ('python_version < "3.13"', {}, {}, False),
        ('sys_platform == "win32" or platform_machine == "x86_64"', {}, {}, True),
        ('numpy<2; sys_platform == "linux"', {"numpy": "1.0"}, {}, True),
        ('numpy<2; sys_platform == "linux"', {"numpy": "1.0"}, {"sys_platform": "win32"}, False),
    ],
)
def test_a_condition_holds_as_packaging_says(
    tmp_path: Path, when: str, versions: dict[str, str], markers: dict[str, str], *, holds: bool
) -> None:
    here: dict[str, Any] = {"versions": versions, "markers": {**MARKERS, **markers}}
    one = choose_variants(read(page(tmp_path, variant(when, "1"))), here)
    assert (not one.cells[0].expectations[0].problem) is holds


@pytest.mark.parametrize(
    "when", ["newer numpy", "numpy", "numpy<two", "<2", '"a"', '"x" in dependency_groups']
)
def test_what_is_no_condition_is_refused(when: str) -> None:
    with pytest.raises(ValueError, match=re.escape("such as `numpy<2`, or a marker")):
        read_condition(when)


def test_forms_and_streams_have_variants_of_their_own(tmp_path: Path) -> None:
    two = variant("numpy<2", "1"), variant("numpy<2", "w", ":stream: stderr")
    here = {"versions": {"numpy": "1.0"}, "markers": MARKERS}
    whole = choose_variants(read(page(tmp_path, variant("numpy>=2", "2"), *two)), here)
    assert [e.text for e in whole.cells[0].expectations] == ["1", "w"]
    assert whole.cells[0].is_claim  # that it prints nothing else
    assert [(o.kind, o.line, o.message) for o in whole.problems] == [
        (Kind.OTHER_VARIANT, 11, "when numpy>=2")
    ]


@pytest.mark.parametrize(
    ("variants", "problems", "others"),
    [
        ((("numpy<2", "1"), ("numpy<3", "2")), ["both hold", "both hold"], []),
        ((("numpy<2", "1"), ("numpy>=2", "2")), [""], [17]),
        ((("numpy>=2", "1"), ("numpy<2", "2")), [""], [11]),
        ((("", "1"), ("", "2")), [""], [15]),
    ],
)
def test_one_variant_of_an_output_holds(
    variants: list[tuple[str, str]], problems: list[str], others: list[int], tmp_path: Path
) -> None:
    here = {"versions": {"numpy": "1.0"}, "markers": MARKERS}
    whole = choose_variants(read(page(tmp_path, *(variant(*each) for each in variants))), here)
    held = [e.problem.partition(":")[0] for e in whole.cells[0].expectations]
    assert (held, [other.line for other in whole.problems]) == (problems, others)


@pytest.mark.parametrize(
    ("code", "option", "status"),
    [
        ("print(1)", ":stream: stderr", 0),
        ("import sys; print(1); print(2, file=sys.stderr)", ":stream: stderr", 1),
        ("import IPython; print(1); display(IPython.display.HTML('<b>2</b>'))", ":html:", 1),
    ],
)
def test_a_part_whose_variants_are_for_elsewhere_may_be_missing_but_not_another(
    code: str, option: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = variant(f"numpy!={NUMPY}", "2", option)
    path = page(tmp_path, variant("", "1", ":stream: stdout"), other, code=code)
    before = path.read_text()
    for options in ((), ("--update", "--force")):
        assert main([*options, str(path)]) == status
        told = capsys.readouterr().out
        assert ("none holds: numpy" in told) is bool(status)
    assert path.read_text() == before


def test_conditions_ask_the_kernel() -> None:
    answer = report_versions("numpy", "no-such-package")
    major = ".".join(map(str, sys.version_info[:2]))
    assert answer["versions"].keys() == {"numpy", "python"}
    assert (answer["versions"]["numpy"], answer["markers"]["python_version"]) == (NUMPY, major)


@pytest.mark.parametrize(
    ("code", "variants", "status"),
    [
        (
            "1 / 0",
            [variant("numpy>1", "E", ":raises: ZeroDivisionError"), variant("numpy<1", "0")],
            1,
        ),
        ("print(0)", [variant("numpy<1", "E", ":raises: IndexError"), variant("numpy>1", "0")], 0),
        ("import os; os._exit(1)", [variant("numpy>1", "0"), variant("numpy<1", "0")], 2),
    ],
)
def test_errors_are_those_of_the_variant_that_holds(
    tmp_path: Path, code: str, variants: list[str], status: int
) -> None:
    assert main([str(page(tmp_path, *variants, code=code))]) == status


def test_the_variant_that_holds_is_compared_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = variant(f"numpy!={NUMPY}", "old")
    path = page(tmp_path, old, variant(f"numpy=={NUMPY}", "wrong"))
    assert main(["--update", "--force", str(path)]) == 0
    written = path.read_text("utf-8")
    assert written == page(tmp_path, old, variant(f"numpy=={NUMPY}", "1")).read_text("utf-8")
    assert main([str(path)]) == 0
    report = capsys.readouterr().out
    assert "1 output verified on 1 page, 1 variant not looked at" in report
    assert "page.md:11: other-variant" in report
