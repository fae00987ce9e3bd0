"""What a page prints without end is stopped, wherever it runs and however it prints."""

import pytest
from runners import Pages, shown

from sphinx_drift.kinds import Kind

LIMIT = 100_000
ENDLESS = {
    "descriptor": "import os\nos.write(1, b'first\\n')\nwhile True:\n    os.write(1, b'y' * 60000)",
    "one": "print('first\\n' + 'x' * 10_000_000 + '\\nlast')",
    "stderr": "import sys\nprint('first')\nwhile True:\n    print('error', file=sys.stderr)",
    "displayed": "print('first')\nwhile True:\n    display('x' * 1000)",
    "raised": "print('first')\nraise ValueError('x' * 10_000_000)",
    "cleared": "from IPython.display import clear_output\nprint('first')\n"
    "while True:\n    print('x' * 1000)\n    clear_output()",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_cell_that_prints_without_end_is_stopped(pages: Pages, name: str) -> None:
    notebook, execution = pages.fork("1", ENDLESS[name], "2", output_limit=LIMIT, timeout=50)
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Kind.OUTPUT_LIMIT, 2)
    assert "100,000 bytes" in execution.failure.message
    if name != "cleared":
        assert shown(notebook.cells[2]).startswith("first\n")
    if name == "one":
        assert shown(notebook.cells[2]).endswith("x\nlast\n")
    assert len(shown(notebook.cells[2])) < 5000
    assert shown(notebook.cells[1]) == "1\n"
    assert execution.executed == {1}


def test_cells_of_a_page_may_print_four_times_as_much(pages: Pages) -> None:
    cells = ["print('x' * 90_000)"] * 5
    assert pages.fork(*cells[:4], output_limit=LIMIT)[1].failure is None
    failure = pages.failure(*cells, output_limit=LIMIT)
    assert (failure.kind, failure.index) == (Kind.OUTPUT_LIMIT, 5)
