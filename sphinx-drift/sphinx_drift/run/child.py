"""Runs the cells of a page in a forked child, by the IPython kernel's own code but without sockets.

The fork server imports this file before it forks: it imports third-party packages only.
"""

from __future__ import annotations

import asyncio
import faulthandler
import functools
import json
import os
import random
import signal
import sys
import threading
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tornado.ioloop import IOLoop

from .channel import Channel
from .hidden import HIDDEN
from .kernel import has_debugpy, spec_of
from .limit import clipped
from .protocol import pack, write_all

if TYPE_CHECKING:
    from collections.abc import Mapping


def prepare(task: dict[str, Any]) -> None:
    """Do before the fork what is the same for all pages, and touches nothing of theirs."""
    for source in (*task["before"], *task["after"].values()):
        _compiled(source)


def run_page(
    kernel: Any, handlers: Mapping[signal.Signals, Any], task: dict[str, Any], fds: dict[str, int]
) -> None:
    """Run a page; all that it shows is sent to the fork server.

    Args:
        kernel: The kernel that was made before the fork, or why it could not be.
        handlers: What signals did before the fork server came to ignore them.
        task: What to run, and how.
        fds: The child's ends of its pipes.

    """
    loop = asyncio.new_event_loop()
    try:
        channel = _set_up(kernel, handlers, task, fds)
        asyncio.set_event_loop(loop)
        loop.run_until_complete(_rehearse(kernel, channel))
    except Exception as error:  # noqa: BLE001 - another IPython may break anything
        # Nothing of the page has run yet: it is left to Jupyter.
        reason = f"a copy can't be made a kernel: {type(error).__name__}: {error}"
        write_all(fds["events"], pack({"type": "cannot_fork", "reason": reason}))
        os._exit(1)
    loop.run_until_complete(_run(kernel, task, channel))


# Before the cells ---------------------------------------------------------------------


_THREADS_OF_STOCK_KERNEL = 4
"""How many threads the stock kernel has numbered before the page has any."""


def _set_up(
    kernel: Any, handlers: Mapping[signal.Signals, Any], task: dict[str, Any], fds: dict[str, int]
) -> Channel:
    """Make this process a kernel, and return its way to the fork server."""
    if isinstance(kernel, Exception):
        raise kernel
    _settle(task, handlers)
    channel = Channel(kernel.session, fds, task["output_limit"])
    os.register_at_fork(after_in_child=channel.close)  # what a page forks can't spoil its messages
    kernel.session.forward = channel.forward
    kernel.session.pid = os.getpid()
    sys.stdout, sys.stderr = channel.streams
    kernel.shell.init_environment()
    _begin_history(kernel.shell)
    _report_crashes()
    threading.Thread(target=channel.watch, daemon=True, name="watch").start()
    for _ in range(_THREADS_OF_STOCK_KERNEL):
        threading.Thread()
    return channel


