"""How often a page is run, and for how long: what the page itself says of it stands."""

from pathlib import Path
from typing import Any

import pytest
from notebooks import code, notebook, shown, value
from reported import kinds
from small_book import cell, front, write

from sphinx_drift.compare.compare import Policy
from sphinx_drift.kinds import Kind
from sphinx_drift.model import PageResult
from sphinx_drift.patterns import EVERY_PAGE
from sphinx_drift.run.host import HOST
from sphinx_drift.run_and_judge import make_task, run_and_judge
from sphinx_drift.settings import Settings
from sphinx_drift.source.read_source import load


def verified(folder: Path, *cells: str, own: str = "", **options: Any) -> PageResult:
    write(folder, {"page": front(own) + "\n\n".join(cells)})
    settings = Settings(**{"timeout": 60, "require": EVERY_PAGE, **options})
    return judged(folder / "page.md", settings)


def judged(path: Path, settings: Settings) -> PageResult:
    loaded = load(path)
    assert loaded is not None
    return run_and_judge(make_task(path, *loaded, settings))[0]


def test_cell_that_took_too_long_is_not_waited_for_twice(tmp_path: Path) -> None:
    """The cells before it are run again: their numbers may differ by rounding alone."""
    drifts = cell("print(0.1 + 0.2)", "0.30000000000000001")
    forever = cell("open('runs', 'a').write('x')\nwhile True:\n    pass", "0")
    result = verified(tmp_path, drifts, forever, timeout=2)
    assert kinds(result) == [Kind.DRIFT, Kind.TIMEOUT]
    assert result.outcomes[0].rounding is not None
    assert (tmp_path / "runs").read_text() == "x"


def test_a_cell_that_fails_at_full_precision_stops_no_other(tmp_path: Path) -> None:
    torch = "import torch\nx = torch.tensor(155.92394)\n"
    read = cell(f"{torch}print(float(f'{{x.item():.4f}}'))", "155.924")
    drifts = cell("print(x)", "tensor(155.9240)")
    result = verified(tmp_path, read, drifts, policy=Policy.PORTABLE)
    assert kinds(result) == [Kind.DRIFT, Kind.VERIFIED]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(Policy.EXACT, [Kind.DRIFT]), (Policy.PORTABLE, [Kind.VERIFIED, Kind.PICTURE])],
)
def test_what_rounding_hid_is_said_besides(
    tmp_path: Path, policy: Policy, expected: list[Kind]
) -> None:
    source = "import numpy\nnumpy.array([0.123456785])"
    outputs = value("array([0.12345679])"), shown(image_png="")
    write(tmp_path, {"page.ipynb": notebook(code(source, *outputs))})
    result = judged(tmp_path / "page.ipynb", Settings(policy))
    assert kinds(result) == expected
    rounding = result.outcomes[0].rounding
    assert (rounding is not None and rounding.same) is (policy is Policy.EXACT)


NOTE = """
import sys
with open("runs", "a") as runs:
    print([name for name in ("numpy", "torch") if name in sys.modules], file=runs)"""
ITEM = "import torch\nx = torch.tensor(155.92394).item()\nprint(f'{x:.4f}, {x / 200:.0%}')"


@pytest.mark.parametrize(
    ("code", "documented", "loaded"),
    [
        ("print(0.1 + 0.2)", "0.3000000000000001", "[]\n[]\n"),
        ("import numpy\nprint(numpy.float64(0.1) + 0.2)", "0.3000000000000001", "[]\n['numpy']\n"),
        ("import torch\nprint(torch.tensor(155.92394))", "tensor(155.9240)", "[]\n['torch']\n"),
        (ITEM, "155.9240, 78%", "[]\n['torch']\n"),
    ],
)
def test_second_look_is_at_the_libraries_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, documented: str, loaded: str
) -> None:
    monkeypatch.setattr(HOST, "preload", ("numpy", "torch"))
    cells = cell(NOTE), cell(code, documented)
    result = verified(tmp_path, *cells, policy=Policy.PORTABLE, require=())
    assert kinds(result) == [Kind.VERIFIED]
    assert (tmp_path / "runs").read_text("utf-8") == loaded


def test_page_that_allows_errors_goes_on_until_its_time_is_over(tmp_path: Path) -> None:
    slow = cell("import time\ntime.sleep(2)\nprint(1)", "1")
    cells = cell("1 / 0"), cell("print('after')", "after"), slow
    own = "mystnb: {execution_allow_errors: true, execution_timeout: 1}"
    stopped = kinds(verified(tmp_path, *cells, own=own))
    assert stopped == [Kind.RAISED, Kind.VERIFIED, Kind.TIMEOUT]
    assert kinds(verified(tmp_path, *cells)) == [Kind.RAISED, Kind.NOT_EXECUTED, Kind.NOT_EXECUTED]
    longer = own.replace("1}", "60}")
    assert kinds(verified(tmp_path, slow, own=longer, timeout=1)) == [Kind.VERIFIED]
