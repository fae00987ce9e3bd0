"""The processes that Sphinx forks to read and to write pages: they end with it if it is killed."""

from __future__ import annotations

import functools
import multiprocessing
import multiprocessing.util
import sys
import threading

from sphinx_drift.run.processes import die_with


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
    # `die_with` goes by the thread that forked.
    if parent is None or threading.current_thread().name != "MainThread":
        return
    assert parent.pid is not None  # noqa: S101 - it runs: it has forked this one
    die_with(parent.pid)
