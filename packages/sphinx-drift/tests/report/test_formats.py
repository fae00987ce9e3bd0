"""Reports for machines: valid whatever a cell printed, and never greener than the check."""

import re
from pathlib import Path

import pytest
from reported import drift, page

from sphinx_drift.compare.compare import compare
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.report.formats import exit_status, to_github

SAME = Outcome(Kind.VERIFIED, 3, cell=1, verdict=compare("0.5", "0.5"))
UNCHECKED = Outcome(Kind.UNCHECKED, 5, cell=2, message="a timing")
LOST = Outcome(Kind.TIMEOUT, 9, cell=4)


@pytest.mark.parametrize(
    ("results", "status", "titles"),
    [
        ([], 2, ["nothing-checked"]),
        ([page()], 2, ["nothing-checked"]),
        ([page(file="a"), page(file="b")], 2, ["nothing-checked"]),
        ([page(UNCHECKED)], 2, ["nothing-checked"]),
        ([page(SAME)], 0, []),
        ([page(SAME), page()], 0, []),
        ([page(SAME, UNCHECKED)], 0, []),
        ([page(SAME), page(LOST)], 2, ["timeout"]),
        ([page(LOST), page(drift("1", "2"))], 1, ["timeout", "drift"]),
    ],
)
def test_status_and_annotations(results: list[PageResult], status: int, titles: list[str]) -> None:
    assert exit_status(results) == status
    errors = [line for line in to_github(results) if line.startswith("::error ")]
    assert re.findall(r"title=(.*?)::", "\n".join(errors)) == titles


@pytest.mark.parametrize("file", ["page.md", "a: b,c%.md", "very/" * 20 + "long.md"])
def test_annotation_is_one_escaped_line(file: str) -> None:
    (line,) = to_github([page(SAME, drift("100%\nb", "99%\nb"), UNCHECKED, file=file)])
    assert "\n" not in line
    head, _, message = line.removeprefix("::error ").partition("::")
    name = file.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    assert head == f"file={name},line=24,title=drift"
    assert Kind.DRIFT.meaning in message
    assert "- 100%25%0A" in message


def test_annotation_names_the_file_as_the_repository_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    files = ("page.md", "../page.md", str(tmp_path / "page.md"), "/elsewhere/page.md")
    lines = to_github([page(drift("1", "2"), file=file) for file in files])
    names = [line.partition("file=")[2].partition(",")[0] for line in lines]
    assert names == ["sub/page.md", "page.md", "page.md", "/elsewhere/page.md"]
