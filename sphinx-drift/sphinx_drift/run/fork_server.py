"""A process that has libraries loaded, and forks a Jupyter kernel for each request.

:mod:`sphinx_drift.run.provisioner` starts it as a script. It imports nothing of this package, so
that no kernel inherits any of it; it computes nothing, touches no GPU and has one thread, because
a fork copies no other and a child would wait for them for ever.

Who owns, ends and closes what:

- *The server* belongs to the process that has the other end of its standard input, and ends when
  that closes: a client that is killed closes it too.
- *The guard* is the server's parent and does nothing but wait. What kernels leave behind becomes
  its child, and it kills that when the server is gone. A server whose guard is gone ends.
- *A kernel* belongs to the connection that asked for it. When the connection closes, the server
  kills the kernel's process group; when the server is killed, Linux kills the kernel.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import glob
import importlib
import importlib.util
import io
import json
import os
import selectors
import signal
import socket
import struct
import sys
import time
import warnings
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

LENGTH = struct.Struct("!I")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PATIENCE = 10.0
"""Seconds that a client may take to send its request."""

# What a kernel would import while it starts: once here instead of once in each.
_KERNEL = (
    *("ipykernel.debugger", "ipykernel.kernelapp", "ipykernel.ipkernel", "faulthandler"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.interactiveshell"),
    *("IPython.core.oinspect", "IPython.extensions.storemagic", "IPython.utils.wildcard"),
    *("tornado.platform.asyncio", "tornado.queues", "traitlets.config.argcomplete_config"),
    *("sqlite3", "unicodedata"),
)


class Group(NamedTuple):
    """What the import of one library has brought."""

    modules: dict[str, types.ModuleType]
    filters: list[Any]
    """Warnings that it filters."""


class Preloaded:
    """Libraries that are loaded, and hidden from a kernel until it imports them.

    Pages and libraries ask ``sys.modules`` what is there; what nobody imported must not be.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._groups: list[Group] = []

    def load(self, name: str) -> bool:
        """Import a library, and return whether it may stay.

        What it shows, pages must show; and what looks for a kernel, and finds none, is another.
        """
        before, shown = set(sys.modules), io.StringIO()
        shell = importlib.import_module("IPython.core.interactiveshell")
        looked_for: list[type] = []
        shell.InteractiveShell.initialized = classmethod(looked_for.append)
        with (
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(shown),
            contextlib.redirect_stderr(shown),
        ):
            first = warnings.filters[0]
            try:
                importlib.import_module(name)
            except BaseException:  # noqa: BLE001 - a library may raise anything, and pages show it
                return False
            finally:
                del shell.InteractiveShell.initialized
            filters = list(takewhile(lambda each: each is not first, warnings.filters))
        new = set(sys.modules) - before - {"__mp_main__"}
        foreign = (each for each in new if each.partition(".")[0] not in sys.stdlib_module_names)
        self._groups.append(Group({each: sys.modules[each] for each in foreign}, filters))
        return not shown.getvalue() and not warned and not looked_for

    def hide(self) -> None:
        """Take them out of the table of modules."""
        for group in self._groups:
            for name in group.modules:
                sys.modules.pop(name, None)
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return a hidden module's specification, with this object as its loader."""
        for group in self._groups:
            if name in group.modules:
                spec: Any = copy.copy(group.modules[name].__spec__)
                spec.loader = self
                spec.loader_state = group
                return spec
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return the module that is loaded already."""
        group: Group = spec.loader_state
        self._own_spec = group.modules[spec.name].__spec__
        return group.modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Restore a module's own specification, and unhide all that its import had loaded."""
        spec: Any = module.__spec__
        own: Any = self._own_spec
        module.__spec__, module.__loader__ = own, own and own.loader
        group: Group = spec.loader_state
        if group in self._groups:
            self._groups.remove(group)
            sys.modules.update(group.modules)
            for action, message, category, place, line in reversed(group.filters):
                texts = [pattern.pattern if pattern else "" for pattern in (message, place)]
                warnings.filterwarnings(action, texts[0], category, texts[1], line)


