"""A process that has libraries loaded, and forks a Jupyter kernel for each request.

:mod:`forked_kernels.provisioner` starts it as a script. It imports nothing of this package,
so that no kernel inherits any of it; it computes nothing, touches no GPU and has one thread,
because a fork copies no other and a child would wait for them for ever.

Who owns, ends and closes what:

- *The server* belongs to the process that has the other end of its standard input, and ends when
  that closes: a client that is killed closes it too.
- *A kernel* belongs to the connection that asked for it. When the connection closes, the server
  kills the kernel's process group; when the server is killed, Linux kills the kernel.
- *What a kernel leaves behind* becomes the server's child, and ends with it at the latest.
"""

import atexit
import builtins
import contextlib
import copy
import ctypes
import gc
import glob
import importlib
import importlib.util
import io
import json
import linecache
import os
import selectors
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import types
import warnings
import weakref
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

ANSWER = struct.Struct("!i")
"""The kernel's process, and later its exit status; or 0, and why there is none."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PATIENCE = 10.0
"""Seconds that a client may take to send its request."""
_PAUSE = 0.1

# What a kernel would import while it starts: once here instead of once in each.
_KERNEL = (
    *("ipykernel.debugger", "ipykernel.kernelapp", "ipykernel.ipkernel", "faulthandler"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.interactiveshell"),
    *("IPython.core.logger", "IPython.core.oinspect", "IPython.extensions.storemagic"),
    "IPython.utils.wildcard",
    *("tornado.platform.asyncio", "tornado.queues", "traitlets.config.argcomplete_config"),
    *("sqlite3", "unicodedata"),
)


class Group(NamedTuple):
    """What the import of one library has brought."""

    modules: dict[str, types.ModuleType]
    filters: list[Any]
    """Warnings that it filters."""


def _is_foreign(module: str) -> bool:
    """Whether a module is none of Python's own."""
    return module.partition(".")[0] not in sys.stdlib_module_names


class Preloaded:
    """Libraries that are loaded, and hidden from a kernel until it imports them.

    Pages and libraries ask ``sys.modules`` what is there; what nobody imported must not be.
    In a kernel it is a meta path finder, and the loader of what it finds.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._groups: list[Group] = []

    def load(self, name: str) -> None:
        """Import a library.

        Raises:
            ImportError: If its import shows something, which pages must show, or looks for a
                kernel, which is not there yet; or if nobody installed it: who saves such a module
                wants the pages to import it as it is then.

        """
        before, shown, looked_for = set(sys.modules), io.StringIO(), []  # type: ignore[var-annotated]
        shell = importlib.import_module("IPython.core.interactiveshell")
        shell.InteractiveShell.initialized = classmethod(looked_for.append)  # notes who asks
        vars(builtins)["get_ipython"] = lambda: looked_for.append(None)  # as pandas asks
        try:
            with (
                warnings.catch_warnings(record=True) as warned,
                contextlib.redirect_stdout(shown),
                contextlib.redirect_stderr(shown),
            ):
                first = warnings.filters[0]
                importlib.import_module(name)
                filters = list(takewhile(lambda added: added is not first, warnings.filters))
        finally:
            del shell.InteractiveShell.initialized, vars(builtins)["get_ipython"]
        if texts := [*(str(warning.message) for warning in warned), *shown.getvalue().splitlines()]:
            raise ImportError(f"its import shows {texts[0]!r}")
        if looked_for:
            raise ImportError("its import looks for a kernel")
        file = getattr(sys.modules[name], "__file__", None)
        packages = {"site-packages", "dist-packages"}
        if file and _is_foreign(name) and packages.isdisjoint(file.split("/")):
            raise ImportError("it isn't installed, so it may be saved after it is loaded")
        new = set(sys.modules) - before - {"__mp_main__"}
        foreign = filter(_is_foreign, new)
        self._groups.append(Group({module: sys.modules[module] for module in foreign}, filters))

    def hide(self) -> None:
        """Take them out of the table of modules."""
        for group in self._groups:
            for name in group.modules:
                sys.modules.pop(name, None)
        sys.meta_path.insert(0, self)

    def get(self, name: str) -> Any:
        """Return a module that is hidden; None if there is none of that name."""
        return next((g.modules[name] for g in self._groups if name in g.modules), None)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return a hidden module's specification, with this object as its loader."""
        for group in self._groups:
            if name in group.modules:
                spec: Any = copy.copy(group.modules[name].__spec__)
                spec.loader = self
                spec.loader_state = group, group.modules[name].__spec__
                return spec
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return the module that is loaded already."""
        group: Group = spec.loader_state[0]
        return group.modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Restore a module's own specification, and unhide all that its import had loaded."""
        spec: Any = module.__spec__
        group, own = spec.loader_state
        module.__spec__, module.__loader__ = own, own and own.loader
        if group in self._groups:
            self._groups.remove(group)
            sys.modules.update(group.modules)
            for action, message, category, place, line in reversed(group.filters):
                texts = [pattern.pattern if pattern else "" for pattern in (message, place)]
                warnings.filterwarnings(action, texts[0], category, texts[1], line)


