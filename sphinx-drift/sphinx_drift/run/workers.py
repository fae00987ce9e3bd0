"""The processes that Sphinx forks to read and to write pages: they end with it if it is killed."""

from __future__ import annotations

import ctypes
import functools
import multiprocessing
import multiprocessing.util
import os
import signal
import sys
import threading

__all__ = ["end_with_build"]

_PR_SET_PDEATHSIG = 1


@functools.cache
def end_with_build() -> None:
    """Have processes that :mod:`multiprocessing` forks from now on end with this one.

    What pages and other programs start is not forked by it, and is left alone.
    """
    if sys.platform.startswith("linux"):
        multiprocessing.util.register_after_fork(_end_with_parent, lambda end: end())


def _end_with_parent() -> None:
    """Have the kernel kill this process when the one that has forked it is gone."""
    parent = multiprocessing.parent_process()
    # It is when the thread ends that has forked it: only the main one lasts as long as its process.
    if parent is None or threading.current_thread().name != "MainThread":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent.pid:
        os._exit(1)
