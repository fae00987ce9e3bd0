"""Runs the pages of a build: begun ahead where their cells are known, and fetched when needed."""

import functools
import os
import re
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from nbformat import NotebookNode, from_dict

from sphinx_drift.kinds import Kind
from sphinx_drift.probes import Probe, injected
from sphinx_drift.run.choice import (
    COVERAGE_VARIABLE,
    DEVICE_VARIABLE,
    MODULE_VARIABLE,
    page_environment,
)
from sphinx_drift.run.host import HOST
from sphinx_drift.run.injected import (
    compute_on_device,
    end_at_the_next_cell,
    keep_messages,
    leave_no_bytecode,
    measure_coverage,
    order_descriptors,
    report_environment,
)
from sphinx_drift.run.pool import Job, Pool
from sphinx_drift.run.results import SKIPS, Execution, Failure, Request
from sphinx_drift.settings import table_in


def queue(pages: Sequence[tuple[NotebookNode, Request]]) -> None:
    """Have notebooks run ahead, each as requested, in this order; :func:`execute` fetches each."""
    if pages or HOST.process:  # else none waits from an earlier build either
        with suppress(ConnectionError):  # each page says so when it is asked for
            HOST.ask(Pool.queue, [_job(*page) for page in pages])


def execute(notebook: NotebookNode, request: Request) -> Execution:
    """Run the code cells of a notebook, in order, in a fresh process.

    Its outputs are replaced by what is printed now. Nothing is raised: a process that can't be
    started or dies is a failure too, and so is an error of ours.

    Args:
        notebook: The notebook.
        request: How it is to be run.

    """
    try:
        ran, execution = HOST.ask(Pool.fetch, _job(notebook, request))
    except Exception:  # noqa: BLE001 - the page fails, and the others are checked
        message = f"sphinx_drift.run itself failed:\n{traceback.format_exc(limit=-3)}"
        return Execution(failure=Failure(Kind.COULD_NOT_CHECK, None, message))
    not_to_run = set()
    stopped_at = execution.failure.index if execution.failure else None
    for index, (cell, copy) in enumerate(zip(notebook.cells, ran.cells, strict=True)):
        if cell.cell_type == "code":
            cell.outputs = copy.get("outputs", [])
            cell.execution_count = copy.get("execution_count")
            if copy.cell_type != "code" and (stopped_at is None or index < stopped_at):
                not_to_run.add(index)
    for name in ("language_info", "widgets"):
        if name in ran.metadata:
            notebook.metadata[name] = ran.metadata[name]
    return replace(execution, executed=execution.executed | not_to_run)


def kernel_name(notebook: NotebookNode, aliases: Mapping[str, str]) -> str:
    """Return the kernel to start: a Python notebook made with one that isn't here takes ours."""
    kernelspec = table_in(notebook.metadata, "kernelspec")
    name = kernelspec.get("name") or "python3"
    name = next((alias for regex, alias in aliases.items() if re.fullmatch(regex, name)), name)
    about = table_in(notebook.metadata, "language_info")
    language = about.get("name") or kernelspec.get("language")
    if language == "python" and name not in _kernels():
        return "python3"
    return str(name)


@functools.cache
def _kernels() -> Collection[str]:
    return set(KernelSpecManager().find_kernel_specs())


def _job(notebook: NotebookNode, request: Request) -> Job:
    """Return the cells that run, at their indices, and how.

    nbformat's constructors validate, slowly.
    """
    cells: list[dict[str, object]] = []
    for index, cell in enumerate(notebook.cells):
        part: dict[str, object] = {"id": f"cell-{index}", "metadata": {}}
        tags = cell.metadata.get("tags") or ()
        if cell.cell_type == "code" and cell.source.strip() and SKIPS.isdisjoint(tags):
            part |= {"cell_type": "code", "source": cell.source}
            part |= {"outputs": [], "execution_count": None}
        else:
            part |= {"cell_type": "markdown", "source": ""}
        cells.append(part)
    kernel = kernel_name(notebook, request.kernel_aliases)
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
    bare = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    page = from_dict(bare)  # type: ignore[no-untyped-call]
    variables = {**page_environment(), **request.variables}
    return page, request, {name: text for name, text in variables.items() if text is not None}


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
    in_each = (leave_no_bytecode, keep_messages, order_descriptors, end_at_the_next_cell)
    always = [*map(injected, in_each)]
    if options := os.environ.get(COVERAGE_VARIABLE):
        always.append(injected(measure_coverage, options))
    if (device := os.environ.get(DEVICE_VARIABLE, "cpu")) != "cpu":
        always.append(injected(compute_on_device, os.environ[MODULE_VARIABLE], device))
    return Request(
        folder.absolute(),
        before=(
            *(*always, *map(injected, before)),
            *(probe.before for probe in probes if probe.before),
        ),
        after=(injected(report_environment), *(probe.after for probe in probes)),
        preload=HOST.preload,
        **settings,
    )
