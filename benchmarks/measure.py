"""Run a command, and say how long it took and how much memory its processes held at the peak."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERVAL = 0.02  # seconds between two samples of memory
GRACE = 2.0  # seconds in which what a command started has to be gone
PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36


class Run(NamedTuple):
    """How a command went."""

    seconds: float
    processor_seconds: float
    """What all its processes worked, on all processors together."""
    status: int
    peak_bytes: int | None
    left: int
    """How many processes it left behind; they are ended."""


def adopt() -> None:
    """Have orphans of the commands come to this process, so that they are counted and ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(
    command: Sequence[str],
    *,
    folder: Path,
    variables: Mapping[str, str],
    log: Path,
    memory: bool = False,
) -> Run:
    """Run a command, with all that it prints in a file.

    Memory is asked in a run of its own, because sampling it takes time.
    """
    worked = _worked()
    with log.open("wb") as file:
        begun = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - the benchmark's own commands
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        sampler = Sampler(os.getpid()) if memory else None
        try:
            status = process.wait()
            seconds = time.monotonic() - begun
        finally:
            peak = sampler.stop() if sampler else None
            left = end_all(os.getpid())
    return Run(seconds, _worked() - worked, status, peak, left)


def _worked() -> float:
    """Return the processor's seconds of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Sampler:
    """Sums the memory of a process's descendants again and again, and keeps the largest sum."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._peak = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """Return the largest sum."""
        self._stopped.set()
        self._thread.join()
        return self._peak

    def _sample(self) -> None:
        while not self._stopped.wait(INTERVAL):
            self._peak = max(self._peak, sum(map(pss, descendants(self._parent, parents()))))


def pss(process: int) -> int:
    """Return a process's memory in bytes, its share of what it shares with others (PSS)."""
    try:
        text = (PROC / str(process) / "smaps_rollup").read_text("ascii")
    except OSError:  # it has ended
        return 0
    return proportional(text)


def proportional(rollup: str) -> int:
    """Return the bytes of the line `Pss:` of a `smaps_rollup`."""
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def parents() -> dict[int, int]:
    """Return the parent of each process of the machine."""
    found = {}
    for name in os.listdir(PROC):  # noqa: PTH208 - often, and names are enough
        if name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                said = (PROC / name / "stat").read_text("utf-8", "replace")
                # The name before it, in brackets, may hold anything.
                found[int(name)] = int(said.rpartition(")")[2].split()[1])
    return found


def descendants(ancestor: int, parent_of: Mapping[int, int]) -> list[int]:
    """Return the children of a process, theirs, and so on."""
    children: dict[int, list[int]] = {}
    for process, parent in parent_of.items():
        children.setdefault(parent, []).append(process)
    found: list[int] = []
    waiting = list(children.get(ancestor, ()))
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting += children.get(process, ())
    return found


def end_all(ancestor: int) -> int:
    """End what is left of a command after a moment's grace, and return how many these were."""
    until = time.monotonic() + GRACE
    while (left := _living(ancestor)) and time.monotonic() < until:
        time.sleep(INTERVAL)
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    while _living(ancestor):
        time.sleep(INTERVAL)
    return len(left)


def _living(ancestor: int) -> list[int]:
    """Return the descendants that have not ended; the ended ones are taken leave of."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return descendants(ancestor, parents())
