"""A Jupyter kernel provisioner that forks: ``kernel_provisioner: {provisioner_name: forked}``.

It asks a fork server (:mod:`forked_kernels.fork_server`) for kernels of this very Python, and
starts every other one as Jupyter always does. It imports nothing of Sphinx or of the comparison.
"""

import asyncio
import atexit
import contextlib
import json
import logging
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import List, Unicode

from forked_kernels.fork_server import ANSWER

NAME = "forked"
ADDRESS_VARIABLE = "FORKED_KERNELS_SERVER"
"""A server that an owner keeps for the processes that it starts: its address and environment."""
_LONGEST_START = 120.0
"""Seconds that a server may take to load its libraries, before a kernel is started without it."""
_LONGEST_END, _POLITE_END = 10.0, 1.0
# What a process reads once, when it starts or loads a library: another value needs another server.
_READ_ONCE = (
    *("GOMP_", "KMP_", "LANG", "LC_", "LD_", "MKL_", "MPL", "OMP_", "OPENBLAS_", "PYTHON"),
    *("PYTORCH_", "TORCH_"),
)
# Without the working folder, whose modules are no libraries; -P would be inherited by kernels.
_RUN = (
    "import sys; sys.path[0] or sys.path.pop(0); import runpy; "
    "runpy.run_path(sys.argv[1], None, '__main__')"
)
_DEVNULL = os.open(os.devnull, os.O_WRONLY)
_LOGGER = logging.getLogger(__name__)


class CannotForkError(Exception):
    """Why a kernel is not forked."""


class ForkedKernel:
    """A kernel's process, with what Jupyter asks of a :class:`subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, connection: socket.socket, pid: int) -> None:
        """Take the connection that it lives as long as."""
        self.pid = pid
        self.returncode: int | None = None
        self._connection = connection
        self._is_awaited = False

    def poll(self) -> int | None:
        """Return the exit status; None while the process runs."""
        return self.returncode if self._is_awaited else self._status(0.0)

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit status once there is one; None if the process runs for longer."""
        return self._status(timeout)

    def _status(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self._end(self._connection.recv(ANSWER.size))
            except (BlockingIOError, TimeoutError):
                return None
            except OSError:
                self._end(b"")
        return self.returncode

    async def ended(self, seconds: float) -> None:
        """Wait for the end, but not longer than some seconds, while other coroutines run."""
        if self.returncode is None:
            self._connection.settimeout(0)
            self._is_awaited = True  # the status comes once
            receive = asyncio.get_running_loop().sock_recv(self._connection, ANSWER.size)
            try:
                self._end(await asyncio.wait_for(receive, seconds))
            except TimeoutError:
                return
            except OSError:
                self._end(b"")
            finally:
                self._is_awaited = False

    def _end(self, answer: bytes) -> None:
        # A server that is gone has taken its kernels with it.
        self.returncode = ANSWER.unpack(answer)[0] if answer else -signal.SIGKILL
        self._connection.close()

    def send_signal(self, _number: int) -> None:
        """Do nothing: Jupyter signals the process group, and asks here if that is gone."""


class ForkServer:
    """A fork server that this process owns: it ends with it, however that ends."""

    def __init__(self, environment: Mapping[str, str], preload: Sequence[str]) -> None:
        """Start it; it may be asked for kernels at once."""
        # An abstract address: nobody can guess it, and no file is left behind, whatever ends.
        self.address = f"\0{__package__}-{secrets.token_hex(16)}"
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self.address)
        listening.listen(128)
        script = str(Path(__file__).with_name("fork_server.py"))
        with listening:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _RUN, script, str(listening.fileno()), *preload],
                env={
                    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # asks for GPUs without touching them
                    "OMP_WAIT_POLICY": "passive",  # kernels share the cores: who waits, sleeps
                    **environment,
                    "OPENBLAS_NUM_THREADS": "1",  # it starts its threads when it is loaded
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
                start_new_session=True,
            )
        self._owner = os.getpid()

    def has_ended(self) -> bool:
        """Whether the server is gone, and its kernels with it."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the server and its kernels; in a forked process, only close the copied end."""
        assert self._process.stdin is not None  # noqa: S101 - it was started with a pipe
        self._process.stdin.close()
        if os.getpid() != self._owner:
            return
        try:
            self._process.wait(_LONGEST_END)
        except subprocess.TimeoutExpired:  # it was stopped, say
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


_servers: dict[str, ForkServer] = {}
_lock = threading.Lock()


def start_server(preload: Sequence[str] = ()) -> str:
    """Start a fork server that processes started from now on use too, and return its address.

    It ends with this process, or by :func:`close_servers`.
    """
    address, key = _address(os.environ, preload), _key(os.environ, preload)
    os.environ[ADDRESS_VARIABLE] = json.dumps({"address": address, "key": key})
    return address


def _key(environment: Mapping[str, str], preload: Sequence[str]) -> str:
    """Return what the kernels of a server have in common."""
    read_once = {k: v for k, v in sorted(environment.items()) if k.startswith(_READ_ONCE)}
    return json.dumps([read_once, list(preload)])


def _address(environment: Mapping[str, str], preload: Sequence[str]) -> str:
    """Return the address of a server for an environment: another process's, or one of ours."""
    key = _key(environment, preload)
    with _lock:
        if key not in _servers:
            with contextlib.suppress(KeyError, ValueError):
                shared = json.loads(os.environ[ADDRESS_VARIABLE])
                if shared["key"] == key:
                    return str(shared["address"])
        elif _servers[key].has_ended():
            _servers.pop(key).close()
        if key not in _servers:
            _servers[key] = ForkServer(environment, preload)
        return _servers[key].address


