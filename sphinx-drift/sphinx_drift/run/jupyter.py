"""Runs a page in a fresh Jupyter kernel: the stock way, for every kernel and system."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import socket
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionComplete,
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from nbformat import v4

from sphinx_drift.run.fork_client import page_environment
from sphinx_drift.run.limit import Allowance, clipped
from sphinx_drift.run.results import (
    Ending,
    Execution,
    Failure,
    Request,
    excess,
    execution_from,
    join_captured,
    joined,
    never_begun,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nbformat import NotebookNode


def run(notebook: NotebookNode, request: Request) -> Execution:
    """Run the code cells of a notebook, in order, in a fresh kernel.

    Nothing is raised: a kernel that can't be started or dies is a failure too.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    executed: set[int] = set()
    answers: dict[str, Any] = {}
    failure: Failure | None = None
    with TemporaryDirectory(prefix="drift-") as scratch:
        stderr = _stderr(Path(scratch))
        try:
            with _client(notebook, request, Path(scratch)) as client:
                failure = _run(client, notebook, executed, request)
                if failure is None or failure.kind is Ending.RAISED:
                    answers = _ask(client, request)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the page was not run
            message = f"no kernel: {type(error).__name__}: {error}"
            # What goes wrong while a kernel is ended says nothing of why it was ended.
            failure = failure or Failure(Ending.DEAD_KERNEL, -1, message)
        if failure is not None and failure.kind is Ending.DEAD_KERNEL and stderr.exists():
            last_words = stderr.read_text("utf-8", "replace").splitlines()[-8:]
            failure = replace(failure, message="\n".join([failure.message, *last_words]))
    return execution_from(executed, failure, answers)


class _Client(NotebookClient):
    """The stock client, but it gives a page up that prints without end."""

    def __init__(self, *arguments: Any, output_limit: int, **options: Any) -> None:
        """Take what the outputs of a cell may take."""
        super().__init__(*arguments, **options)
        self.allowance = Allowance(output_limit)
        self.exceeded = False
        self._end: asyncio.Future[None] | None = None

    def process_message(self, msg: Any, cell: NotebookNode, cell_index: int) -> Any:
        """Take a message in, if the page has not printed too much."""
        message = {"type": msg["msg_type"], "content": msg["content"]}
        size = len(json.dumps(message)) + sum(len(buffer) for buffer in msg.get("buffers", ()))
        if self.allowance.admits(message, size):
            return super().process_message(msg, cell, cell_index)
        self.exceeded = True
        if msg["msg_type"] == "stream":
            last = dict(msg["content"], text=clipped(msg["content"]["text"]))
            cell.outputs.append(v4.new_output("stream", **last))  # type: ignore[no-untyped-call]
        manager: Any = self.km
        self._end = asyncio.ensure_future(manager.shutdown_kernel(now=True))
        raise CellExecutionComplete  # no more is read from it


@contextmanager
def _client(notebook: NotebookNode, request: Request, scratch: Path) -> Iterator[_Client]:
    """Start a kernel that is gone afterwards, whatever happens."""
    manager = AsyncKernelManager(
        kernel_name=kernel_name(notebook),
        connection_file=str(scratch / "kernel.json"),
        # Sockets in a folder of our own: two kernels can't race for a port.
        transport="ipc" if hasattr(socket, "AF_UNIX") else "tcp",
    )
    client = _Client(
        notebook,
        km=manager,
        output_limit=request.output_limit,
        timeout=request.timeout,
        resources={"metadata": {"path": str(request.folder)}},
        record_timing=False,
        shutdown_kernel="immediate",
    )
    with (
        _stderr(scratch).open("wb") as stderr,
        client.setup_kernel(
            stdout=DEVNULL, stderr=stderr, env=page_environment(request.hash_seed), cleanup_kc=True
        ),
    ):
        yield client


