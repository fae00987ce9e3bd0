"""The IPython kernel that each page's child inherits: made once, without sockets or threads."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import logging
import os
import pdb  # noqa: T100 - what it starts is changed, as the stock kernel does
import sqlite3  # noqa: F401 - for the history of each page
import sys
from pathlib import Path
from typing import Any

_without_debugpy = "debugpy" not in sys.modules
if _without_debugpy:  # ipykernel can do without; loading it takes as long as the rest, and it warns
    sys.modules["debugpy"] = None  # type: ignore[assignment]
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from IPython.core import debugger
from jupyter_client.session import Session
from tornado.platform import asyncio as _needed_by_each_page  # noqa: F401
from traitlets import Any as AnyTrait
from traitlets.config import Config

from .hidden import HIDDEN


class ForwardingSession(Session):
    """Forwards to the page's channel what the kernel would send through its sockets."""

    forward: Any = None

    def send(  # type: ignore[override] # noqa: PLR0913, PLR0917 - the session's own
        self,
        stream: Any,  # noqa: ARG002 - the session's own
        msg_or_type: dict[str, Any] | str,
        content: dict[str, Any] | None = None,
        parent: dict[str, Any] | None = None,
        ident: Any = None,  # noqa: ARG002 - the same
        buffers: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Forward a message."""
        message = msg_or_type
        if isinstance(message, str):
            metadata = options.get("metadata")
            message = self.msg(message, content, parent=parent, metadata=metadata)
        if os.getpid() == self.pid:  # from a process that a page has forked nothing is sent
            # As the stock session would send it: what is no JSON is changed, or refused.
            *_, metadata, sent = map(self.unpack, self.serialize(message)[2:])
            self.forward({**message, "metadata": metadata, "content": sent}, buffers or [])
        return message


class Kernel(IPythonKernel):
    """The IPython kernel, whose requests are function calls."""

    # Where the stock kernel has its thread of sockets: the main thread runs the cells.
    shell_channel_thread = AnyTrait()
    _execute_sleep = 0.0  # after each cell, for the sockets' sake

    def _publish_execute_input(self, *_: Any) -> None:
        """Leave out: nobody listens for it."""

    def finish_metadata(self, _parent: Any, metadata: Any, _reply: Any) -> Any:
        """Leave out: only whoever sent the request would read it."""
        return metadata


def seem_like(stock: type, ours: type) -> None:
    """Give a class the name of the stock one, for pages that print it."""
    for name in ("__name__", "__qualname__", "__module__"):
        setattr(ours, name, getattr(stock, name))


seem_like(IPythonKernel, Kernel)


def make_kernel() -> Any:
    """Make the kernel, once: each child inherits it untouched.

    Returns the error if it can't be made, which each child reports.
    """
    try:
        return _make_kernel()
    except Exception as error:  # noqa: BLE001 - another IPython may break anything
        return error


def _make_kernel() -> Any:
    config = Config()
    config.HistoryManager.enabled = False  # each child opens its own
    config.HistoryManager.hist_file = ":memory:"  # as the stock client has it
    # As the instance that there is: widgets look for it before they send.
    kernel: Any = Kernel.instance(
        config=config,
        session=ForwardingSession(),
        shell_channel_thread=None,
        user_ns=None,
        log=logging.getLogger("ipykernel"),
    )
    # Where `%matplotlib` and `%gui` look for the kernel; it is never started, and opens nothing.
    application: Any = IPKernelApp.instance()
    application.kernel = kernel
    if _without_debugpy:
        del sys.modules["debugpy"]
    pdb.Pdb = debugger.Pdb = debugger.InterruptiblePdb  # type: ignore[misc,assignment]
    pdb.set_trace = debugger.set_trace
    kernel.shell.extension_manager.load_extension("storemagic")  # as the stock kernel does
    application.patch_io()  # `faulthandler` writes past what a page shows
    _warm_caches(kernel.shell)
    HIDDEN.hide()
    return kernel


def _warm_caches(shell: Any) -> None:
    """Do what each child would do when it first needs it, and what leaves no trace in a page."""
    shell.display_formatter.format(None)
    shell.transform_cell("pass")
    for name in ("ipykernel_launcher", "debugpy"):
        spec_of(name)
    ours = (name for name in sys.modules if name.startswith(f"{__package__}."))
    for name in (*_CALLERS, *ours):
        if module := sys.modules.get(name):
            linecache.getlines(str(module.__spec__ and module.__spec__.origin))
    linecache.getlines(str(Path(__file__).with_name("apart.py")))  # `__main__` has no specification


# Whose sources are read, besides ours, in each page that calls `torch.manual_seed`: it formats the
# stack.
_CALLERS = (
    *("asyncio.base_events", "asyncio.events", "asyncio.runners"),
    *("IPython.core.async_helpers", "IPython.core.interactiveshell"),
    *("ipykernel.ipkernel", "ipykernel.kernelbase", "ipykernel.zmqshell"),
    *("torch.cuda", "torch.cuda.random", "torch.mtia", "torch.random", "torch.xpu"),
    "torch.xpu.random",
)


spec_of = functools.cache(importlib.util.find_spec)


def has_debugpy() -> bool:
    """Return whether a debugger is installed that this kernel does without."""
    return _without_debugpy and spec_of("debugpy") is not None
