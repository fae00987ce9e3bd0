"""Alter every documented output of the book and of the corpus, and count what is caught.

*exact* must catch every mutant, *portable* at least 97 % and all that are beyond its bound.
Then every other form in which the outputs of well-known libraries are shown is altered.
What *portable* lets through is listed in sphinx-drift/tests/compare/portable-survivors.txt.

    python tools/mutation.py [--update] [--record]
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from mutants import Attempt, Output, attempts, corpus
from record import write_table
from shown_mutants import Altered, altered, caught, shown_corpus

from sphinx_drift.compare.compare import UNITS, Policy, compare
from sphinx_drift.configuration import find_project
from sphinx_drift.run import fork_client
from sphinx_drift.run.injected import print_full_precision
from sphinx_drift.run.run import execute, request_for
from sphinx_drift.source.printed_text import printed
from sphinx_drift.source.read_source import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sphinx_drift.source.read_source import Page

ROOT = Path(__file__).resolve().parent.parent
SURVIVORS = ROOT / "sphinx-drift/tests/compare/portable-survivors.txt"
PORTABLE_SHARE = 0.97


def main() -> int:
    """Try every mutant; exit 1 if too many live, or others than are listed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="write the list of survivors")
    parser.add_argument("--record", action="store_true", help="write docs/_data/mutation.json")
    options = parser.parse_args()
    fork_client.preload(find_project(ROOT).libraries([]))
    environment: dict[str, str] = {}
    outputs = [*book(environment), *corpus()]
    tried = [attempt for output in outputs for attempt in attempts(output)]
    shown = list(_shown())
    _print_table(tried)
    _print_shown(shown)
    survivors = "".join(f"{line}\n" for line in sorted(str(a) for a in tried if not a.refused))
    if options.update:
        SURVIVORS.write_text(survivors, "utf-8")
    if options.record:
        _record(outputs, tried, shown, environment)
    faults = [*_untrue(outputs), *_faults(tried)]
    faults += [f"exact lets through: {a.form}: {a.where}" for a, exact, _ in shown if not exact]
    if not SURVIVORS.exists() or SURVIVORS.read_text("utf-8") != survivors:
        faults.append(f"{SURVIVORS.relative_to(ROOT)} is out of date: see --update")
    print(*faults, sep="\n")
    return bool(faults)


def book(environment: dict[str, str]) -> Iterator[Output]:
    """Run each page twice, the second time at full precision, and yield its outputs."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        inside = path.relative_to(ROOT)
        loaded = None if "_build" in inside.parts else load(path)
        if loaded is None:
            continue
        page, notebook = loaded
        may_raise = {cell.index for cell in page.cells if cell.may_raise}
        precise = copy.deepcopy(notebook)
        execution = execute(notebook, request_for(path.parent, may_raise=may_raise))
        environment.update(execution.environment if "torch" in execution.environment else {})
        execute(precise, request_for(path.parent, may_raise=may_raise, before=print_full_precision))
        yield from _outputs(page, str(inside), notebook.cells, precise.cells)


def _outputs(page: Page, name: str, cells: Sequence, precise: Sequence) -> Iterator[Output]:
    for cell in page.cells:
        normal, full = printed(cells[cell.index].outputs), printed(precise[cell.index].outputs)
        for expectation in cell.expectations:
            if not expectation.unchecked:
                yield Output(
                    f"{name} cell {cell.number}",
                    expectation.text,
                    normal.select(expectation.stream),
                    full.select(expectation.stream),
                    expectation.waivers,
                )


def _untrue(outputs: Sequence[Output]) -> Iterator[str]:
    """Yield the outputs that are not as documented: mutants of those prove nothing."""
    for output in outputs:
        policy = Policy.EXACT
        if not compare(
            output.documented, output.executed, policy=policy, waivers=output.waivers
        ).same:
            yield f"{output.source}: not as documented even before it is altered"


def _faults(tried: Sequence[Attempt]) -> Iterator[str]:
    """Yield what is not as good as it must be."""
    yield from (f"exact lets through: {attempt}" for attempt in tried if not attempt.caught)
    survivors = [attempt for attempt in tried if not attempt.refused]
    yield from (f"beyond the bound: {a}" for a in survivors if not a.units <= UNITS)
    if len(survivors) > (1 - PORTABLE_SHARE) * len(tried):
        yield f"portable lets {len(survivors)} of {len(tried)} through"


def _shown() -> Iterator[tuple[Altered, bool, bool]]:
    """Yield what is altered of shown forms, and whether each policy catches it."""
    for _, outputs in shown_corpus():
        for each in altered(outputs):
            exact = caught(each.outputs, outputs, Policy.EXACT)
            yield each, exact, caught(each.outputs, outputs, Policy.PORTABLE)


def _print_shown(shown: Sequence[tuple[Altered, bool, bool]]) -> None:
    for form in sorted({each.form for each, *_ in shown}):
        of_form = [flags for each, *flags in shown if each.form == form]
        exact, portable = map(sum, zip(*of_form, strict=True))
        print(f"{form:<20}{len(of_form):>9}{exact:>9}{portable:>10}")


def _print_table(tried: Sequence[Attempt]) -> None:
    print(f"{'kind':<20}{'mutants':>9}{'exact':>9}{'portable':>10}")
    for kind, *counts in [*_counts(tried), ("all", *_sums(tried))]:
        print(f"{kind:<20}{counts[0]:>9}{counts[1]:>9}{counts[2]:>10}")
    total, exact, portable = _sums(tried)
    print(f"caught: exact {exact / total:.2%}, portable {portable / total:.2%}")


def _counts(tried: Sequence[Attempt]) -> list[tuple[str, int, int, int]]:
    """Return for each kind how many mutants there were, and how many each policy caught."""
    total = Counter(attempt.mutant.kind for attempt in tried)
    exact = Counter(attempt.mutant.kind for attempt in tried if attempt.caught)
    portable = Counter(attempt.mutant.kind for attempt in tried if attempt.refused)
    return [(kind, total[kind], exact[kind], portable[kind]) for kind in sorted(total)]


def _sums(tried: Sequence[Attempt]) -> tuple[int, int, int]:
    exact = sum(attempt.caught for attempt in tried)
    return len(tried), exact, sum(attempt.refused for attempt in tried)


def _record(
    outputs: Sequence[Output],
    tried: Sequence[Attempt],
    shown: Sequence[tuple[Altered, bool, bool]],
    environment: dict[str, str],
) -> None:
    """Write the shares for the page that tells how well the check was tested."""
    rows = []
    for name, of_corpus in (("this book", False), ("other outputs", True)):
        sources = [o for o in outputs if o.source.startswith("corpus/") is of_corpus]
        mine = [a for a in tried if a.source.startswith("corpus/") is of_corpus]
        total, exact, portable = _sums(mine)
        shares = (f"{exact / total:.2%}", f"{portable / total:.2%}")
        rows.append([name, len(sources), total, *shares])
    counts = [sum(flags) / len(shown) for flags in list(zip(*shown, strict=True))[1:]]
    name = "other forms: HTML, LaTeX, tracebacks"
    rows.append([name, len(shown_corpus()), len(shown), *(f"{share:.2%}" for share in counts)])
    columns = ["outputs of", "number", "altered", "exact", "portable"]
    write_table("mutation", "nox -s mutation", columns, rows, environment)


if __name__ == "__main__":
    sys.exit(main())
