"""The fork server: it has what pages need loaded, and forks a child for each page.

It runs apart (:mod:`sphinx_drift.run.apart`) and imports third-party packages only. It has one
thread, computes nothing and touches no CUDA: after any of these, a child would hang in its first
operation.

Who owns, ends and closes what:

- **The fork server** belongs to the process that started it, which has the other end of its
  standard input and ends it by closing that end.
- **The guard** is the server's parent, and small. When the server is gone, however it went, what
  its pages had started becomes the child of the guard: it kills that, and ends. A server whose
  guard is gone ends too.
- **A job** belongs to a connection: to the one that queued it, then to the one that fetched it. At
  the end of a connection its jobs are dropped, and their children killed. So nothing outlives the
  build that asked for it, whether it hangs up or is killed.
- **A child** is killed with its process group by the server, and by the kernel if the server dies.
  It closes all descriptors of the server but the ends of its own four pipes; what it forks closes
  those on which it speaks with the server, too. What it writes is counted here, and what is no
  message ends it alone.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import importlib.util
import io
import os
import signal
import socket
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from .apart import command
from .guard import leave_guard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(words: Sequence[str]) -> None:
    """Load what pages need, then serve until whoever started this is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket", type=int, required=True)
    parser.add_argument("--preload", nargs="*", default=[])
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--import-limit", type=int, required=True, help="seconds for each")
    parser.add_argument("--guarded", action="store_true", help="there is a guard already")
    arguments = parser.parse_args(words)
    # A terminal sends these to all processes of a build, and whoever started this one decides when
    # it ends: by closing standard input.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    if not arguments.guarded:
        leave_guard(arguments.socket)
    gc.disable()  # what is loaded stays: looking for garbage in it takes a third of the time
    # Not before: the guard stays small. And before the modules of pages, which are hidden.
    from . import child  # noqa: PLC0415
    from .hidden import HIDDEN  # noqa: PLC0415
    from .kernel import make_kernel  # noqa: PLC0415
    from .scheduler import Scheduler, affordable_slots  # noqa: PLC0415

    _preload(arguments, handlers, HIDDEN.load)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    kernel = make_kernel()
    # It was for the imports; the environment of each page comes with its job.
    os.environ.pop("OPENBLAS_NUM_THREADS", None)
    # A collection in a child would write into every object that it inherits, and so copy the
    # memory that it shares with this process.
    gc.freeze()
    gc.enable()
    run_page = functools.partial(child.run_page, kernel, handlers)
    server = socket.socket(fileno=arguments.socket)
    Scheduler(server, affordable_slots(arguments.slots), child.prepare, run_page).serve()


def _preload(
    arguments: argparse.Namespace,
    handlers: dict[signal.Signals, Any],
    load: Callable[[str], None],
) -> None:
    """Import modules; start over without one that prints, warns, raises or hangs: pages show that.

    No page is forked until all are loaded, so one that hangs would hold the whole build up.
    """
    signal.signal(signal.SIGALRM, _stop_import)
    for name in arguments.preload:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            continue
        failed = False
        printed = io.StringIO()
        with (
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("default")
            signal.alarm(arguments.import_limit)
            try:
                load(name)
            except (Exception, SystemExit):  # noqa: BLE001 - a library may raise anything
                failed = True
            finally:
                signal.alarm(0)
        if failed or printed.getvalue() or any(map(_is_shown, warned)):
            # What is imported can't be undone, and what is ignored would be inherited as ignored.
            for number, handler in handlers.items():
                signal.signal(number, handler)
            rest = [word for word in sys.argv[2:] if word != name]
            words = command("run.fork_server", "--guarded", *rest)
            os.execv(sys.executable, words)  # noqa: S606 - it is our own


def _stop_import(*_: object) -> NoReturn:
    raise TimeoutError


def _is_shown(warning: warnings.WarningMessage) -> bool:
    """Return whether Python shows a warning of this category when a library's import gives it."""
    hidden = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    return not issubclass(warning.category, hidden)
