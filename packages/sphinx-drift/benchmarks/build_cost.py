"""Measure what it costs to execute and check a book, beside stock MyST-NB and nothing executed.

    nox -s bench                               # books of 10, 30 and 100 pages, three rounds
    nox -s bench -- --pages 30 --rounds 5

Each generated page imports PyTorch and makes a module in one cell, and prints a tensor in another.
Every build starts from nothing. The builds take turns, so that a slow minute of the machine meets
all of them, and each is seen to have done its work. Printed are medians of the wall time and of the
processors' time.
"""

import argparse
import contextlib
import io
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PRINTED = 1  # tensors on a page, each in a cell after the one that imports torch
OUTPUT = 'class="cell_output '
FRONT = """\
---
file_format: mystnb
kernelspec:
  name: python3
---

# Page {number}
"""
FIRST = """\
import torch
from torch import nn

torch.manual_seed({number})
layer = nn.Linear(3, 2)
inputs = torch.rand(6, 3)"""
NEXT = """\
with torch.no_grad():
    print(torch.softmax(layer(inputs) * {factor}, dim=-1))"""
CONFIGURATION = """\
project = "A generated book"
extensions = {extensions}
html_theme = "sphinx_book_theme"
"""


class Way(NamedTuple):
    """One way of building a book."""

    name: str
    extensions: list[str]
    mode: str
    outputs: int


CHECKED, STOCK = ["myst_nb", "sphinx_drift"], ["myst_nb"]
WAYS = (
    Way("nothing executed", STOCK, "off", 0),
    Way("executed and checked", CHECKED, "force", PRINTED),
    Way("stock MyST-NB", STOCK, "force", PRINTED),
)


class Cost(NamedTuple):
    """What one build took, in seconds."""

    wall: float
    processors: float


def main() -> None:
    """Measure each way with each book, round by round, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", default="10,30,100", help="sizes of the books")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'pages':>5}  {'way':<22}{'wall, s':>9}{'CPU, s':>9}")
    for size in map(int, options.pages.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            costs = measure(Path(folder), size, options.rounds)
        for name, rounds in costs.items():
            wall, processors = map(statistics.median, zip(*rounds, strict=True))
            print(f"{size:>5}  {name:<22}{wall:>9.1f}{processors:>9.1f}", flush=True)


def measure(folder: Path, size: int, rounds: int) -> dict[str, list[Cost]]:
    """Build a book of some pages in every way, in turns."""
    costs: dict[str, list[Cost]] = {way.name: [] for way in WAYS}
    for way in WAYS:
        write_book(folder / way.name, size, way.extensions)
    for _ in range(rounds):
        for way in WAYS:
            costs[way.name].append(build(way, folder / way.name, size))
    return costs


def build(way: Way, book: Path, size: int) -> Cost:
    """Build a book from nothing, and see that its pages have their outputs."""
    # Beside the book: MyST-NB writes notebooks beside the output, and would read them as pages.
    out = book.with_name(f"{book.name}, built") / "html"
    shutil.rmtree(out.parent, ignore_errors=True)
    module = "sphinx" if way.extensions == STOCK else "sphinx_drift.run"
    command = [sys.executable, "-m", module, "-q", "-j", "2", "-D", f"nb_execution_mode={way.mode}"]
    worked, started = processor_seconds(), time.monotonic()
    done = subprocess.run(
        [*command, str(book), str(out)], capture_output=True, text=True, check=False
    )
    cost = Cost(time.monotonic() - started, processor_seconds() - worked)
    pages = [out / f"page-{number}.html" for number in range(size)]
    shown = {page.read_text("utf-8").count(OUTPUT) if page.is_file() else -1 for page in pages}
    if shown != {way.outputs} or done.returncode:
        sys.exit(f"{way.name}: status {done.returncode}, outputs {shown}\n{done.stderr[-2000:]}")
    return cost


def processor_seconds() -> float:
    """Return the processors' seconds of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write_book(folder: Path, size: int, extensions: list[str]) -> None:
    """Write a book for Sphinx, with what its cells print if that is to be checked."""
    folder.mkdir()
    (folder / "conf.py").write_text(CONFIGURATION.format(extensions=extensions), "utf-8")
    listed = "\n".join(f"page-{number}" for number in range(size))
    (folder / "index.md").write_text(f"# A book\n\n```{{toctree}}\n{listed}\n```\n", "utf-8")
    for number in range(size):
        source = page(number, checked=extensions != STOCK)
        (folder / f"page-{number}.md").write_text(source, "utf-8")


def page(number: int, *, checked: bool) -> str:
    """Return the source of a page."""
    parts = [FRONT.format(number=number)]
    names: dict[str, object] = {}
    cells = [NEXT.format(factor=factor) for factor in range(1, PRINTED + 1)]
    for cell in [FIRST.format(number=number), *cells]:
        parts.append(f"```{{code-cell}} ipython3\n{cell}\n```\n")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(cell, names)  # noqa: S102 - written above
        if checked and output.getvalue():
            parts.append(f"```{{expected-output}}\n{output.getvalue()}```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
