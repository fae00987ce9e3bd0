"""Runs one page in a fresh kernel, by nbclient: ``run_page``."""

import json
import math
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from nbformat import NotebookNode, from_dict, v4
from nbformat.validator import NotebookValidationError
from traitlets import Type

from forked_kernels.provisioner import NAME, obstacle
from sphinx_drift.kinds import Kind
from sphinx_drift.output.screen import joined
from sphinx_drift.probes import Injected, injected
from sphinx_drift.run.choice import RUNNER_VARIABLE, SCRATCH
from sphinx_drift.run.injected import call_each
from sphinx_drift.run.limit import LimitedClient, clipped
from sphinx_drift.run.results import Execution, Failure, Request

_REFUSED = ("abort", "aborted")
"""What a kernel says of a cell that it doesn't run, since one before it raised."""
_DAY = 24 * 60 * 60
_LONGEST_FOLDER = 90
"""Bytes after which a socket in a folder has a name that is too long for the system."""


async def run_page(
    notebook: NotebookNode, request: Request, environment: Mapping[str, str]
) -> tuple[NotebookNode, Execution]:
    """Run the code cells of a notebook, in order, in a fresh kernel.

    Nothing is raised: a kernel that can't be started or dies is a failure too.

    Args:
        notebook: The cells; they are given their outputs.
        request: How they are to be run.
        environment: The variables that the kernel starts with; they choose who starts it, too.

    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    started = time.monotonic()
    executed: dict[int, bool] = {}
    """The cells that ran to their end, and whether without an error."""
    failure: Failure | None = None
    answers: dict[str, Any] = {}
    with TemporaryDirectory(prefix=f"{SCRATCH}-{os.getpid()}-") as scratch:
        try:
            async with _client(notebook, request, environment, Path(scratch)) as client:
                failure = await _run_cells(client, request, executed)
                if failure is None or failure.kind is Kind.RAISED:
                    client.shutdown_kernel = "graceful"  # it may have something to do at its end
                    answers, unasked = await _ask(client, request.after, "after the last cell")
                    failure = failure or unasked
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the page was not run
            # An error while a kernel is ended doesn't say why it was ended.
            failure = failure or Failure(Kind.DEAD_KERNEL, None, _why_no_kernel(error))
        if failure and failure.kind is Kind.DEAD_KERNEL:
            message = failure.message + _last_lines(Path(scratch, "stderr"))
            failure = replace(failure, message=message)
    # Not before the last cell: the client knows where displays are, which any cell may update.
    for cell in code:
        cell.outputs = [*joined(cell.outputs)]
    return notebook, Execution(
        frozenset(executed),
        failure,
        answers,
        succeeded=frozenset(index for index, is_quiet in executed.items() if is_quiet),
        seconds=time.monotonic() - started,
    )


def _why_no_kernel(error: Exception) -> str:
    """Return why a page has no kernel, and what to do if it asks for one that isn't installed."""
    if not isinstance(error, NoSuchKernel):
        return f"no kernel: {type(error).__name__}: {error}"
    names = ", ".join(sorted(KernelSpecManager().find_kernel_specs())) or "none"
    return (
        f"no kernel named {error.name!r} is installed (installed: {names}); install it, "
        "or name another one as the `kernelspec` of the page"
    )


def _last_lines(stderr: Path) -> str:
    """Return what a kernel complained of at its end."""
    text = stderr.read_text("utf-8", "replace") if stderr.exists() else ""
    return "".join(f"\n{line}" for line in text.splitlines()[-8:])


class _Channel(AsyncZMQSocketChannel):
    """Sends by the asynchronous socket.

    Jupyter's sends past it, which loses the news of a reply that has just come: nbclient, which
    writes to widgets while it waits for a cell's, would wait for all of the cell's time.
    """

    def send(self, msg: dict[str, Any]) -> None:
        """Send a message that has no buffers: nbclient's have none."""
        assert self.socket is not None  # noqa: S101 - it is open while the client is
        self.socket.send_multipart(self.session.serialize(msg))


