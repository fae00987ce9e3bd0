"""Runs the cells of a page in a forked child, by the IPython kernel's own code but without sockets.

The helper loads this file by its path, before it forks: it imports third-party packages only.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import contextvars
import copy
import faulthandler
import fcntl
import functools
import importlib.util
import itertools
import json
import linecache
import logging
import os
import pdb  # noqa: T100 - what it starts is changed, as the stock kernel does
import random
import select
import signal
import sqlite3  # noqa: F401 - for the history of each page
import struct
import sys
import termios
import threading
import time
import types
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

_blocked = "debugpy" not in sys.modules
if _blocked:  # ipykernel does without; loading it takes as long as all the rest, and it warns
    sys.modules["debugpy"] = None  # type: ignore[assignment]
from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from IPython.core import debugger
from jupyter_client.session import Session
from tornado.ioloop import IOLoop
from tornado.platform import asyncio as _needed_by_each_page  # noqa: F401
from traitlets import Any as AnyTrait
from traitlets.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["make_kernel", "prepare", "run_page"]


# In the helper ------------------------------------------------------------------------


class Telling(Session):
    """Stands where the kernel's sockets would be: what it would send is told to the helper."""

    tell: Any = None

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
        """Tell the helper."""
        message = msg_or_type
        if isinstance(message, str):
            metadata = options.get("metadata")
            message = self.msg(message, content, parent=parent, metadata=metadata)
        if os.getpid() == self.pid:  # from a process that a page has forked nothing is sent
            # As the stock session would send it: what is no JSON is changed, or refused.
            *_, metadata, sent = map(self.unpack, self.serialize(message)[2:])
            self.tell({**message, "metadata": metadata, "content": sent}, buffers or [])
        return message


class Kernel(IPythonKernel):
    """The IPython kernel, told what to run by a function call."""

    # Where the stock kernel has its thread of sockets: the main thread runs the cells.
    shell_channel_thread = AnyTrait()
    _execute_sleep = 0.0  # after each cell, for the sockets' sake

    def _publish_execute_input(self, *_: Any) -> None:
        """Leave out: nobody listens for it."""

    def finish_metadata(self, _parent: Any, metadata: Any, _reply: Any) -> Any:
        """Leave out: only whoever asked would read it."""
        return metadata


