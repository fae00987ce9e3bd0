"""Ends processes, and counts threads. The servers import it too: it needs the standard library."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends.

    A parent that is killed can't end its children itself. The kernel goes by the thread that
    forked: it must be the main one, which lasts as long as its process.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it had ended before the kernel knew
        os._exit(1)


def adopt_orphans() -> None:
    """Have the kernel make this process the parent of all descendants whose own parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def thread_count() -> int:
    """Count the threads of this process, those that C libraries have started too.

    Only the thread that forks lives on in the child. A lock that another one held would stay
    locked for ever, and a pool of workers would have none: nothing is forked beside a thread.
    """
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def children() -> list[int]:
    """Return the children of this process."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended since it was listed
            parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                pids.append(int(folder.name))
    return pids


def kill(pid: int) -> bool:
    """Kill a process, and return whether that can be done."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def kill_group(pid: int) -> None:
    """Kill a process and the group that it leads: what it has started.

    Both, because a process that has only just been forked may not lead a group yet.
    """
    kill(pid)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
