"""Alter every documented output of a book, and count what is caught.

*exact* must catch every altered output, *portable* at least 97 % and all that are beyond its bound.
The pages run in stock Jupyter kernels, once as they are and once at full precision.

    nox -s mutation                # the book in docs/
    nox -s mutation -- FOLDER      # another one
"""

import argparse
import copy
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutants import Attempt, Output, attempts
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from sphinx_drift.compare.compare import UNITS, Policy, compare
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.source.read_source import load

PORTABLE_SHARE = 0.97
FULL_PRECISION = """\
from sphinx_drift.run.in_full import IN_FULL
for change in IN_FULL.values():
    change()
"""


def main() -> int:
    """Try every altered output; return 1 if too many pass."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("book", type=Path, nargs="?", default=Path("docs"))
    book = list(documented_outputs(parser.parse_args().book))
    if not book:
        parser.error("the book documents no output")
    faults = [f"{output.source}: not as documented" for output in book if not is_true(output)]
    tried = [attempt for output in book for attempt in attempts(output)]
    print_table(tried)
    faults += find_faults(tried)
    print(*faults, sep="\n")
    return bool(faults)


def documented_outputs(folder: Path) -> Iterator[Output]:
    """Run each page twice, the second time at full precision, and yield its outputs."""
    for path in sorted(folder.rglob("*.md")):
        loaded = None if "_build" in path.parts else load(path)
        if loaded is None:
            continue
        page, notebook = loaded
        precise = copy.deepcopy(notebook)
        precise.cells.insert(0, new_code_cell(FULL_PRECISION))
        execute(notebook, path.parent)
        execute(precise, path.parent)
        for cell in page.cells:
            normal = read_outputs(notebook.cells[cell.index].outputs)
            full = read_outputs(precise.cells[cell.index + 1].outputs)
            for expectation in cell.expectations:
                if not expectation.unchecked:
                    yield Output(
                        f"{path} cell {cell.number}",
                        expectation.text,
                        normal.select(expectation.part),
                        full.select(expectation.part),
                        expectation.waivers,
                    )


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run a notebook in a stock kernel, in the folder of its page."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, allow_errors=True, resources=resources).execute()


def is_true(output: Output) -> bool:
    """Return whether an output is as documented: altering a wrong one proves nothing."""
    return compare(
        output.documented, output.executed, policy=Policy.EXACT, waivers=output.waivers
    ).same


def print_table(tried: Sequence[Attempt]) -> None:
    """Print, for each kind of alteration, how many there were and how many were caught."""
    kinds = Counter(attempt.mutant.kind for attempt in tried)
    exact = Counter(attempt.mutant.kind for attempt in tried if attempt.caught)
    portable = Counter(attempt.mutant.kind for attempt in tried if attempt.refused)
    print(f"{'':<20}{'altered':>9}{'exact':>9}{'portable':>10}")
    for kind in sorted(kinds):
        print(f"{kind:<20}{kinds[kind]:>9}{exact[kind]:>9}{portable[kind]:>10}")
    totals = len(tried), exact.total(), portable.total()
    print(f"{'all':<20}{totals[0]:>9}{totals[1]:>9}{totals[2]:>10}\n")


def find_faults(tried: Sequence[Attempt]) -> Iterator[str]:
    """Yield what is not as good as it must be."""
    yield from (f"exact lets through: {attempt}" for attempt in tried if not attempt.caught)
    survivors = [attempt for attempt in tried if not attempt.refused]
    yield from (f"beyond the bound: {a}" for a in survivors if not a.units <= UNITS)
    if len(survivors) > (1 - PORTABLE_SHARE) * len(tried):
        yield f"portable lets {len(survivors)} of {len(tried)} through"


if __name__ == "__main__":
    sys.exit(main())
