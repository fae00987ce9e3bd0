"""A live session: it starts the processes, has each save built, and reports it to browsers."""

from __future__ import annotations

import logging
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self

from sphinx_drift.configuration import find_project
from sphinx_drift.live.clients import BuildServer
from sphinx_drift.live.server import serving
from sphinx_drift.run import fork_client

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_LOGGER = logging.getLogger(__name__)
_ATTEMPTS = 2
"""How often a build in the background that is killed, say, is begun before that is reported."""


class Session:
    """Builds a book as often as it is asked to, and serves it.

    Each save is shown by a build that runs only the pages which are known to have changed. Another
    build then runs every page in the background, unless that one has; its report takes the place
    of the first one's. If something is asked for meanwhile, it is left.

    Args:
        source: The folder with ``conf.py`` and the pages.
        output: The folder for the pages in HTML; what Sphinx keeps between builds goes beside it.
        port: Where to serve; 0 for any free one.

    Raises:
        OSError: If nothing can be written or served there.
        ValueError: If the project's file can't be read.

    """

    def __init__(self, source: Path, output: Path, port: int = 0) -> None:
        self._source = source.resolve()
        self._output = output.resolve()
        self._doctrees = self._output.with_name(f"{self._output.name}-doctrees")
        self._output.mkdir(parents=True, exist_ok=True)
        self._attempts = 0
        """How often the build in the background has been begun since the last save."""
        self._all_ran = 0.0
        """When a build last began that ran all pages."""
        with ExitStack() as opened:
            self._web_server = opened.enter_context(serving(self._output, port))
            self._build_server = BuildServer()
            opened.callback(self._close_build_server)
            opened.callback(fork_client.close)
            self._preload = [*find_project(self._source).libraries([self._source])]
            self._start_fork_server()
            self._open = opened.pop_all()
        self.port = self._web_server.server_port

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def written(self) -> list[Path]:
        """What builds write, beside each other in `_build` perhaps."""
        around = self._output.parent
        if around != self._source and around.is_relative_to(self._source):
            return [around]
        return [self._output, self._doctrees, self._output.with_name("jupyter_execute")]

    def _close_build_server(self) -> None:
        self._build_server.close()  # the one of now

    def _start_fork_server(self) -> None:
        fork_client.preload(self._preload)
        fork_client.start()

    def renew(self) -> None:
        """Start both servers anew: the code that they run, or what they load, has changed."""
        self._build_server.close()
        self._build_server = BuildServer()
        fork_client.close()
        with suppress(ValueError):  # the next build tells what is wrong with the project's file
            self._preload = [*find_project(self._source).libraries([self._source])]
        self._start_fork_server()

    def build(self, changed: Collection[str] = ()) -> dict[str, Any]:
        """Build the book, and return the report that browsers get."""
        book = self._book("later")
        report = self._publish(self._build_server.build(book, list(changed), self._publish))
        self._build_server.load(report.get("modules", []))
        self._build_server.stand_by(book)
        self._attempts = 0
        if report["runs"] and report["runs"]["running"]:
            self._build_in_background()
        return report

    def _build_in_background(self) -> None:
        self._attempts += 1
        self._build_server.build_in_background(self._book("always"))

    def wait(self, seconds: float) -> dict[str, Any] | None:
        """Return the report of the build in the background, if it ends before the time is up.

        A process that has ended, killed perhaps, has another one take its place.
        """
        report = self._build_server.wait(seconds)
        if report is None:
            return None
        renewed = self._build_server.renew_after(report)
        if renewed or report.get("has_written"):
            self._build_server.stand_by(self._book("later"))  # the one that did is out of date
        if "failures" not in report and self._attempts < _ATTEMPTS:
            if self._attempts:
                self._build_in_background()
            return None
        report = self._publish(report)
        self._build_server.load(report.get("modules", []))
        return report

    def _publish(self, report: dict[str, Any]) -> dict[str, Any]:
        """Send browsers the failures, and when pages ran, and return the whole report."""
        if "failures" not in report:
            reason = report.get("cannot_fork") or f"exit status {report['died']}"
            text = f"the process of the build ended: {reason}"
            report = {"failures": [{"title": "The build ended too early", "text": text}]}
        runs = report.get("runs")
        if runs:
            if report["is_complete"]:
                self._all_ran = report["begun"]
            runs = {
                "pages": {page: max(ran, self._all_ran) for page, ran in runs.items()},
                "all": self._all_ran if report["is_complete"] else None,
                "running": not report["is_complete"],
            }
        report = {"summary": "", **report, "runs": runs}
        self._web_server.send({name: report[name] for name in ("failures", "runs")})
        return report

    def _book(self, rerun: str) -> dict[str, Any]:
        """Return what a build needs to know: what to build, where, and which pages run."""
        return {
            "source": str(self._source),
            "output": str(self._output),
            "doctrees": str(self._doctrees),
            "fork_server": _fork_server_address(),
            "preload": self._preload,
            "rerun": rerun,
        }


def _fork_server_address() -> str:
    """Return the address of the process that forks pages, of another one if it has ended."""
    server = fork_client.fork_server()
    if isinstance(server, fork_client.ForkServer) and server.process.poll() is not None:
        _LOGGER.warning("the process that forks pages ended (%d)", server.process.returncode)
        fork_client.close()
        server = fork_client.fork_server()
    return server.address