class _KernelClient(AsyncKernelClient):
    shell_channel_class = Type(_Channel)
    language_info: dict[str, Any]

    def __init__(self, **options: Any) -> None:
        """Take in as many messages as come: on a busy machine, more would be dropped."""
        super().__init__(**options)
        self.context.rcvhwm = 0

    async def wait_for_ready(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - Jupyter's
        """Wait until the kernel has answered in both channels; Jupyter waits 0.2 s longer."""
        end = time.monotonic() + (timeout or math.inf)
        while True:
            asked = self.kernel_info()
            with suppress(Empty):
                reply = await self.get_shell_msg(timeout=1)
                self.language_info = reply["content"]["language_info"]
                # It says so at once, or this channel wasn't open yet.
                while True:
                    message = await self.get_iopub_msg(timeout=0.1)
                    is_idle = message["content"].get("execution_state") == "idle"
                    if is_idle and message["parent_header"].get("msg_id") == asked:
                        return
            if not await self.is_alive():
                raise RuntimeError("it died before it answered")
            if time.monotonic() > end:
                raise TimeoutError(f"it didn't answer in {timeout} s")


class _KernelSpecs(KernelSpecManager):
    """Finds kernels as Jupyter does, and forks those that nothing wants started otherwise."""

    preload: Sequence[str] = ()

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return what is known of a kernel."""
        spec: KernelSpec = super().get_kernel_spec(kernel_name)
        if not obstacle(spec.argv):
            forked = {"provisioner_name": NAME, "config": {"preload": list(self.preload)}}
            spec.metadata = {"kernel_provisioner": forked, **spec.metadata}
        return spec


@asynccontextmanager
async def _client(
    notebook: NotebookNode, request: Request, environment: Mapping[str, str], scratch: Path
) -> AsyncIterator[LimitedClient]:
    """Start a kernel that is gone afterwards, whatever happens."""
    forks = environment.get(RUNNER_VARIABLE) != "jupyter"
    specs = _KernelSpecs() if forks else KernelSpecManager()
    specs.preload = request.preload  # type: ignore[attr-defined]
    name = notebook.metadata["kernelspec"]["name"]
    sockets = hasattr(socket, "AF_UNIX") and len(os.fsencode(scratch)) < _LONGEST_FOLDER
    # Kernels of other languages, Julia's say, know no sockets, or give them names of their own.
    sockets = sockets and "ipykernel_launcher" in specs.get_kernel_spec(name).argv
    manager = AsyncKernelManager(
        kernel_name=name,
        kernel_spec_manager=specs,
        client_factory=_KernelClient,
        connection_file=str(scratch / "kernel.json"),
        # Sockets in a folder that only this user can open: kernels can't race for a port either.
        transport="ipc" if sockets else "tcp",
        **({"ip": str(scratch / "socket")} if sockets else {}),
    )
    client = LimitedClient(
        notebook,
        km=manager,
        # Jupyter waits 4 s for what a cell that has ended printed, and drops the rest.
        iopub_timeout=math.ceil(request.timeout or _DAY),
        raise_on_iopub_timeout=True,
        output_limit=request.output_limit,
        timeout=request.timeout,
        resources={"metadata": {"path": str(request.folder)}},
        record_timing=False,
        shutdown_kernel="immediate",
    )
    with (scratch / "stderr").open("wb") as stderr:
        kernel = client.async_setup_kernel(
            stdout=DEVNULL, stderr=stderr, env=dict(environment), cleanup_kc=True
        )
        async with kernel:
            yield client


async def _run_cells(
    client: LimitedClient, request: Request, executed: dict[int, bool]
) -> Failure | None:
    """Run the cells until one stops the page, which is returned."""
    kc: Any = client.kc
    client.nb.metadata["language_info"] = kc.language_info
    _, failure = await _ask(client, request.before, "before the first cell")
    if failure:
        return failure
    statuses: dict[int, str] = {}
    client.on_cell_executed = lambda cell_index, execute_reply, **_: statuses.update(
        {cell_index: execute_reply["content"].get("status")}
    )
    for index, cell in enumerate(client.nb.cells):
        if cell.cell_type == "code":
            failure = await _run_cell(client, cell, index)
            is_allowed = index in request.raising
            if failure and not (failure.kind is Kind.RAISED and is_allowed):
                return failure
            if statuses.get(index) not in _REFUSED:
                executed[index] = failure is None
    for state in client.widget_state.values():
        if "outputs" in state:
            state["outputs"] = [*joined(map(from_dict, state["outputs"]))]
    client.set_widgets_metadata()
    return None


async def _run_cell(client: LimitedClient, cell: NotebookNode, index: int) -> Failure | None:
    failure = None
    try:
        await client.async_execute_cell(cell, index, execution_count=None)
    except CellExecutionError as error:
        failure = Failure(Kind.RAISED, index, clipped(f"{error.ename}: {error.evalue}"))
        shows = (o.output_type == "error" or error.ename in o.get("text", "") for o in cell.outputs)
        if not any(shows):  # only the reply has it
            content = {"ename": error.ename, "evalue": error.evalue, "traceback": []}
            cell.outputs.append(v4.new_output("error", **content))  # type: ignore[no-untyped-call]
    except CellTimeoutError:
        failure = Failure(Kind.TIMEOUT, index, _too_long(client))
    except DeadKernelError:
        failure = Failure(Kind.DEAD_KERNEL, index, await _end_of(client))
    except NotebookValidationError as error:
        where = " ".join(map(str, error.original.path))
        message = f"no notebook can hold what it displays, see its {where}"
        failure = Failure(Kind.NOT_EXECUTED, index, message)
    return client.excess(cell, index) or failure


def _too_long(client: LimitedClient) -> str:
    return f"it ran for more than {client.timeout} s"


async def _end_of(client: LimitedClient) -> str:
    """Describe how a kernel ended before its page."""
    manager: Any = client.km
    status = await manager.provisioner.poll()
    if status is None or status >= 0:
        return f"the page's process ended by itself, with exit status {status}"
    message = f"the page's process was killed by {signal.Signals(-status).name}"
    if -status == signal.SIGKILL:
        message += ": the machine may be out of memory; `taskset -c 0` lets fewer pages run at once"
    return message


async def _ask(
    client: LimitedClient, functions: Sequence[Injected], when: str
) -> tuple[dict[str, Any], Failure | None]:
    """Run functions in a Python kernel; return their answers, or why there are none."""
    if not functions or client.nb.metadata["language_info"].get("name") != "python":
        return {}, None
    asked = f"{when}, `{', '.join(function.name for function in functions)}`"
    expression = _calling(functions)
    kc: Any = client.kc
    asking = {"user_expressions": {"answer": expression}, "store_history": False}
    request = kc.execute("", silent=True, **asking)
    # nbclient gives the reply to a cell the time that cells have.
    cell = from_dict({"source": expression})  # type: ignore[no-untyped-call]
    try:
        reply = await client.async_wait_for_reply(request, cell)
    except CellTimeoutError:
        return {}, Failure(Kind.TIMEOUT, None, f"{asked}: {_too_long(client)}")
    except DeadKernelError:
        return {}, Failure(Kind.DEAD_KERNEL, None, f"{when}, {await _end_of(client)}")
    answer = (reply or {}).get("content", {}).get("user_expressions", {}).get("answer", {})
    if answer.get("status") != "ok":
        message = f"{asked} failed: {answer.get('ename')}: {answer.get('evalue')}"
        return {}, Failure(Kind.COULD_NOT_CHECK, None, message)
    return dict(json.loads(answer["data"]["application/x-drift"])), None


def _calling(functions: Sequence[Injected]) -> str:
    """Return an expression that defines and calls functions, in a namespace of their own.

    The value of an expression comes with the reply; `exec` defines, and returns None.
    """
    name, source, _ = injected(call_each)
    define = f"exec({source!r}, names)"
    call = f"names[{name!r}]({[tuple(function) for function in functions]!r})"
    return f"(lambda names: {define} or {call})({{}})"
