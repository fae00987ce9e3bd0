"""What a page shows in a forked kernel is byte for byte what a stock kernel shows."""

import json
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode
from runners import Pages

CELLS = Path(__file__).with_name("parity")


def read(page: Path) -> list[str | tuple[str, str]]:
    """Return the cells of a page, which begin with `# %%` and their tag if they have one."""
    parts = (part.partition("\n") for part in page.read_text("utf-8").split("# %%")[1:])
    codes = ((code.removesuffix("\n"), tag.strip()) for tag, _, code in parts)
    return [(code, tag) if tag else code for code, tag in codes]


def text_of(cells: NotebookNode) -> str:
    """Return a cell or a notebook as text, without the number of the kernel's process."""
    return re.sub(r"ipykernel_\d+", "ipykernel_PID", json.dumps(cells, sort_keys=True))


@pytest.mark.parametrize(
    ("name", "goes_on"),
    [*((path.stem, True) for path in sorted(CELLS.iterdir())), ("errors", False)],
)
def test_page_is_the_same_by_both_runners(pages: Pages, name: str, *, goes_on: bool) -> None:
    cells = read(CELLS / f"{name}.txt")
    raising = frozenset(range(len(cells) + 1) if goes_on else ())
    forked, by_fork = pages.fork(*cells, raising=raising)
    for left in pages.folder.iterdir():
        left.unlink() if left.is_file() else None
    stock, by_stock = pages.stock(*cells, raising=raising)
    for ours, theirs in zip(forked.cells, stock.cells, strict=True):
        assert text_of(ours) == text_of(theirs), ours.source
    assert text_of(forked) == text_of(stock)
    assert (by_fork.executed, by_fork.failure) == (by_stock.executed, by_stock.failure)
    assert by_fork.environment == by_stock.environment
    assert (by_fork.failure is None) is goes_on