class Server:
    """Accepts requests and forks; each kernel has the connection that asked for it."""

    def __init__(self, listening: socket.socket) -> None:
        """Listen, and watch the owner and the guard."""
        self._listening = listening
        self._selector = selectors.DefaultSelector()
        self._guard = os.pidfd_open(os.getppid())
        for end in (0, self._guard):
            self._selector.register(end, selectors.EVENT_READ, self._end)
        self._selector.register(listening, selectors.EVENT_READ, self._accept)
        self._kernels: dict[int, tuple[int, socket.socket]] = {}
        """Process and connection of each kernel, by its pidfd."""

    def serve(self) -> dict[str, Any]:
        """Serve for ever; in a kernel's process, return what it is to run."""
        while True:
            for key, _ in self._selector.select():
                if request := key.data(key.fd):
                    return dict(request)

    def _end(self, _fd: int) -> None:
        for pid, _ in self._kernels.values():
            _kill_group(pid)
        os._exit(0)

    def _accept(self, _fd: int) -> dict[str, Any] | None:
        connection, _ = self._listening.accept()
        connection.settimeout(_PATIENCE)
        streams: list[int] = []
        try:
            _, user, _ = struct.unpack("3i", connection.getsockopt(*_CREDENTIALS))
            if user != os.getuid():
                raise PermissionError("this server belongs to another user")
            request = _receive(connection, streams)
            if (threads := len(os.listdir("/proc/self/task"))) != 1:  # noqa: PTH208 - texts
                raise RuntimeError(f"the fork server has {threads} threads")  # noqa: TRY301
        except (OSError, RuntimeError, ValueError) as error:
            with contextlib.suppress(OSError):
                _send(connection, {"declined": str(error)})
            for stream in streams:
                os.close(stream)
            connection.close()
            return None
        pid = os.fork()
        if pid == 0:
            connection.close()
            self._leave()
            return {**request, "streams": streams}
        for stream in streams:
            os.close(stream)
        process = os.pidfd_open(pid)
        self._kernels[process] = pid, connection
        self._selector.register(process, selectors.EVENT_READ, self._reap)
        self._selector.register(connection, selectors.EVENT_READ, lambda _: self._drop(process))
        with contextlib.suppress(OSError):
            _send(connection, {"pid": pid})
        return None

    def _leave(self) -> None:
        """Close in a kernel's process all that is the server's."""
        for _, connection in self._kernels.values():
            connection.close()
        for end in (*self._kernels, 0, self._guard):
            os.close(end)
        self._listening.close()
        self._selector.close()

    def _reap(self, process: int) -> None:
        """Report how a kernel ended, and kill what it has started."""
        pid, connection = self._kernels.pop(process)
        _kill_group(pid)
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(OSError, KeyError):
            self._selector.unregister(connection)
        with contextlib.suppress(OSError):
            _send(connection, {"exit": os.waitstatus_to_exitcode(status)})
        connection.close()
        self._selector.unregister(process)
        os.close(process)

    def _drop(self, process: int) -> None:
        """Kill a kernel whose client is gone; its end is noticed like any other."""
        pid, connection = self._kernels[process]
        self._selector.unregister(connection)
        _kill_group(pid)


_CREDENTIALS = socket.SOL_SOCKET, getattr(socket, "SO_PEERCRED", 17), struct.calcsize("3i")


def _receive(connection: socket.socket, streams: list[int]) -> dict[str, Any]:
    """Return a request; add the descriptors that its kernel writes to."""
    head, received, _, _ = socket.recv_fds(connection, LENGTH.size, 2)
    streams += received
    if len(head) < LENGTH.size:
        raise ConnectionError("the client hung up")
    size, data = LENGTH.unpack(head)[0], b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("the client hung up")
        data += piece
    return dict(json.loads(data))


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _kill_group(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):  # it may not have left the server's group yet
        os.kill(pid, signal.SIGKILL)


