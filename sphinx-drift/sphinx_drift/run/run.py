"""Runs the pages of a build: begun ahead where their cells are known, and fetched when needed."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpecManager
from nbformat import from_dict

from sphinx_drift.run import host
from sphinx_drift.run.choice import chosen
from sphinx_drift.run.injected import (
    compute_on_device,
    files_read,
    package_origins,
    report_environment,
    watch_files,
)
from sphinx_drift.run.results import SKIPS, Ending, Execution, Failure, Request, injected
from sphinx_drift.run.scan import scan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Probe

DEVICE_VARIABLE = "DRIFT_DEVICE"


def begin(
    pages: Iterable[Path],
    requests: Callable[[Path, bool], Iterable[Request]],
    executor: str = "",
) -> set[Path]:
    """Start to run the pages of a build, in this order.

    Args:
        pages: Pages whose cells are to be looked up.
        requests: Returns the ways in which a page is to be run, that expects outputs or none.
        executor: The function that returns the executor, ``module:function``; nothing for ours.

    Returns:
        The pages that have begun.

    """
    if chosen() == "off":
        return set()
    begun: set[Path] = set()
    jobs: dict[str, tuple[NotebookNode, Request]] = {}
    for page in pages:
        if scanned := scan(page):
            for request in requests(page, scanned.expects):
                notebook = _notebook(scanned.kernel, scanned.cells)  # a run has its own
                begun.add(page)
                jobs.setdefault(_key(notebook, request), (notebook, request))
    host.queue([(key, *job) for key, job in jobs.items()], executor)
    return begun


_Runner = Callable[[str, "NotebookNode", Request], tuple["NotebookNode", Execution]]


def execute(notebook: NotebookNode, request: Request, run: _Runner = host.run) -> Execution:
    """Run the code cells of a notebook, in order, in a process of their own.

    Its outputs are replaced by what is printed now. Nothing is raised: a process that can't be
    started or dies is a failure too, and so is an error of ours.

    Args:
        notebook: The notebook.
        request: How it is to be run.
        run: Runs what is queued by a key, or these cells.

    """
    try:
        return _execute(notebook, request, run)
    except Exception:  # noqa: BLE001 - the page fails, and the others are checked
        message = f"sphinx_drift.run itself failed:\n{traceback.format_exc(limit=-3)}"
        return Execution(failure=Failure(Ending.RUNNER_FAILED, -1, message))


def _execute(notebook: NotebookNode, request: Request, run: _Runner) -> Execution:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    code = code_of(notebook)
    places = [place for place, _ in code]
    tagged = {place for place, _ in code if "raises-exception" in _tags(notebook.cells[place])}
    may_raise = {*request.may_raise, *tagged}
    numbers = tuple(number for number, place in enumerate(places) if place in may_raise)
    bare = _notebook(kernel_name(notebook), [source for _, source in code])
    key = _key(bare, request)
    request = replace(request, may_raise=numbers)
    ran, execution = run(key, bare, request)
    failure = execution.failure
    if failure and failure.kind is Ending.RAISED and failure.index in numbers:
        # It ran ahead, when nobody knew that it may go on.
        ran, execution = run("", bare, request)
    return _filled(notebook, places, ran, execution)


def _filled(
    notebook: NotebookNode, places: Sequence[int], ran: NotebookNode, execution: Execution
) -> Execution:
    """Give a notebook the outputs of its cells that ran, and return how it ended."""
    for place, cell in zip(places, ran.cells, strict=True):
        notebook.cells[place].outputs = cell.outputs
        notebook.cells[place].execution_count = cell.execution_count
    for name in ("language_info", "widgets"):
        if name in ran.metadata:
            notebook.metadata[name] = ran.metadata[name]
    failure = execution.failure
    if failure is not None and failure.index >= 0:
        failure = replace(failure, index=places[failure.index])
    last = failure.index if failure and failure.index >= 0 else len(notebook.cells)
    executed = {places[number] for number in execution.executed}
    not_to_run = {
        place
        for place, cell in enumerate(notebook.cells[:last])
        if cell.cell_type == "code" and place not in places
    }
    return Execution(frozenset(executed | not_to_run), failure, execution.answers)


def kernel_name(notebook: NotebookNode) -> str:
    """Return the kernel to start: a Python notebook made with one that isn't here takes ours."""
    kernelspec = _table(notebook, "kernelspec")
    name = kernelspec.get("name") or "python3"
    language = _table(notebook, "language_info").get("name") or kernelspec.get("language")
    if language == "python" and name not in _kernels():
        return "python3"
    return str(name)


def _table(notebook: NotebookNode, name: str) -> Mapping[str, Any]:
    """Return a part of a notebook's metadata, which some programs write as null or as text."""
    table = notebook.metadata.get(name)
    return table if isinstance(table, dict) else {}


@functools.cache
def _kernels() -> Collection[str]:
    return set(KernelSpecManager().find_kernel_specs())


def code_of(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Return the places and sources of the cells that run."""
    return [
        (place, cell.source)
        for place, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.source.strip() and SKIPS.isdisjoint(_tags(cell))
    ]


def _tags(cell: NotebookNode) -> Sequence[str]:
    tags: Sequence[str] = cell.metadata.get("tags", ())
    return tags


def _notebook(kernel: str, cells: Sequence[str]) -> NotebookNode:
    """Return a notebook of the cells that run alone; nbformat's constructors validate, slowly."""
    code: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(cells)
    ]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
    notebook = {"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return from_dict(notebook)  # type: ignore[no-untyped-call,no-any-return]


def _key(notebook: NotebookNode, request: Request) -> str:
    """Return a digest of a page's cells and how it is run, but for the cells that may raise.

    Which may is known only once the page is read, and it may have begun before.
    """
    settings = {name: value for name, value in vars(request).items() if name != "may_raise"}
    cells = [cell.source for cell in notebook.cells]
    kernel = notebook.metadata["kernelspec"]["name"]
    text = json.dumps([kernel, cells, settings], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def request_for(
    folder: Path,
    *,
    before: Iterable[Callable[[], object]] = (),
    probes: Iterable[Probe] = (),
    **settings: Any,
) -> Request:
    """Return how a page is to be run, with what is asked of each page.

    Args:
        folder: Where it starts.
        before: Functions of :mod:`sphinx_drift.run.injected` to run before the first cell.
        probes: What extensions ask the page's kernel.
        **settings: Other fields of the request.

    """
    on_device = os.environ.get(DEVICE_VARIABLE, "cpu") != "cpu"
    first = (watch_files, compute_on_device) if on_device else (watch_files,)
    return Request(
        folder.absolute(),
        before=(
            *map(injected, (*first, *before)),
            *(each.before for each in probes if each.before),
        ),
        after=(
            *map(injected, (report_environment, files_read, package_origins)),
            *(each.after for each in probes),
        ),
        preload=host.preloaded(),
        **settings,
    )
