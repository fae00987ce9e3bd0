"""Where the book was verified: a run writes a row, and replaces an older one of its kind."""

import csv

import pytest
from verified_on import table_with

TABLE = "date,machine,torch,outcome\n2026-01-01,old,torch 2,all\n2026-01-01,this,torch 3,some\n"
REPORT = "[1/1] page.md: fine\n\n3 outputs verified, 1 waived (torch 3, cpu, exact)\n"


def test_a_run_adds_a_row_that_comes_first() -> None:
    head, new, *others = csv.reader(table_with(TABLE, REPORT, "this, Linux").splitlines())
    assert head == ["date", "machine", "torch", "outcome"]
    assert new[1:] == ["this, Linux", "torch 3, cpu, exact", "3 outputs verified, 1 waived"]
    assert [row[1] for row in others] == ["old", "this"]


def test_it_replaces_that_of_the_same_machine_and_versions() -> None:
    again = table_with(TABLE, "0 outputs verified (torch 3)", "this")
    assert [row[3] for row in csv.reader(again.splitlines())] == [
        "outcome",
        "0 outputs verified",
        "all",
    ]


@pytest.mark.parametrize("report", ["", "nothing was checked", "error: nothing was run"])
def test_a_run_that_came_to_nothing_is_no_row(report: str) -> None:
    with pytest.raises(ValueError, match="expected a report"):
        table_with(TABLE, report, "this")