@atexit.register
def close_servers() -> None:
    """End all servers of this process, and the kernels that they have forked."""
    while _servers:
        _servers.popitem()[1].close()


if hasattr(os, "register_at_fork"):  # a copy of their ends would keep a parent's servers alive
    os.register_at_fork(after_in_child=close_servers)


_reported: set[str] = set()
"""Why kernels were not forked, each said once in a process."""


class ForkProvisioner(LocalProvisioner):
    """Starts a kernel by a fork where that gives the same kernel, and as always elsewhere."""

    preload = List(Unicode(), help="Libraries to import before kernels are forked.").tag(
        config=True
    )

    process: Any
    """A :class:`ForkedKernel`, or what Jupyter has started."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Launch a kernel."""
        try:
            self.process = await self._fork(cmd, **kwargs)
        except CannotForkError as error:
            if str(error) not in _reported:
                _reported.add(str(error))
                _LOGGER.warning("kernels are started the slow way: %s", error)
            return await super().launch_kernel(cmd, **kwargs)
        self.pid = self.pgid = self.process.pid
        return self.connection_info

    async def _fork(self, cmd: list[str], **kwargs: Any) -> ForkedKernel:
        """Ask a fork server for the kernel.

        Raises:
            CannotForkError: If a fork would not give what the command gives, or none answers.
            OSError: If the kernel's folder can't be entered.

        """
        if reason := obstacle(cmd):
            raise CannotForkError(reason)
        streams = [_descriptor(kwargs.get(name), name) for name in ("stdout", "stderr")]
        environment = dict(os.environ if kwargs.get("env") is None else kwargs["env"])
        request = {
            "arguments": cmd[cmd.index("ipykernel_launcher") + 1 :],
            "environment": environment,
            "executable": shutil.which(cmd[0]),
            "folder": str(Path.cwd() / (kwargs.get("cwd") or "")),  # the server's is another
        }
        os.stat(f"{request['folder']}/.")  # noqa: PTH116 - fails as entering it would
        connection = socket.socket(socket.AF_UNIX)
        try:
            try:
                connection.connect(_address(environment, self.preload))
            except ConnectionRefusedError:  # the server that an owner kept is gone
                os.environ.pop(ADDRESS_VARIABLE, None)
                connection.connect(_address(environment, self.preload))
            data = json.dumps(request).encode() + b"\n"
            sent = socket.send_fds(connection, [data], streams)
            connection.sendall(data[sent:])
            connection.settimeout(0)
            receive = asyncio.get_running_loop().sock_recv
            answer = await asyncio.wait_for(receive(connection, ANSWER.size), _LONGEST_START)
            if pid := ANSWER.unpack(answer)[0]:
                return ForkedKernel(connection, pid)
            reason = (await receive(connection, 4096)).decode(errors="replace")
        except struct.error:
            reason = "the fork server is gone"
        except OSError as error:  # a time-out is one too
            reason = f"the fork server: {type(error).__name__}: {error}"
        connection.close()
        raise CannotForkError(reason)

    async def kill(self, restart: bool = False) -> None:  # noqa: FBT001, FBT002 - Jupyter's
        """Kill the kernel; wait for its end, which Jupyter looks for ten times a second."""
        await super().kill(restart)
        if isinstance(self.process, ForkedKernel):
            await self.process.ended(_LONGEST_END)

    async def shutdown_requested(self, restart: bool = False) -> None:  # noqa: FBT001, FBT002 - the same
        """Wait for the end of a kernel that was asked to end, for the same reason."""
        await super().shutdown_requested(restart)
        if isinstance(self.process, ForkedKernel):
            await self.process.ended(_POLITE_END)


def obstacle(cmd: Sequence[str] = ()) -> str:
    """Return why a command's kernel can't be forked here; nothing if it can.

    Without a command, only the system is asked.
    """
    if not sys.platform.startswith("linux") or not hasattr(os, "pidfd_open"):
        return f"kernels can't be forked on {sys.platform}"
    if not cmd:
        return ""
    options = [word for word in cmd[1:] if word != "-Xfrozen_modules=off"]  # a debugger's wish
    if options[:2] != ["-m", "ipykernel_launcher"]:
        return f"{' '.join(cmd[:4])} is not the plain command of an IPython kernel"
    major, minor = sys.version_info[:2]
    if cmd[0] in {"python", f"python{major}", f"python{major}.{minor}"}:
        return ""  # Jupyter takes these for the Python that it runs in, whatever the path says
    candidates = shutil.which(cmd[0]) or os.devnull, sys.executable
    python, own = (Path(os.path.abspath(path)) for path in candidates)  # noqa: PTH100 - without `..`
    # Also in the same folder: the link by which a virtual environment starts Python makes it one.
    if python.parent != own.parent or not python.samefile(own):
        return f"{cmd[0]} is another Python than {sys.executable}"
    return ""


def _descriptor(stream: Any, name: str) -> int:
    """Return the descriptor that a stream of a kernel is: a Popen argument, or this process's."""
    if stream is None:
        return {"stdout": 1, "stderr": 2}[name]
    if stream == subprocess.DEVNULL:
        return _DEVNULL
    if stream in {subprocess.PIPE, subprocess.STDOUT}:
        raise CannotForkError(f"{name} was asked for as a pipe")
    return stream if isinstance(stream, int) else int(stream.fileno())
