"""A page's process as the fork server has it: forked with four pipes, read, and reaped.

The child writes messages to ``events`` and reads one byte from ``control`` after an error. Its
descriptors 1 and 2 are pipes whose other ends it reads itself (``out`` and ``err``): what programs
write there past Python becomes part of the page. The server has an end of ``err`` too, for the last
words of a child that crashed.
"""

from __future__ import annotations

import contextlib
import os
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from .limit import Allowance
from .processes import die_with, kill_group
from .protocol import Frames, pack, write_all

if TYPE_CHECKING:
    from collections.abc import Callable

DESCRIPTORS = 4
"""How many the server has for each child: three ends of pipes, and what tells that it has ended."""

_MARGIN = 1 << 20
"""Bytes beyond its limit that a child may write: it stops itself, and says why, before."""


class PageProcess:
    """A running page: its process, and the server's ends of its pipes."""

    def __init__(
        self,
        task: dict[str, Any],
        run_page: Callable[[dict[str, Any], dict[str, int]], None],
        close_inherited: Callable[[], None],
    ) -> None:
        """Fork.

        Args:
            task: What to run.
            run_page: Runs it in the child, with the ends of the pipes that are the child's.
            close_inherited: Closes in the child what is the server's.

        Raises:
            OSError: If there are no more processes or descriptors; then nothing is left open.

        """
        ends: dict[str, int] = {}
        try:
            for name in ("events", "control", "out", "err"):
                ends[f"{name} read"], ends[f"{name} write"] = os.pipe()
            self.pid = os.fork()
        except OSError:
            for fd in ends.values():
                os.close(fd)
            raise
        if self.pid == 0:
            _be_the_child(task, ends, run_page, close_inherited)
        self.events = ends.pop("events read")
        self._control = ends.pop("control write")
        self._err = ends.pop("err read")
        for fd in ends.values():
            os.close(fd)
        limit = task["output_limit"] + _MARGIN
        self.frames = Frames(limit)
        self.allowance = Allowance(limit)
        self.watcher = os.pidfd_open(self.pid)
        """Readable once the process has ended."""
        self.deadline: float | None = None
        self.ending: dict[str, Any] = {"type": "over"}
        """The message that its page gets when it has ended."""

    def answer(self, *, go_on: bool) -> None:
        """Tell the page whether to go on after an error."""
        with contextlib.suppress(OSError):  # it has ended
            os.write(self._control, b"+" if go_on else b"-")

    def stop(self, ending: dict[str, Any]) -> None:
        """Kill it, and report that as its ending."""
        self.ending, self.deadline = ending, None
        kill_group(self.pid)

    def rest(self) -> bytes:
        """Return the next piece of its messages that is there; nothing if there is none."""
        return _read_ready(self.events, 1 << 20)

    def reap(self) -> dict[str, Any]:
        """Close what is open of a process that has ended, and return its ending."""
        last_words = _read_ready(self._err, 1 << 16).decode(errors="replace")
        self.close()
        _, status = os.waitpid(self.pid, 0)
        return {
            **self.ending,
            "status": os.waitstatus_to_exitcode(status),
            "last_words": last_words,
        }

    def close(self) -> None:
        """Close the ends of its pipes that are the server's."""
        for fd in (self.events, self._control, self._err, self.watcher):
            os.close(fd)


def _read_ready(fd: int, size: int) -> bytes:
    """Read what is there: what the page has started may have the other end open for ever."""
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        return os.read(fd, size)
    return b""


def _be_the_child(
    task: dict[str, Any],
    ends: dict[str, int],
    run_page: Callable[[dict[str, Any], dict[str, int]], None],
    close_inherited: Callable[[], None],
) -> NoReturn:
    try:
        die_with(os.getppid())
        os.setsid()  # what the page starts is in its group, and is killed with it
        close_inherited()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(ends["out write"], 1)
        os.dup2(ends["err write"], 2)
        fds = {
            "events": ends["events write"],
            "control": ends["control read"],
            "out": ends["out read"],
            "err": ends["err read"],
        }
        for name in ("events read", "control write", "out write", "err write"):
            os.close(ends[name])
        run_page(task, fds)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - never back into the server's own loop
        message = {"type": "broken", "reason": traceback.format_exc()}
        write_all(ends["events write"], pack(message))
    finally:
        os._exit(1)
