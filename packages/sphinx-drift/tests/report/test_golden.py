"""The wording of reports: one file for each format, in `golden/`, which a diff of it shows whole.

Where the wording is meant to change, run this file as a command, with its parent folder on
PYTHONPATH: it writes them anew.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from reported import TORCH, drift

from sphinx_drift.compare.compare import Policy, Waiver, compare
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.report.formats import to_github
from sphinx_drift.report.text import render

GOLDEN = Path(__file__).with_name("golden")
ROUNDING = compare(
    "tensor(155.9240)",
    "tensor(155.9239)",
    policy=Policy.PORTABLE,
    precise="tensor(155.92393493652344)\N{INVISIBLE SEPARATOR}float32\N{INVISIBLE SEPARATOR}",
)
WAIVED = compare("[0.2]", "[0.3]", waivers=[Waiver("0.2", "0.3", "a known difference")])
PAGE = PageResult(
    "docs/page.md",
    (
        Outcome(Kind.VERIFIED, 8, cell=1, cell_line=4, verdict=WAIVED),
        drift("tensor([0.3061,\n        0.8210])", "tensor([0.3061, 0.8211])", 24),
        replace(drift("tensor(155.9240)", "tensor(155.9239)", 34), rounding=ROUNDING),
        Outcome(Kind.UNCHECKED, 40, cell=3, cell_line=38, message="a timing"),
        Outcome(Kind.UNDOCUMENTED, 44, cell=4, cell_line=44, executed="one\ntwo\n"),
        Outcome(Kind.RAISED, 50, cell=5, cell_line=50, message="ValueError: 100% wrong"),
        Outcome(Kind.NOT_EXECUTED, 55, cell=6, cell_line=52),
        Outcome(Kind.NOT_EXECUTED, 61, cell=7, cell_line=58),
    ),
    cells=7,
    environment=TORCH,
)
NOTEBOOK = PageResult(
    "docs/stored.ipynb",
    (
        replace(drift("a\n[0.5]", "a\n[0.6]", 1), body_line=1, cell_line=1),
        Outcome(Kind.NOT_COMPARED, 1, cell=3, cell_line=1, message="other machines draw others"),
        Outcome(Kind.PICTURE, 1, cell=4, cell_line=1, message="it has 1 stored, and made 2"),
    ),
    cells=4,
    environment=TORCH,
    is_notebook=True,
)
RESULTS = [PAGE, NOTEBOOK]
os.environ.pop("GITHUB_WORKSPACE", None)  # which annotations are relative to
FORMATS = {
    "report.txt": render(RESULTS, verbose=True) + "\n",
    "annotations.txt": "\n".join(to_github(RESULTS)) + "\n",
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_reads_as_it_did(name: str) -> None:
    assert FORMATS[name] == (GOLDEN / name).read_text("utf-8")


if __name__ == "__main__":
    for name, text in FORMATS.items():
        (GOLDEN / name).write_text(text, "utf-8")