def _settle(task: dict[str, Any], handlers: Mapping[signal.Signals, Any]) -> None:
    """Make this process what a fresh one would be: its environment, folder, signals and entropy."""
    environment = task["environment"]
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update({k: v for k, v in environment.items() if os.environ.get(k) != v})
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    os.environ.setdefault("PYDEVD_USE_FRAME_EVAL", "NO")
    if not os.environ.get("MPLBACKEND"):
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    time.tzset()
    os.chdir(task["folder"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):  # `nohup` has a build ignore one of them
        signal.signal(number, handlers.get(number) or signal.SIG_DFL)
    _seem_launched()
    packages = (i for i, path in enumerate(sys.path) if path.endswith("-packages"))
    sys.path.insert(next(packages, 0), "")  # where the stock kernel has it
    # What is loaded was seeded once for all pages; what isn't will be when it is loaded.
    random.seed()
    if numpy_random := HIDDEN.module("numpy.random"):
        numpy_random.seed()
    if torch_random := HIDDEN.module("torch.random"):
        # The generator's own method: `torch.seed` would ask CUDA as well.
        torch_random.default_generator.seed()


def _seem_launched() -> None:
    """Let this process have the name of the stock kernel's, and be as little worth debugging."""
    launcher = spec_of("ipykernel_launcher")
    name = str(launcher and launcher.origin)
    sys.argv = [name, "-f", "kernel.json", "--HistoryManager.hist_file=:memory:"]
    if "__mp_main__" in sys.modules:  # the fork server's; `__main__` is the page's
        sys.modules["__mp_main__"] = sys.modules["__main__"]
    if has_debugpy():
        sys.breakpointhook = lambda *_, **__: None


def _begin_history(shell: Any) -> None:
    """Begin the history of this page: of what it runs, and of the folders that it was in."""
    manager = shell.history_manager
    manager.enabled = True
    manager.init_db()
    manager.new_session()
    shell.starting_dir = str(Path.cwd())
    manager.dir_hist[:] = [Path.cwd()]


def _report_crashes() -> None:
    """Have a crash write its place to ``err``; to the page `faulthandler` seems to be off."""
    stock_enable, is_enabled = faulthandler.enable, faulthandler.is_enabled
    if is_enabled():
        return

    @functools.wraps(stock_enable)
    def enable(*arguments: Any, **options: Any) -> None:
        faulthandler.enable, faulthandler.is_enabled = stock_enable, is_enabled
        stock_enable(*arguments, **options)

    stock_enable(2, all_threads=False)
    faulthandler.enable, faulthandler.is_enabled = enable, lambda: False


async def _rehearse(kernel: Any, channel: Channel) -> None:
    """Run an empty cell, as the stock path does too, before it asks a kernel anything."""
    kernel.io_loop = IOLoop.current()
    kernel.shell_channel_thread = types.SimpleNamespace(parent_thread=threading.current_thread())
    ending = await _run_cell(kernel, -1, "", silent=True)
    if ending.get("status") != "ok":
        raise RuntimeError(f"an empty cell ended with {ending}")
    for stream in channel.streams:
        if stream.parent_header.get("msg_id") != "cell--1":
            raise RuntimeError(f"{stream.name} doesn't know the cell that runs")


# The cells ----------------------------------------------------------------------------


async def _run(kernel: Any, task: dict[str, Any], channel: Channel) -> None:
    """Run the functions for before, the cells, and the functions for after."""
    channel.send(type="begun", language=kernel.language_info)
    for source in task["before"]:
        _call(source)
    for index, code in enumerate(task["cells"]):
        channel.send(type="cell", index=index)
        ending = await _run_cell(kernel, index, code)
        if channel.is_copied:
            os._exit(0)  # it was forked in the cell, which is over
        if "evalue" in ending:  # the output itself has all of it
            ending["evalue"] = clipped(ending["evalue"])
        channel.send(type="ended", index=index, **ending)
        if ending["status"] != "ok" and not channel.may_go_on():
            break
        if kernel.shell.exit_now and index + 1 < len(task["cells"]):
            os._exit(0)
        for reply in channel.captures.replies():
            kernel.set_parent([], reply, "shell")
            kernel.comm_manager.comm_msg(None, [], reply)
        await asyncio.sleep(0)  # what a cell left for later may begin
    answers = {name: _call(source) for name, source in task["after"].items()}
    channel.drain()
    channel.send(type="answers", answers=json.loads(json.dumps(answers)))
    os._exit(0)  # what still runs is not waited for: the stock kernel is killed, too


async def _run_cell(kernel: Any, index: int, code: str, *, silent: bool = False) -> dict[str, Any]:
    """Run a cell as the kernel does when it is asked to, and return its reply."""
    content = {"code": code, "silent": silent, "store_history": not silent, "stop_on_error": False}
    request = kernel.session.msg("execute_request", content)
    request["header"]["msg_id"] = request["msg_id"] = f"cell-{index}"
    kernel.set_parent([], request, "shell")
    reply: dict[str, Any] = {}
    forward = kernel.session.forward

    def keep_reply(message: dict[str, Any], buffers: list[Any]) -> None:
        if message["msg_type"] == "execute_reply":
            reply.update(message["content"])
        else:
            forward(message, buffers)

    kernel.session.forward = keep_reply
    try:
        await kernel.execute_request(None, [], request)
    finally:
        kernel.session.forward = forward
    fields = ("status", "ename", "evalue", "execution_count")
    return {name: reply[name] for name in fields if name in reply}


def _call(source: str) -> Any:
    """Call the function that a source defines, in a namespace of its own."""
    space: dict[str, Any] = {}
    exec(_compiled(source), space)  # noqa: S102 - it is the caller's own function, sent as text
    return space[next(name for name in reversed(space) if callable(space[name]))]()


@functools.cache
def _compiled(source: str) -> types.CodeType:
    return compile(source, "<sphinx_drift.run>", "exec")
