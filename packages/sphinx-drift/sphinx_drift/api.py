"""What the extensions of a book may use of the checker; everything else may change at any time."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.probes import Probe, injected
from sphinx_drift.report.summary import describe_environment
from sphinx_drift.run.results import OWN_ANSWERS
from sphinx_drift.settings import find_project
from sphinx_drift.source.quote import read_quotation
from sphinx_drift.sphinx.marks import drift_mark
from sphinx_drift.sphinx.quotations import quoted_number
from sphinx_drift.sphinx.settings import PROBES
from sphinx_drift.sphinx.state import state_of

__all__ = [
    "Kind",
    "Outcome",
    "PageResult",
    "Quoted",
    "add_probe",
    "describe_environment",
    "drift_mark",
    "find_project",
    "probed",
    "quoted",
    "quoted_number",
    "read_outputs",
    "results",
]


class Quoted(NamedTuple):
    """Where a number was printed that a page quotes."""

    docname: str
    cell: int
    """The number of the code cell on its page, counted from 1."""


def add_probe(
    app: Sphinx,
    *,
    before: Callable[[], object] | None = None,
    after: Callable[[], Any],
) -> None:
    """Have each page's kernel report something about its run, from an extension's ``setup``.

    The functions are sent to the kernel as source, so they must stand alone: they import what
    they need, and use no name of their module. A page's names stay as they are; what ``before``
    keeps for ``after`` can be an attribute of ``get_ipython()``.

    Args:
        app: The application.
        before: Is called before the first cell. It can register an IPython callback such as
            ``post_run_cell`` to see the page's variables after each cell.
        after: Is called after the last cell. What it returns must be JSON; :func:`probed`
            returns it under the function's name.

    Raises:
        ValueError: If another probe, or the checker, has a function of that name, or if one has
            none.

    """
    if "<lambda>" in {function.__name__ for function in (before, after) if function}:
        raise ValueError("a lambda has no name to be called by in the kernel; define it by `def`")
    probes = PROBES.setdefault(app, [])
    taken = OWN_ANSWERS | {probe.after.name for probe in probes}
    if after.__name__ in taken:
        raise ValueError(f"there is a probe {after.__name__!r} already; rename the function")
    probes.append(Probe(before and injected(before), injected(after)))


def probed(env: BuildEnvironment, docname: str) -> Mapping[str, Any]:
    """Return what the probes of a page returned, by name; nothing if the page wasn't run.

    A directive may ask for that of the page it is on, which is run before it is parsed.
    """
    return state_of(env).pages[docname].probed


def results(env: BuildEnvironment) -> Mapping[str, PageResult]:
    """Return the result of each page that has cells, by document name."""
    return MappingProxyType(state_of(env).results)


def quoted(env: BuildEnvironment, target: str) -> Quoted | None:
    """Return where the number was printed that a quotation such as ``weights[1] .0%`` names.

    Raises:
        ValueError: If the text is no quotation.

    """
    name = read_quotation(target).name
    for docname, result in results(env).items():
        for outcome in result.outcomes:
            if outcome.name == name and outcome.cell:
                return Quoted(docname, outcome.cell)
    return None