class Server:
    """Accepts requests and forks; each kernel has the connection that asked for it."""

    def __init__(self, listening: socket.socket, refusal: str) -> None:
        """Listen, and watch the owner and the children."""
        self._listening, self._refusal = listening, refusal
        listening.settimeout(0)
        self._kernels: dict[int, socket.socket] = {}
        self._ended, self._wakes = socket.socketpair()
        for end in (self._ended, self._wakes):
            end.settimeout(0)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector = selectors.DefaultSelector()
        for source, handle in ((0, _end), (self._ended, self._reap), (listening, self._accept)):
            self._selector.register(source, selectors.EVENT_READ, handle)

    def serve(self) -> dict[str, Any]:
        """Serve for ever; in a kernel's process, return what it is to run."""
        while True:
            for key, _ in self._selector.select():
                if request := key.data():
                    return dict(request)

    def _accept(self) -> dict[str, Any] | None:
        try:
            connection, _ = self._listening.accept()
        except OSError:  # no descriptor is left, perhaps: until one is, who asks waits
            time.sleep(_PAUSE)
            return None
        connection.settimeout(_PATIENCE)
        streams: list[int] = []
        try:
            request = self._receive(connection, streams)
            pid = os.fork()
        except Exception as error:  # noqa: BLE001 - no request may end the other kernels
            with contextlib.suppress(OSError):
                connection.sendall(ANSWER.pack(0) + str(error).encode(errors="replace"))
            connection.close()
            pid = -1
        if pid == 0:
            self._leave(connection)
            return {**request, "streams": streams}
        for stream in streams:
            os.close(stream)
        if pid > 0:
            self._kernels[pid] = connection
            self._selector.register(connection, selectors.EVENT_READ, lambda: self._drop(pid))
            with contextlib.suppress(OSError):
                connection.sendall(ANSWER.pack(pid))
        return None

    def _receive(self, connection: socket.socket, streams: list[int]) -> dict[str, Any]:
        """Return a request, a line of JSON; add the descriptors that its kernel writes to."""
        _, user, _ = struct.unpack("3i", connection.getsockopt(*_CREDENTIALS))
        if user != os.getuid():
            raise PermissionError("this server belongs to another user")
        data = b""
        while not data.endswith(b"\n"):
            piece, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 2)
            streams += descriptors
            data += piece
            if not piece:
                raise ConnectionError("the client hung up")
        if self._refusal:
            raise RuntimeError(self._refusal)
        if (threads := len(os.listdir("/proc/self/task"))) != 1:  # noqa: PTH208 - texts
            raise RuntimeError(f"the fork server has {threads} threads")
        return dict(json.loads(data))

    def _leave(self, connection: socket.socket) -> None:
        """Close in a kernel's process all that is the server's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        own = self._listening, self._ended, self._wakes
        for end in (*own, connection, *self._kernels.values()):
            end.close()
        os.close(0)

    def _reap(self) -> None:
        """Report how kernels ended, and kill what they have started."""
        self._ended.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                pid = child.si_pid
                if connection := self._kernels.pop(pid, None):
                    _kill_group(pid)  # while no other process can have its number
                _, status = os.waitpid(pid, 0)
                if connection:
                    with contextlib.suppress(OSError, KeyError):
                        self._selector.unregister(connection)
                    with contextlib.suppress(OSError):
                        connection.sendall(ANSWER.pack(os.waitstatus_to_exitcode(status)))
                    connection.close()

    def _drop(self, pid: int) -> None:
        """Kill a kernel whose client is gone; its end is noticed like any other."""
        if pid in self._kernels:
            self._selector.unregister(self._kernels[pid])
            _kill_group(pid)


_CREDENTIALS = socket.SOL_SOCKET, getattr(socket, "SO_PEERCRED", 17), struct.calcsize("3i")


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):  # it may not have left the server's group yet
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)


def _end() -> None:
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
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a build under nohup ignores it
    os.environ.clear()
    os.environ.update(request["environment"])
    os.environ["JPY_PARENT_PID"] = str(server)
    time.tzset()
    os.chdir(request["folder"])
    # Since Python 3.13, what its `-c` has run stands in the first, and by now in the second.
    linecache.cache.pop("<string>", None)
    vars(linecache).get("_interactive_cache", {}).clear()
    process: Any = sys.modules.get("multiprocessing.process")
    if process:  # there, the processes that a page spawns look for modules
        process.ORIGINAL_DIR = os.getcwd()  # noqa: PTH109 - as it is there
    # Python's own generator is seeded anew by the fork; these were seeded once for all kernels.
    if numpy_random := preloaded.get("numpy.random"):
        numpy_random.seed()
    if torch := preloaded.get("torch"):
        torch.default_generator.seed()  # not torch.seed, which would ask CUDA as well
    if importlib.util.find_spec("debugpy"):  # not loaded: make the kernel look as if it were
        os.environ.setdefault("PYDEVD_USE_FRAME_EVAL", "NO")
        sys.breakpointhook = lambda *_, **__: None
    launcher = importlib.util.find_spec("ipykernel_launcher")
    sys.executable = request["executable"]
    sys.argv = [str(launcher and launcher.origin), *request["arguments"]]


def make_kernel(server: int) -> Any:
    """Return a kernel as ``ipykernel_launcher`` makes it, ready to start."""
    application = importlib.import_module("ipykernel.kernelapp").IPKernelApp
    kernel = application.instance(parent_handle=server)  # it has read the variable long ago
    match sys.argv[1:]:
        # As nearly every kernelspec has it, and nbclient; a parser takes 4 ms to make.
        case ["-f", file, *others] if others in ([], ["--HistoryManager.hist_file=:memory:"]):
            kernel.argv = sys.argv[1:]
            kernel.cli_config.IPKernelApp.connection_file = file
            if others:
                kernel.cli_config.HistoryManager.hist_file = ":memory:"
            kernel.update_config(kernel.cli_config)
            kernel.parse_command_line = lambda _: None
    kernel.initialize()
    return kernel


def end_kernel(kernel: Any) -> None:
    """Do what Python does at its end, but for taking apart what was loaded before the fork.

    That would copy all of it: 0.2 s for a kernel with PyTorch.
    """
    # ipykernel closes its output while this thread still flushes it, which then waits for 10 s.
    kernel.control_thread.join(_PATIENCE)
    # Nothing public does either; the first ends idle threads of pools, and waits for all others.
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    kernel.shell.user_ns.clear()  # which closes files, and calls what objects have for their end
    gc.collect()
    files: Any = io.IOBase.__base__  # its abstract class would look at the type of each object
    for thing in gc.get_objects():  # those from before the fork are not among them
        if isinstance(thing, files):
            with contextlib.suppress(Exception):
                thing.flush()
    ctypes.CDLL(None).fflush(None)


def main(arguments: Sequence[str]) -> None:
    """Load libraries, serve until the owner is gone, and in each child run a kernel."""
    adopt_orphans()
    gc.disable()  # what is loaded stays: looking for garbage in it takes a third of the time
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a debugger starts threads
    for name in _KERNEL:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    del sys.modules["debugpy"]
    threading.Thread()  # debugpy makes one, too: the names of a page's go on from there
    # As IPython's kernel has it before anything can import Matplotlib, which reads it then.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    preloaded, refusal = Preloaded(), ""
    with contextlib.suppress(ImportError):
        preloaded.load("psutil")  # which ipykernel imports when it ends
    for name in arguments[1:]:
        try:
            preloaded.load(name)
        except BaseException as error:  # noqa: BLE001 - a library may raise anything
            refusal = f"{name} can't be preloaded: {error!s:.800}; take it out of `preload`"
            break
    os.environ.pop("OPENBLAS_NUM_THREADS", None)
    # What can be done here needs no copy of what it touches in each child.
    finalizers: Any = weakref.finalize
    for finalizer in [*finalizers._registry]:  # noqa: SLF001 - of what was loaded; torch has 130
        finalizer.atexit = False
    preloaded.hide()
    gc.freeze()  # a collection in a child would copy all that it shares with this process
    server = os.getpid()
    request = Server(socket.socket(fileno=int(arguments[0])), refusal).serve()
    status = 1
    try:
        become_kernel(request, server, preloaded)
        kernel = make_kernel(server)
        gc.enable()
        kernel.start()
        end_kernel(kernel)
        status = 0
    except SystemExit as ended:  # as Python takes its code
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - Python would print it and end, but do more at its end
        traceback.print_exc(file=sys.__stderr__)  # ipykernel's own goes to a client
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[2:])
