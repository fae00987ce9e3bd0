"""How often a page is run, and for how long: what the page itself says of it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.run_and_judge import Settings, run_and_judge
from sphinx_drift.source.read_source import Page, load

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_drift.compare.outcomes import PageResult

FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n{}---\n\n# A page\n\n"


def cell(code: str, documented: str = "") -> str:
    """Return a cell of a page, and what it must print."""
    text = f"```{{code-cell}} ipython3\n{code}\n```\n\n"
    return text + (f"```{{expected-output}}\n{documented}\n```\n\n" if documented else "")


def verified(folder: Path, *cells: str, front: str = "", timeout: int = 60) -> PageResult:
    """Return what comes of a page."""
    path = folder / "page.md"
    path.write_text(FRONT.format(front) + "".join(cells))
    loaded = load(path)
    assert loaded is not None
    settings = Settings(timeout=timeout, complete=("*",))
    return run_and_judge(*loaded, folder=folder, file="page.md", settings=settings)[0]


def kinds(result: PageResult) -> list[Kind]:
    return [outcome.kind for outcome in result.outcomes]


def test_cell_that_took_too_long_is_not_waited_for_twice(tmp_path: Path) -> None:
    """The cells before it are run again: their numbers may differ by rounding alone."""
    drifts = cell("print(0.1 + 0.2)", "0.30000000000000001")
    forever = cell("open('runs', 'a').write('x')\nwhile True:\n    pass", "0")
    result = verified(tmp_path, drifts, forever, timeout=2)
    assert kinds(result) == [Kind.DRIFT, Kind.TIMEOUT]
    assert result.outcomes[0].rounding is not None
    assert (tmp_path / "runs").read_text() == "x"


@pytest.mark.parametrize(
    "front", ["mystnb:\n  execution_timeout: 1\n", "execution:\n  timeout: 1\n"]
)
def test_time_that_a_page_gives_its_cells_stands(tmp_path: Path, front: str) -> None:
    slow = cell("import time\ntime.sleep(2)\nprint(1)", "1")
    assert kinds(verified(tmp_path, slow, front=front)) == [Kind.TIMEOUT]
    longer = front.replace("1", "60")
    assert kinds(verified(tmp_path, slow, front=longer, timeout=1)) == [Kind.VERIFIED]


@pytest.mark.parametrize(
    "front",
    ["mystnb:\n  execution_allow_errors: true\n", "execution:\n  allow_errors: true\n"],
)
def test_page_that_allows_errors_goes_on_and_documents_them(tmp_path: Path, front: str) -> None:
    cells = cell("1 / 0"), cell("print('after')", "after")
    assert kinds(verified(tmp_path, *cells, front=front)) == [Kind.RAISED, Kind.VERIFIED]
    assert kinds(verified(tmp_path, *cells)) == [Kind.RAISED, Kind.NOT_EXECUTED]


@pytest.mark.parametrize("execution", [None, 5, {"timeout": None}, {"timeout": True}])
def test_what_can_not_be_read_changes_nothing(execution: object) -> None:
    settings = Settings(timeout=7)
    assert settings.of_page({"execution": execution, "mystnb": execution}) == settings
    assert settings.of_page({"execution": {"timeout": -1}}).timeout is None
    by_key = Settings(timeout=5, metadata_key="book").of_page({"book": {"execution_timeout": 7}})
    assert by_key.timeout == 7


def test_a_pattern_holds_wherever_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "basics").mkdir()
    monkeypatch.chdir(tmp_path / "basics")
    assert Settings(complete=("basics/*",)).applied_to(Page((), complete=False), "x.md").complete
