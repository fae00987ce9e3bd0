"""The command: ``python -m sphinx_drift.live docs docs/_build/live``; Ctrl-C ends it."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift import live, run
from sphinx_drift.configuration import project_file
from sphinx_drift.live.server import HOST
from sphinx_drift.live.session import Session
from sphinx_drift.live.watch import PAUSE, Watch
from sphinx_drift.run import fork_client

if TYPE_CHECKING:
    from collections.abc import Sequence


# What the build server and the fork server run: a change in it needs new ones.
OF_SERVERS = [Path(str(module.__file__)).parent for module in (live, run)]


def main(words: Sequence[str] | None = None) -> int:
    """Build, serve, and build again after each save, until Ctrl-C."""
    arguments = _arguments(words)
    if not fork_client.can_fork():
        print("sphinx_drift.live forks its builds, which needs Linux 5.3 or later", file=sys.stderr)
        return 2
    if not (arguments.source / "conf.py").is_file():
        print(f"there is no conf.py in {arguments.source}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        session = Session(arguments.source, arguments.output, arguments.port)
    except (OSError, ValueError) as error:  # no port, say, or a project file that is refused
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    with contextlib.suppress(KeyboardInterrupt), session:
        print(f"http://{HOST}:{session.port}/ (Ctrl-C ends it)", flush=True)
        _serve(session, [arguments.source, *arguments.watch])
    print()
    return 0


def _serve(session: Session, places: list[Path]) -> None:
    """Build, then after each save. A save during a build is found after it."""
    project = project_file(places[0])
    watch = Watch([*places, *([project] if project else [])], without=session.written)
    changed: list[str] = []
    while True:
        started = time.perf_counter()
        report = session.build(changed)
        names = ", ".join(Path(name).name for name in changed) or "everything"
        _print(report["failures"], report, names, started)
        started = time.perf_counter()
        while not (changed := watch.changed()):
            later = session.wait(PAUSE)
            if later is not None:
                is_shown = later["failures"] == report["failures"]
                _print([] if is_shown else later["failures"], later, "all pages", started)
        if any(Path(name).parent in OF_SERVERS or Path(name) == project for name in changed):
            session.renew()


def _print(
    failures: list[dict[str, str]], report: dict[str, Any], what: str, started: float
) -> None:
    """Print what browsers are sent."""
    for failure in failures:
        print(f"{failure['title']}\n{failure['text']}\n")
    seconds = time.perf_counter() - started
    number = len(report["failures"])
    last = report["summary"] or f"{number} failure{'' if number == 1 else 's'}"
    print(f"{time.strftime('%H:%M:%S')} {what}, {seconds:.2f} s: {last}", flush=True)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sphinx_drift.live", description=main.__doc__)
    parser.add_argument("source", type=Path, help="the folder with conf.py and the pages")
    parser.add_argument("output", type=Path, help="the folder to build into")
    parser.add_argument("--port", type=int, default=0, help="where to serve (default: a free one)")
    parser.add_argument(
        "--watch", type=Path, action="append", default=[], help="a folder or file besides source"
    )
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