class Hidden:
    """Packages that are loaded when the page imports them: until then they seem not to be."""

    def __init__(self) -> None:
        self._loaded: dict[str, tuple[set[str], list[Any]]] = {}
        self._packages: dict[str, dict[str, types.ModuleType]] = {}
        self._specs: dict[str, Any] = {}

    def load(self, name: str) -> None:
        """Import a module that pages need, and note which warnings that has Python forget."""
        before, first = set(sys.modules), warnings.filters[0]
        importlib.import_module(name)
        filters = list(itertools.takewhile(lambda each: each is not first, warnings.filters))
        new = {each.partition(".")[0] for each in set(sys.modules) - before}
        self._loaded[name] = (new - sys.stdlib_module_names - {"__mp_main__"}, filters)

    def hide(self) -> None:
        """Take what was loaded away from the table of modules."""
        packages = set().union(*(packages for packages, _ in self._loaded.values()))
        self._packages = {package: {} for package in packages if package in sys.modules}
        for name in list(sys.modules):
            if (package := name.partition(".")[0]) in self._packages:
                self._packages[package][name] = sys.modules.pop(name)
        sys.meta_path.insert(0, self)

    def module(self, name: str) -> Any:
        """Return a module, hidden or not; None if it isn't loaded."""
        package = self._packages.get(name.partition(".")[0], sys.modules)
        return package.get(name)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Say where a module is, if it is one of those."""
        if name not in self._packages:
            return None
        self._specs[name] = self._packages[name][name].__spec__
        spec: Any = copy.copy(self._specs[name])
        spec.loader = self
        return spec

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return the loaded module."""
        return self._packages[spec.name][spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Leave it as it was before it was hidden, with all that its import would have brought."""
        name = module.__name__
        module.__spec__ = spec = self._specs.pop(name)
        module.__loader__ = spec and spec.loader
        self._show(name)
        for each in self._imported_by(name):
            packages, filters = self._loaded.pop(each)
            for package in packages:
                self._show(package)
            for action, message, category, place, line in reversed(filters):
                texts = [pattern.pattern if pattern else "" for pattern in (message, place)]
                warnings.filterwarnings(action, texts[0], category, texts[1], line)
        if not self._packages:
            sys.meta_path.remove(self)

    def _show(self, package: str) -> None:
        sys.modules.update(self._packages.pop(package, {}))

    def _imported_by(self, name: str) -> list[str]:
        """Return the loaded modules that the import of one brings: each brings those before it."""
        names = list(self._loaded)
        return names[: names.index(name) + 1] if name in names else []


HIDDEN = Hidden()


def make_kernel() -> Any:
    """Make the kernel, once: each child inherits it untouched.

    Returns the error if it can't be made, which each child tells.
    """
    try:
        return _make_kernel()
    except Exception as error:  # noqa: BLE001 - another IPython may break anything
        return error


def _make_kernel() -> Any:
    config = Config()
    config.HistoryManager.enabled = False  # each child opens its own
    config.HistoryManager.hist_file = ":memory:"  # as the stock client has it
    log = logging.getLogger("ipykernel")
    # As the instance that there is: widgets look for it before they send.
    kernel: Any = Kernel.instance(
        config=config,
        session=Telling(),
        shell_channel_thread=None,
        user_ns=None,
        log=log,
    )
    # Where `%matplotlib` and `%gui` look for the kernel; it is never started, and opens nothing.
    application: Any = IPKernelApp.instance()
    application.kernel = kernel
    if _blocked:
        del sys.modules["debugpy"]
    pdb.Pdb = debugger.Pdb = debugger.InterruptiblePdb  # type: ignore[misc,assignment]
    pdb.set_trace = debugger.set_trace
    kernel.shell.extension_manager.load_extension("storemagic")  # as the stock kernel does
    application.patch_io()  # `faulthandler` writes past what a page shows
    _warm(kernel.shell)
    HIDDEN.hide()
    return kernel


def _warm(shell: Any) -> None:
    """Do what each child would do when it first needs it, and what leaves no trace in a page."""
    shell.display_formatter.format(None)
    shell.transform_cell("pass")
    for name in ("ipykernel_launcher", "debugpy"):
        _spec(name)
    for name in (*_CALLERS, __name__):
        if module := sys.modules.get(name):
            linecache.getlines(str(module.__spec__ and module.__spec__.origin))


# Whose sources are read in each page that calls `torch.manual_seed`: it formats the stack.
_CALLERS = (
    *("asyncio.base_events", "asyncio.events", "asyncio.runners"),
    *("IPython.core.async_helpers", "IPython.core.interactiveshell"),
    *("ipykernel.ipkernel", "ipykernel.kernelbase", "ipykernel.zmqshell"),
    *("torch.cuda", "torch.cuda.random", "torch.mtia", "torch.random", "torch.xpu"),
    "torch.xpu.random",
)


# In the child -------------------------------------------------------------------------


_NAMED = 4
"""How many threads the stock kernel has numbered before the page has any."""


INHERITED: dict[int, Any] = {}
"""What signals did before the helper came to ignore them."""


def run_page(kernel: Any, job: dict[str, Any], fds: dict[str, int], wire: Any, limit: Any) -> None:
    """Run a page; all that it shows is told to the helper."""
    loop = asyncio.new_event_loop()
    with _setting_up(fds["events"], wire):
        channel = _set_up(kernel, job, fds, wire, limit)
        asyncio.set_event_loop(loop)
        loop.run_until_complete(_rehearse(kernel, channel))
    loop.run_until_complete(_run(kernel, job, channel, limit))


@contextlib.contextmanager
def _setting_up(events: int, wire: Any) -> Iterator[None]:
    """Leave the page to Jupyter if this fails: nothing of it has run yet."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - another IPython may break anything
        why = f"a copy can't be made a kernel: {type(error).__name__}: {error}"
        wire.write_all(events, wire.pack({"type": "unfit", "why": why}))
        os._exit(1)


def _set_up(
    kernel: Any, job: dict[str, Any], fds: dict[str, int], wire: Any, limit: Any
) -> Channel:
    """Make this process a kernel, and return its way to the helper."""
    if isinstance(kernel, Exception):
        raise kernel
    _settle(job)
    channel = Channel(kernel.session, fds, wire, limit, limit.Allowance(job["output_limit"]))
    os.register_at_fork(after_in_child=channel.close)  # what a page forks can't spoil its messages
    kernel.session.tell = channel.told
    kernel.session.pid = os.getpid()
    sys.stdout, sys.stderr = channel.streams
    kernel.shell.init_environment()
    _begin_history(kernel.shell)
    _tell_crashes()
    threading.Thread(target=channel.watch, daemon=True, name="watch").start()
    for _ in range(_NAMED):
        threading.Thread()
    return channel


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


def _settle(job: dict[str, Any]) -> None:
    """Make this process what a fresh one would be: its environment, folder, signals and entropy."""
    wanted = job["environment"]
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    os.environ.update({k: v for k, v in wanted.items() if os.environ.get(k) != v})
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    os.environ.setdefault("PYDEVD_USE_FRAME_EVAL", "NO")
    if not os.environ.get("MPLBACKEND"):
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    time.tzset()
    os.chdir(job["folder"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):  # `nohup` has a build ignore one of them
        signal.signal(number, INHERITED.get(number) or signal.SIG_DFL)
    _seem_launched()
    packages = (i for i, path in enumerate(sys.path) if path.endswith("-packages"))
    sys.path.insert(next(packages, 0), "")  # where the stock kernel has it
    random.seed()
    if numpy_random := HIDDEN.module("numpy.random"):  # else it is loaded, and seeded, later
        numpy_random.seed()
    if torch_random := HIDDEN.module("torch.random"):
        # The generator's own method: `torch.seed` would ask CUDA as well.
        torch_random.default_generator.seed()


def _begin_history(shell: Any) -> None:
    """Begin the history of this page: of what it runs, and of the folders that it was in."""
    manager = shell.history_manager
    manager.enabled = True
    manager.init_db()
    manager.new_session()
    shell.starting_dir = str(Path.cwd())
    manager.dir_hist[:] = [Path.cwd()]


def _tell_crashes() -> None:
    """Have a crash tell its place to the helper; to the page it seems that nobody asked for it."""
    known, is_enabled = faulthandler.enable, faulthandler.is_enabled
    if is_enabled():
        return

    @functools.wraps(known)
    def enable(*arguments: Any, **options: Any) -> None:
        faulthandler.enable, faulthandler.is_enabled = known, is_enabled
        known(*arguments, **options)

    known(2, all_threads=False)
    faulthandler.enable, faulthandler.is_enabled = enable, lambda: False


_spec = functools.cache(importlib.util.find_spec)


def _seem_launched() -> None:
    """Let this process have the name of the stock kernel's, and be as little worth debugging."""
    launcher = _spec("ipykernel_launcher")
    name = str(launcher and launcher.origin)
    sys.argv = [name, "-f", "kernel.json", "--HistoryManager.hist_file=:memory:"]
    if "__mp_main__" in sys.modules:  # the helper's; `__main__` is the page's
        sys.modules["__mp_main__"] = sys.modules["__main__"]
    if _blocked and _spec("debugpy"):
        sys.breakpointhook = lambda *_, **__: None


class Channel:
    """The way to the helper, and the streams whose text goes there."""

    def __init__(
        self, session: Any, fds: dict[str, int], wire: Any, limit: Any, allowance: Any
    ) -> None:
        """Take the ends of the pipes, and what may be printed."""
        self._events, self._control = fds["events"], fds["control"]
        self._wire, self._limit, self._allowance = wire, limit, allowance
        self._pid = os.getpid()
        self.captures = Captures(session)
        self._writing, self._reading = threading.RLock(), threading.RLock()
        self.streams = [Printing(self, session, "stdout", 1), Printing(self, session, "stderr", 2)]
        self._watched = list(zip(self.streams, (fds["out"], fds["err"]), strict=True))

    def tell(self, **message: Any) -> None:
        """Send a message to the helper."""
        if self.is_copied:
            return
        self.captures.hear(message)
        data = self._wire.pack(message)
        with self._writing:
            if not self._allowance.admits(message, len(data)):
                self._stop(message)
            self._wire.write_all(self._events, data)

    def _stop(self, message: dict[str, Any]) -> None:
        """End this process, which prints without end, with the last that it printed."""
        last = []
        if message["type"] == "stream":
            last = [{**message, "text": self._limit.clipped(message["text"])}]
        with self._writing:
            for each in (*last, {"type": "excess"}):
                self._wire.write_all(self._events, self._wire.pack(each))
            os._exit(0)

    def may_go_on(self) -> bool:
        """Ask the helper whether the page goes on after an error."""
        return os.read(self._control, 1) == b"+"

    @property
    def is_copied(self) -> bool:
        """Whether this process was forked by the page, which alone speaks to the helper.

        It would tell once more all that the page itself tells, or break its messages in two.
        """
        return os.getpid() != self._pid

    def close(self) -> None:
        """Close the way to the helper, in a process that the page has forked."""
        for fd in (self._events, self._control):
            with contextlib.suppress(OSError):  # the page may have closed it
                os.close(fd)

    def told(self, message: dict[str, Any], buffers: list[Any]) -> None:
        """Pass on what the kernel sends."""
        self.tell(
            type=message["msg_type"],
            content=message["content"],
            metadata=message["metadata"],
            buffers=[base64.b64encode(buffer).decode("ascii") for buffer in buffers],
            cell=(message.get("parent_header") or {}).get("msg_id", ""),
        )

    def printed(self, stream: Printing, text: str) -> None:
        """Pass on a piece of a stream."""
        if not text:
            return
        too_long = len(text) > self._allowance.limit
        if too_long:  # to be copied, and refused
            text = self._limit.clipped(text)
        text = text.encode(errors="backslashreplace").decode()  # half a surrogate is no text
        cell = stream.parent_header.get("msg_id", "")
        message = {"type": "stream", "name": stream.name, "text": text, "cell": cell}
        if too_long and not self.is_copied:
            self._stop(message)
        self.tell(**message)

    def drain(self) -> None:
        """Pass on what was written past Python, to a descriptor itself, by a subprocess, say."""
        with self._reading:
            for stream, fd in self._watched:
                while size := struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]:
                    self.printed(stream, os.read(fd, size).decode(errors="replace"))

    def watch(self) -> None:
        """Drain whenever there is something, in a thread: a full pipe would stop a subprocess."""
        poll = select.poll()
        for _, fd in self._watched:
            poll.register(fd, select.POLLIN)
        while True:
            poll.poll()
            self.drain()


class Captures:
    """Tells output widgets what they capture, as the stock client does from outside."""

    def __init__(self, session: Any) -> None:
        """Take the session, which makes messages."""
        self.session = session
        self.shell_channel = self
        self._widgets: dict[str, Any] = {}
        self._active: list[Any] = []
        self._printed: dict[str, str] = {}
        self._messages: list[dict[str, Any]] = []

    def hear(self, message: dict[str, Any]) -> None:
        """Take in what the page shows, if a widget captures it."""
        kind, content = message["type"], message.get("content", {})
        if kind == "comm_open" and content.get("target_name") == "jupyter.widget":
            self._open(content["comm_id"], content["data"].get("state", {}))
        elif kind == "comm_msg" and content["comm_id"] in self._widgets:
            self._widgets[content["comm_id"]].handle_msg(message)
        elif not self._active:
            return
        elif kind == "stream":
            self._printed[message["name"]] = (
                self._printed.get(message["name"], "") + message["text"]
            )
        elif kind == "flush":
            if text := self._printed.pop(message["name"], ""):
                self._capture("stream", {"content": {"name": message["name"], "text": text}})
        elif kind in _CAPTURED:
            self._capture(kind, message)

    def _open(self, comm_id: str, state: dict[str, Any]) -> None:
        if state.get("_model_name") != "OutputModel":
            return
        from nbclient.output_widget import OutputWidget  # noqa: PLC0415 - hardly a page needs it

        client: Any = self  # the part of a client that a widget needs
        self._widgets[comm_id] = OutputWidget(comm_id, copy.deepcopy(state), client, self)

    def register_output_hook(self, _cell: str, widget: Any) -> None:
        """Have a widget capture what is shown from now on."""
        self._active.append(widget)

    def remove_output_hook(self, _cell: str, widget: Any) -> None:
        """Have it capture no more."""
        self._active.remove(widget)

    def _capture(self, kind: str, message: dict[str, Any]) -> None:
        shown = {"metadata": {}, **message, "header": {"msg_type": kind}, "parent_header": {}}
        if kind == "clear_output":
            self._active[-1].clear_output([], shown, 0)
        else:
            self._active[-1].output([], shown, None, 0)

    def send(self, message: dict[str, Any]) -> None:
        """Keep what is for the kernel until it has time."""
        self._messages.append(message)

    def deliver(self, kernel: Any) -> None:
        """Give the kernel what the stock client would have sent it during a cell."""
        while self._messages:
            message = {**self._messages.pop(0), "buffers": []}
            kernel.set_parent([], message, "shell")
            kernel.comm_manager.comm_msg(None, [], message)


_CAPTURED = {"clear_output", "display_data", "error", "execute_result"}


class Printing(OutStream):
    """What ``print`` writes to in a cell; each piece is told at once."""

    # The stock stream's own start would begin threads.
    def __init__(self, channel: Channel, session: Any, name: str, fd: int) -> None:
        """Stand for a standard stream."""
        self._channel = channel
        self._fd = fd
        self.session = session
        self.name = name
        self.topic: Any = b"stream." + name.encode()
        self.pub_thread = self  # any but None: the stream is open
        self.echo = None
        self._parent_header = contextvars.ContextVar("parent_header")
        self._parent_header_global = {}
        self._master_pid = os.getpid()
        self._isatty = False
        self._should_watch = False
        self._local = threading.local()
        self._nowhere = os.open(os.devnull, os.O_WRONLY)

    def fileno(self) -> int:
        """Return where the stock kernel's own output goes, which no page shows."""
        return self._nowhere

    def write(self, string: str) -> int:
        """Tell a piece of text."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string)}")
        if os.getpid() == self._master_pid:
            self._channel.drain()
            self._channel.printed(self, string)
        else:  # in a process that the page has forked
            os.write(self._fd, string.encode(errors="replace"))
        return len(string)

    def flush(self) -> None:
        """Tell that the stock kernel sends at this point what was printed."""
        if os.getpid() == self._master_pid:
            self._channel.drain()
            self._channel.tell(type="flush", name=self.name)


for _ours in (Kernel, Printing):  # a page that shows their types shows the stock ones
    for _name in ("__name__", "__qualname__", "__module__"):
        setattr(_ours, _name, getattr(_ours.__base__, _name))


async def _run(kernel: Any, job: dict[str, Any], channel: Channel, limit: Any) -> None:
    """Run the functions for before, the cells, and the functions for after."""
    channel.tell(type="begun", language=kernel.language_info)
    for source in job["before"]:
        _call(source)
    for index, code in enumerate(job["cells"]):
        channel.tell(type="cell", index=index)
        ending = await _run_cell(kernel, index, code)
        if channel.is_copied:
            os._exit(0)  # it was forked in the cell, which is over
        if "evalue" in ending:  # the output itself has all of it
            ending["evalue"] = limit.clipped(ending["evalue"])
        channel.tell(type="ended", index=index, **ending)
        if ending["status"] != "ok" and not channel.may_go_on():
            break
        if kernel.shell.exit_now and index + 1 < len(job["cells"]):
            os._exit(0)
        channel.captures.deliver(kernel)
        await asyncio.sleep(0)  # what a cell left for later may begin
    answers = {name: _call(source) for name, source in job["after"].items()}
    channel.drain()
    channel.tell(type="answers", answers=json.loads(json.dumps(answers)))
    os._exit(0)  # what still runs is not waited for: the stock kernel is killed, too


async def _run_cell(kernel: Any, index: int, code: str, *, silent: bool = False) -> dict[str, Any]:
    """Run a cell as the kernel does when it is asked to, and return its reply."""
    content = {"code": code, "silent": silent, "store_history": not silent, "stop_on_error": False}
    request = kernel.session.msg("execute_request", content)
    request["header"]["msg_id"] = request["msg_id"] = f"cell-{index}"
    kernel.set_parent([], request, "shell")
    reply: dict[str, Any] = {}
    tell = kernel.session.tell

    def listen(message: dict[str, Any], buffers: list[Any]) -> None:
        if message["msg_type"] == "execute_reply":
            reply.update(message["content"])
        else:
            tell(message, buffers)

    kernel.session.tell = listen
    try:
        await kernel.execute_request(None, [], request)
    finally:
        kernel.session.tell = tell
    named = ("status", "ename", "evalue", "execution_count")
    return {name: reply[name] for name in named if name in reply}


def _call(source: str) -> Any:
    """Call the function that a source defines, in a namespace of its own."""
    space: dict[str, Any] = {}
    exec(_compiled(source), space)  # noqa: S102 - it is the caller's own function, sent as text
    return space[next(name for name in reversed(space) if callable(space[name]))]()


@functools.cache
def _compiled(source: str) -> types.CodeType:
    return compile(source, "<sphinx_drift.run>", "exec")


def prepare(job: dict[str, Any]) -> None:
    """Do before the fork what is the same for all pages, and touches nothing of theirs."""
    for source in (*job["before"], *job["after"].values()):
        _compiled(source)
