"""Run a command, and say how long it took and how much memory its processes held at the peak."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import psutil

from sphinx_drift.run.processes import adopt_orphans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

INTERVAL = 0.02  # seconds between two samples of memory
GRACE = 2.0  # seconds in which what a command started has to be gone


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
        adopt_orphans()


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
        started = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - the benchmark's own commands
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        sampler = Sampler() if memory else None
        try:
            status = process.wait()
            seconds = time.monotonic() - started
        finally:
            peak = sampler.stop() if sampler else None
            left = end_all()
    return Run(seconds, _worked() - worked, status, peak, left)


def _worked() -> float:
    """Return the processor's seconds of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Sampler:
    """Sums the memory of this process's descendants again and again; keeps the largest sum."""

    def __init__(self) -> None:
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
            self._peak = max(self._peak, sum(map(pss, psutil.Process().children(recursive=True))))


def pss(process: psutil.Process) -> int:
    """Return a process's memory in bytes, its share of what it shares with others (PSS)."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:  # it has ended
        return 0


def end_all() -> int:
    """End what is left of a command after a moment's grace, and return how many these were."""
    until = time.monotonic() + GRACE
    while (left := _living()) and time.monotonic() < until:
        time.sleep(INTERVAL)
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    while _living():
        time.sleep(INTERVAL)
    return len(left)


def _living() -> list[psutil.Process]:
    """Return this process's descendants that have not ended, and wait for those that have."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return list(psutil.Process().children(recursive=True))
