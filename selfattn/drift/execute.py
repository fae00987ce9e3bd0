"""Run the code cells of a notebook in a fresh kernel, and say how each ended."""

from __future__ import annotations

import ast
import inspect
import os
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from selfattn.drift.kernel import describe
from selfattn.drift.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from nbformat import NotebookNode

__all__ = ["Execution", "Failure", "execute"]


@dataclass(frozen=True)
class Failure:
    """What stopped a page."""

    kind: Kind
    index: int
    """Place of the cell among all cells of the notebook; -1 if no cell had begun."""
    message: str


@dataclass(frozen=True)
class Execution:
    """How the cells of a page ended."""

    executed: frozenset[int] = frozenset()
    """Places of the code cells that ran to their end, or raised what they may raise."""
    failure: Failure | None = None
    environment: dict[str, str] = field(default_factory=dict)
    """What the numbers were computed with: torch, device, capability, threads."""


def execute(  # noqa: PLR0913 - a run has these parts
    notebook: NotebookNode,
    *,
    folder: Path,
    timeout: int | None = None,
    may_raise: Collection[int] = (),
    before: Callable[[], object] | None = None,
    hash_seed: str | None = None,
) -> Execution:
    """Run the code cells of a notebook, in order, in a fresh kernel.

    Args:
        notebook: The notebook; its outputs are replaced by what is printed now.
        folder: Where the kernel starts.
        timeout: How many seconds a cell may take; None for as long as it likes.
        may_raise: Places of the cells after which the page goes on if they raise.
        before: A function of :mod:`selfattn.drift.kernel` to run before the first cell.
        hash_seed: What orders sets of texts, ``PYTHONHASHSEED``; None leaves it as it is.

    Returns:
        Which cells ran, and what stopped the page if it was stopped. Nothing is raised:
        a kernel that can't be started or dies is a failure too.

    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    executed: set[int] = set()
    environment: dict[str, str] = {}
    with TemporaryDirectory(prefix="drift-") as scratch:
        words = _words(Path(scratch))
        try:
            with _client(notebook, folder, timeout, Path(scratch), hash_seed) as client:
                failure = _run(client, notebook, executed, may_raise, before)
                if failure is None or failure.kind is Kind.RAISED:
                    environment = _ask(client)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the page was not run
            told = f"no kernel: {type(error).__name__}: {error}"
            failure = Failure(Kind.DEAD_KERNEL, -1, told)
        if failure is not None and failure.kind is Kind.DEAD_KERNEL and words.exists():
            last = words.read_text("utf-8", "replace").splitlines()[-8:]
            failure = replace(failure, message="\n".join([failure.message, *last]))
    return Execution(frozenset(executed), failure, environment)


@contextmanager
def _client(
    notebook: NotebookNode, folder: Path, timeout: int | None, scratch: Path, hash_seed: str | None
) -> Iterator[NotebookClient]:
    """Start a kernel that is gone afterwards, whatever happens."""
    manager = AsyncKernelManager(
        kernel_name=_kernel_name(notebook),
        connection_file=str(scratch / "kernel.json"),
        # Sockets in a folder of our own: two kernels can't race for a port.
        transport="tcp" if sys.platform == "win32" else "ipc",
    )
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=timeout,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        shutdown_kernel="immediate",
    )
    surroundings = dict(os.environ)
    if hash_seed is not None:
        surroundings["PYTHONHASHSEED"] = hash_seed
    with (
        _words(scratch).open("wb") as stderr,
        client.setup_kernel(stdout=DEVNULL, stderr=stderr, env=surroundings, cleanup_kc=True),
    ):
        yield client


def _kernel_name(notebook: NotebookNode) -> str:
    """Return the kernel to start: a Python notebook made with one that isn't here takes ours."""
    named = notebook.metadata.get("kernelspec", {})
    name = named.get("name") or "python3"
    language = notebook.metadata.get("language_info", {}).get("name") or named.get("language")
    if language == "python" and name not in KernelSpecManager().find_kernel_specs():
        return "python3"
    return str(name)


def _words(scratch: Path) -> Path:
    """Return where the kernel itself complains, apart from its cells."""
    return scratch / "stderr"


def _run(
    client: NotebookClient,
    notebook: NotebookNode,
    executed: set[int],
    may_raise: Collection[int],
    before: Callable[[], object] | None,
) -> Failure | None:
    """Run the cells until one stops the page."""
    client.reset_execution_trackers()
    assert client.kc is not None  # noqa: S101 - setup_kernel has made it
    reply = client.wait_for_reply(client.kc.kernel_info())
    if reply:
        notebook.metadata["language_info"] = reply["content"]["language_info"]
    if before is not None:
        _evaluate(client, before)
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        failure = _run_cell(client, cell, index)
        cell.outputs = _joined(cell.outputs)
        if failure is not None and not (failure.kind is Kind.RAISED and index in may_raise):
            return failure
        executed.add(index)
    client.set_widgets_metadata()
    return None


def _run_cell(client: NotebookClient, cell: NotebookNode, index: int) -> Failure | None:
    try:
        client.execute_cell(cell, index, execution_count=None)
    except CellExecutionError as error:
        return Failure(Kind.RAISED, index, f"{error.ename}: {error.evalue}")
    except CellTimeoutError:
        return Failure(Kind.TIMEOUT, index, f"it ran for more than {client.timeout} seconds")
    except DeadKernelError as error:
        return Failure(Kind.DEAD_KERNEL, index, str(error))
    return None


def _joined(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Join what a cell wrote to one stream in pieces, however slowly it did."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def _ask(client: NotebookClient) -> dict[str, str]:
    """Ask the kernel what it computed with, if it is one that understands the question."""
    if client.nb.metadata.get("language_info", {}).get("name", "python") != "python":
        return {}
    answer = _evaluate(client, describe)
    return answer if isinstance(answer, dict) else {}


def _evaluate(client: NotebookClient, function: Callable[[], object]) -> Any:
    """Run a function of :mod:`selfattn.drift.kernel` in the kernel, unseen by the page."""
    assert client.kc is not None  # noqa: S101 - setup_kernel has made it
    source = textwrap.dedent(inspect.getsource(function))
    name = function.__name__
    # A namespace of its own: the page's variables stay as they are.
    call = f"(lambda space: (exec({source!r}, space), space[{name!r}]())[1])({{}})"
    request = client.kc.execute(
        "", silent=True, store_history=False, user_expressions={"answer": call}
    )
    reply = client.wait_for_reply(request)
    answer = (reply or {}).get("content", {}).get("user_expressions", {}).get("answer", {})
    if answer.get("status") != "ok":
        msg = f"`{name}` failed in the kernel: {answer.get('ename')}: {answer.get('evalue')}"
        raise RuntimeError(msg)
    return ast.literal_eval(answer["data"]["text/plain"])
