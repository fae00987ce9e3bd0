"""The process that runs a build's pages ahead of Sphinx, the host, and how it is asked.

Sphinx forks readers and writers, and a fork copies no thread: so threads, event loops and kernels
are in another process. It belongs to the process that started it and has the other end of
its standard input: when that closes, it ends. Clients connect to it for each page.
"""

import atexit
import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, TypeVar

from sphinx_drift.run.choice import SCRATCH, chosen_runner, page_environment
from sphinx_drift.run.pool import Pool

_Argument = TypeVar("_Argument")
_Answer = TypeVar("_Answer")

_KEY_LENGTH = 32
_LONGEST_END = 5.0
_PAUSE = 0.1
_BACKLOG = 4096
"""Requests that a busy host leaves waiting: more than a book has pages."""


# In the build ------------------------------------------------------------------------------


class Host:
    """The process that runs pages, as its owner and the owner's forks see it."""

    preload: tuple[str, ...] = ()
    """The libraries that are loaded once for all pages."""
    process: Any = None
    """A :class:`subprocess.Popen`, once it is started."""
    address = ""
    """Where it listens, once the owner has asked something."""
    _address_lock = threading.Lock()

    def start(self) -> None:
        """Start it, unless it is; it loads while this process does something else."""
        if self.process:
            return
        chosen_runner()  # raises an error if the environment chooses none
        self._owner, self._key, self.address = os.getpid(), secrets.token_bytes(_KEY_LENGTH), ""
        # -P: what lies in the working folder is no library of this process.
        code = f"import sys; sys.path.append({str(Path(__file__).parents[2])!r}); "
        code += "from sphinx_drift.run.host import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, *self.preload],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=page_environment(),
            start_new_session=True,  # a terminal's Ctrl-C ends the build, and the build ends this
        )
        self.process.stdin.write(self._key)
        # The process ends when its input closes, so what is forked must not keep a copy open.
        if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
            os.register_at_fork(after_in_child=self.process.stdin.close)

    def ask(self, method: Callable[[Pool, _Argument], _Answer], argument: _Argument) -> _Answer:
        """Have the host call a method of its pool, and return what that returns.

        The owner asks first: it waits until the host listens, so that its forks needn't.

        Raises:
            ConnectionError: If the process is gone.

        """
        self.start()
        try:
            with self._address_lock:
                self.address = self.address or os.fsdecode(self.process.stdout.readline()).rstrip()
            with Client(self.address) as connection:
                connection.send_bytes(self._key)
                connection.send((method, argument))
                answer: Any = connection.recv()
        except (EOFError, OSError) as error:
            raise ConnectionError("the process that runs pages is gone") from error
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def close(self) -> None:
        """End it, and its kernels with it."""
        process, self.process = self.process, None
        if process is None or os.getpid() != self._owner:
            return
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(_LONGEST_END)
        except subprocess.TimeoutExpired:  # it was stopped, say
            process.kill()
            process.wait()


HOST = Host()
"""The one of this process."""
atexit.register(HOST.close)


# In the process itself ---------------------------------------------------------------------


def main() -> None:
    """Run pages until the owner is gone."""
    arguments = os.read(0, _KEY_LENGTH), sys.argv[1:]
    threading.Thread(target=_serve, args=arguments, daemon=True).start()
    os.read(0, 1)
    _send_to_nowhere(2)  # what threads complain of from now on
    from forked_kernels import fork_server, provisioner  # noqa: PLC0415 - it takes time

    try:
        provisioner.close_servers()
        if sys.platform == "linux":  # what has left its group, if the fork server was killed
            fork_server.kill_children()
        for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH}-{os.getpid()}-*"):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)


def _send_to_nowhere(descriptor: int) -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as null:
        os.dup2(null.fileno(), descriptor)


def _serve(key: bytes, libraries: Sequence[str]) -> None:
    # On Linux an address that is no file: no folder's path is too long for it.
    address = f"\0{SCRATCH}-{secrets.token_hex(16)}" if sys.platform == "linux" else None
    with Listener(address, backlog=_BACKLOG) as listener:
        try:
            print(os.fsdecode(listener.address), flush=True)
        except BrokenPipeError:  # the build has ended, by a setting that it refuses, say
            return
        _send_to_nowhere(1)  # nothing reads more
        from forked_kernels import fork_server, provisioner  # noqa: PLC0415 - it takes time

        if chosen_runner() == "fork" and not provisioner.obstacle():
            provisioner.start_server(libraries)  # it loads while this process imports
        if sys.platform == "linux":
            fork_server.adopt_orphans()
        pool = Pool()
        while True:
            try:
                request = listener.accept()
            except OSError:  # perhaps no descriptor is left: clients wait until one is
                time.sleep(_PAUSE)
                continue
            threading.Thread(target=_answer, args=[pool, key, request], daemon=True).start()


def _answer(pool: Pool, key: bytes, connection: Connection) -> None:
    """Call the method of the pool that a client asks for, if it knows the key."""
    with connection, contextlib.suppress(EOFError, OSError):  # the client may be gone
        if not secrets.compare_digest(connection.recv_bytes(_KEY_LENGTH), key):
            return
        method, argument = connection.recv()
        try:
            answer = method(pool, argument)
        except Exception as error:  # noqa: BLE001 - the client raises it
            answer = error
        connection.send(answer)
