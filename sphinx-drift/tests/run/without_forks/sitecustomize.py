"""Takes away from each Python process, as it starts, the names that Windows doesn't have."""

# ruff: noqa: E402, F401 - each name is taken away after what needs it was imported

from __future__ import annotations

import _socket
import sys

for name in ("AF_UNIX", "SO_PEERCRED", "socketpair"):  # before `socket` looks for them
    delattr(_socket, name)

# Libraries that import such names where they believe to be on Linux do it first.
import asyncio
import concurrent.futures.process
import getpass
import logging
import multiprocessing.util
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import tempfile
import tty
from contextlib import suppress

with suppress(ImportError):  # in Python processes of other environments
    import platformdirs
    import zmq

MISSING = {
    os: (
        *("fork", "forkpty", "getpgid", "geteuid", "getuid", "killpg", "mkfifo", "pidfd_open"),
        *("register_at_fork", "sched_getaffinity", "setsid"),
    ),
    select: ("epoll", "poll"),
    signal: ("SIGCHLD", "SIGHUP", "SIGUSR1", "pthread_sigmask"),
}
for module, names in MISSING.items():
    for name in names:
        delattr(module, name)
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None  # type: ignore[assignment]