def leave_guard(listening: int) -> None:
    """Fork the server, which returns, from its guard, which waits and ends what outlives it."""
    adopt_orphans()
    server = os.fork()
    if server == 0:
        return
    for fd in (0, listening):  # or a client would wait for a server that is gone
        os.close(fd)
    while os.wait()[0] != server:  # others are what kernels have left, and have ended
        pass
    kill_children()
    os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_children() -> None:
    """Kill all children, and those that come here when their own parent is killed."""
    while pids := list(_children()):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.wait()


def _children() -> Iterator[int]:
    """Yield the children of this process, which Linux lists by thread."""
    for path in glob.glob("/proc/self/task/*/children"):  # noqa: PTH207 - texts
        # A thread may have ended by now.
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:  # noqa: PTH123 - a text
            yield from map(int, file.read().split())


def become_kernel(request: dict[str, Any], server: int, preloaded: Preloaded) -> None:
    """Make this process what a fresh one is that runs ``python -m ipykernel_launcher``."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != server:
        os._exit(1)
    for number, stream in enumerate(request["streams"], start=1):
        os.dup2(stream, number)
        os.close(stream)
    null = os.open(os.devnull, os.O_RDONLY)  # which may be 0 itself: it is closed by now
    os.dup2(null, 0)
    os.set_inheritable(0, True)  # noqa: FBT003 - it takes no name
    for number, handler in request["handlers"].items():
        signal.signal(number, handler)  # a build under nohup has them ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.environ["JPY_PARENT_PID"] = str(server)
    time.tzset()
    os.chdir(request["folder"])
    # Python's own generator is seeded anew by the fork; these were seeded once for all kernels.
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()  # not torch.seed, which would ask CUDA as well
    preloaded.hide()
    if importlib.util.find_spec("debugpy"):  # without it, what a kernel is that has it
        os.environ.setdefault("PYDEVD_USE_FRAME_EVAL", "NO")
        sys.breakpointhook = lambda *_, **__: None
    launcher = importlib.util.find_spec("ipykernel_launcher")
    sys.argv = [str(launcher and launcher.origin), *request["arguments"]]


def main(words: list[str]) -> None:
    """Load libraries, serve until the owner is gone, and in each child run a kernel."""
    listening, names = int(words[0]), words[1:]
    # A terminal sends them to all processes of a build, and the owner decides when this one ends.
    ignored = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    if os.environ.pop("_FORK_SERVER_GUARDED", "") != str(os.getppid()):
        leave_guard(listening)
    gc.disable()  # what is loaded stays: looking for garbage in it takes a third of the time
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a debugger starts threads
    for name in _KERNEL:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    del sys.modules["debugpy"]
    # As IPython's kernel has it before anything can import Matplotlib, which reads it then.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    preloaded = Preloaded()
    for name in names:
        if importlib.util.find_spec(name) and not preloaded.load(name):
            # An import can't be undone. What shows something is left to the pages that import it.
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.environ["_FORK_SERVER_GUARDED"] = str(os.getppid())
            rest = [each for each in names if each != name]
            os.execv(sys.executable, [*sys.orig_argv[:4], words[0], *rest])  # noqa: S606 - ours
    os.environ.pop("OPENBLAS_NUM_THREADS", None)
    gc.freeze()  # a collection in a child would copy all that it shares with this process
    gc.enable()
    server = os.getpid()
    request = Server(socket.socket(fileno=listening)).serve()
    become_kernel({**request, "handlers": handlers}, server, preloaded)
    application = importlib.import_module("ipykernel.kernelapp").IPKernelApp
    application.launch_instance(parent_handle=server)  # it has read the variable long ago


if __name__ == "__main__":
    main(sys.argv[2:])
