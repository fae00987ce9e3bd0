"""Runs a page the chosen way: in a forked child, or where that can't be, in a Jupyter kernel."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import traceback
from typing import TYPE_CHECKING, Any

from sphinx_drift.run import fork, fork_client, jupyter
from sphinx_drift.run.choice import chosen
from sphinx_drift.run.injected import (
    compute_on_device,
    files,
    origins,
    report_environment,
    watch,
    watch_imports,
)
from sphinx_drift.run.obstacles import obstacle
from sphinx_drift.run.results import Ending, Execution, Failure, Request
from sphinx_drift.run.scan import scan
from sphinx_drift.run.transcript import CannotForkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

DEVICE_VARIABLE = "DRIFT_DEVICE"
_LOGGER = logging.getLogger(__name__)


def begin(
    pages: Iterable[Path],
    requests: Callable[[Path, Sequence[str]], Iterable[Request]],
    *,
    known: Mapping[Path, Sequence[str]] | None = None,
) -> set[Path]:
    """Have the pages of a build begin to run, as the requests for a page and its cells say.

    What this process has begun before, for another build, is dropped.

    Args:
        pages: Pages whose cells are to be looked up.
        requests: Returns the ways in which a page is to be run.
        known: Pages to begin before these, with their cells.

    Returns:
        The pages that have begun.

    """
    fork.forget()
    if chosen() != "fork" or obstacle():
        return set()
    cells = {**(known or {}), **{page: code for page in pages if (code := scan(page))}}
    jobs = [(code, each) for page, code in cells.items() for each in requests(page, code)]
    with contextlib.suppress(CannotForkError):  # warned of when the first page is to be run
        fork.queue(jobs)
    return {*cells}


def execute(notebook: NotebookNode, request: Request) -> Execution:
    """Run the code cells of a notebook, in order, in a process of their own.

    Its outputs are replaced by what is printed now. Nothing is raised: a process that can't be
    started or dies is a failure too, and so is an error of ours.
    """
    try:
        return _execute(notebook, request)
    except Exception:  # noqa: BLE001 - the page fails, and the others are checked
        message = f"sphinx_drift.run itself failed:\n{traceback.format_exc(limit=-3)}"
        return Execution(failure=Failure(Ending.RUNNER_FAILED, -1, message))


def _execute(notebook: NotebookNode, request: Request) -> Execution:
    if chosen() == "fork":
        try:
            return fork.run(notebook, request)
        except CannotForkError as error:
            if fork_client.is_over():
                raise SystemExit("the build was ended") from None  # not even by the stock path
            _warn_once(f"pages run in Jupyter kernels, which is slower: {error}")
    return jupyter.run(notebook, request)


def request_for(
    folder: Path, *, before: Callable[[], object] | None = None, **settings: Any
) -> Request:
    """Return how a page is to be run, with what is injected into each page.

    Args:
        folder: Where it starts.
        before: A function of :mod:`sphinx_drift.run.injected` to run before the first cell.
        **settings: Other fields of the request.

    """
    on_device = os.environ.get(DEVICE_VARIABLE, "cpu") != "cpu"
    first = (watch, compute_on_device) if on_device else (watch,)
    return Request(
        folder.absolute(),
        before=first if before is None else (*first, watch_imports, before),
        after=(report_environment, files, origins),
        **settings,
    )


@functools.cache
def _warn_once(message: str) -> None:
    _LOGGER.warning(message)
