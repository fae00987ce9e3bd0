"""Runs a page, and tells whether it would show anything else than it does.

What a program reads can't be listed: files by a subprocess, a folder, the clock, an installed
module. So running is never skipped. Of a page whose text is what it was, the cells are kept; they
are run in each build and compared with what the page documents. If that shows anything else than
the page does, the page is read again, with what has just been run.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from sphinx_drift.compare.outcomes import Kind, Outcome
from sphinx_drift.run.results import Ending
from sphinx_drift.run_and_judge import run_and_judge
from sphinx_drift.sphinx.builds import build_of, file_of
from sphinx_drift.sphinx.incremental import Origin

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.compare.outcomes import PageResult
    from sphinx_drift.run.results import Execution
    from sphinx_drift.source.read_source import Page


@dataclass(frozen=True)
class Run:
    """What was run of a page, and what that depended on."""

    page: Page
    """The cells, and what each must print."""
    notebook: NotebookNode
    """The cells alone, without what they print and what stands between them."""
    shown: str
    """The digest of all that the cells printed."""
    origin: Origin


@dataclass(frozen=True)
class Fresh:
    """A run of this build, with its outputs."""

    run: Run
    result: PageResult
    execution: Execution
    notebook: NotebookNode = field(repr=False)

    def is_of(self, page: Page, notebook: NotebookNode) -> bool:
        """Tell whether just these cells were run, with these expectations."""
        return self.run.page == page and self.run.notebook.cells == _bare(notebook).cells

    def fill(self, notebook: NotebookNode) -> None:
        """Give a notebook of the same cells the outputs of this run."""
        for mine, cell in zip(self.notebook.cells, notebook.cells, strict=True):
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = mine.outputs, mine.execution_count
        notebook.metadata.update(self.notebook.metadata)


def run_page(env: BuildEnvironment, docname: str, page: Page, notebook: NotebookNode) -> Fresh:
    """Run a page, and once more if a file changed that it had read."""
    bare, build, file = _bare(notebook), build_of(env), file_of(env, docname)
    folder = Path(env.doc2path(docname)).parent
    run = partial(run_and_judge, page, notebook, folder=folder, file=file, settings=build.settings)
    result, execution = run()
    if execution.changed:
        names, shown = _names(execution.changed), _shown(notebook)
        result, execution = run()
        note = f"{file}: run again, because of what changed while it ran: {names}"
        result = replace(result, notes=(*result.notes, note))
        # A page may change its files by other programs: what it shows is what counts.
        if execution.changed and _shown(notebook) != shown:
            result = unsettled(result, [*execution.changed])
    complete = execution.failure is None or execution.failure.kind is Ending.RAISED
    origin = Origin(digest_of(bare, build.surroundings), execution.files, complete)
    return Fresh(Run(page, bare, _shown(notebook), origin), result, execution, notebook)


def digest_of(notebook: NotebookNode, surroundings: str) -> str:
    """Return a digest of all that a run depends on besides files, as far as it is known."""
    code = json.dumps([surroundings, *(cell.source for cell in notebook.cells)])
    return hashlib.sha256(code.encode()).hexdigest()


def unsettled(result: PageResult, changed: list[str]) -> PageResult:
    """Add to a page's outcomes that files changed, so that nobody knows what it would print."""
    line = min((outcome.line for outcome in result.outcomes), default=1)
    outcome = Outcome(Kind.UNSETTLED, line, message=_names(changed))
    return replace(result, outcomes=(*result.outcomes, outcome))


def _names(paths: tuple[str, ...] | list[str]) -> str:
    """Name files as one would type them."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 - texts, not files
    return ", ".join(sorted(path.removeprefix(here) for path in paths))


def _bare(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook's code, without outputs and without what stands between."""
    bare = NotebookNode(  # type: ignore[no-untyped-call]
        cells=[_bare_cell(cell) for cell in notebook.cells],
        metadata={k: v for k, v in notebook.metadata.items() if k in _NEEDED},
        nbformat=notebook.nbformat,
        nbformat_minor=notebook.nbformat_minor,
    )
    return copy.deepcopy(bare)


_NEEDED = ("execution", "kernelspec", "language_info", "mystnb")


def _bare_cell(cell: NotebookNode) -> NotebookNode:
    is_code = cell.cell_type == "code"
    return NotebookNode(  # type: ignore[no-untyped-call]
        cell_type=cell.cell_type,
        metadata=cell.metadata,
        source=cell.source if is_code else "",
        **({"outputs": [], "execution_count": None} if is_code else {}),
    )


def _shown(notebook: NotebookNode) -> str:
    """Return a digest of all that the cells of a notebook printed."""
    outputs = [cell.get("outputs", []) for cell in notebook.cells]
    shown = json.dumps([outputs, notebook.metadata.get("widgets")], sort_keys=True, default=repr)
    return hashlib.sha256(shown.encode()).hexdigest()