def kernel_name(notebook: NotebookNode) -> str:
    """Return the kernel to start: a Python notebook made with one that isn't here takes ours."""
    kernelspec = _table(notebook, "kernelspec")
    name = kernelspec.get("name") or "python3"
    language = _table(notebook, "language_info").get("name") or kernelspec.get("language")
    if language == "python" and name not in KernelSpecManager().find_kernel_specs():
        return "python3"
    return str(name)


def _table(notebook: NotebookNode, name: str) -> Mapping[str, Any]:
    """Return a part of a notebook's metadata, which some programs write as null or as text."""
    table = notebook.metadata.get(name)
    return table if isinstance(table, dict) else {}


def _stderr(scratch: Path) -> Path:
    """Return where the kernel itself complains, apart from its cells."""
    return scratch / "stderr"


def _run(
    client: _Client,
    notebook: NotebookNode,
    executed: set[int],
    request: Request,
) -> Failure | None:
    """Run the cells until one stops the page."""
    client.reset_execution_trackers()
    assert client.kc is not None  # noqa: S101 - setup_kernel has made it
    reply = client.wait_for_reply(client.kc.kernel_info())
    if reply:
        notebook.metadata["language_info"] = reply["content"]["language_info"]
    if _is_python(notebook):
        try:
            for function in request.before:
                _evaluate(client, function)
        except CellTimeoutError:
            return never_begun(request)
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        failure = _run_cell(client, cell, index)
        cell.outputs = joined(cell.outputs)
        if failure is not None and not (
            failure.kind is Ending.RAISED and index in request.may_raise
        ):
            return failure
        executed.add(index)
    join_captured(client)
    client.set_widgets_metadata()
    return None


def _run_cell(client: _Client, cell: NotebookNode, index: int) -> Failure | None:
    client.allowance.admits({"type": "cell"}, 0)
    failure = _failure(client, cell, index)
    return excess(client.nb, index, client.allowance.limit) if client.exceeded else failure


def _failure(client: _Client, cell: NotebookNode, index: int) -> Failure | None:
    try:
        client.execute_cell(cell, index, execution_count=None)
    except CellExecutionError as error:
        return Failure(Ending.RAISED, index, clipped(f"{error.ename}: {error.evalue}"))
    except CellTimeoutError:
        return Failure(Ending.TIMEOUT, index, f"it ran for more than {client.timeout} seconds")
    except DeadKernelError as error:
        return Failure(Ending.DEAD_KERNEL, index, str(error))
    return None


def _ask(client: NotebookClient, request: Request) -> dict[str, Any]:
    """Ask the kernel, if it is one that understands the questions."""
    if not _is_python(client.nb):
        return {}
    return {function.__name__: _evaluate(client, function) for function in request.after}


def _is_python(notebook: NotebookNode) -> bool:
    return bool(_table(notebook, "language_info").get("name", "python") == "python")


def _evaluate(client: NotebookClient, function: Callable[[], object]) -> Any:
    """Run a function of :mod:`sphinx_drift.run.injected` in the kernel, unseen by the page."""
    assert client.kc is not None  # noqa: S101 - setup_kernel has made it
    source = inspect.getsource(function)
    name = function.__name__
    # A namespace of its own: the page's variables stay as they are.
    call = f"(lambda space: (exec({source!r}, space), space[{name!r}]())[1])({{}})"
    request = client.kc.execute(
        "", silent=True, store_history=False, user_expressions={"answer": call}
    )
    # As a cell: one that takes too long raises an error.
    reply = client.wait_for_reply(request, v4.new_code_cell(call))  # type: ignore[no-untyped-call]
    answer = (reply or {}).get("content", {}).get("user_expressions", {}).get("answer", {})
    if answer.get("status") != "ok":
        raise RuntimeError(
            f"`{name}` failed in the kernel: {answer.get('ename')}: {answer.get('evalue')}"
        )
    return ast.literal_eval(answer["data"]["text/plain"])
