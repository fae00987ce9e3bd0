"""The Sphinx extension: a book's pages run in forked children, begun before they are read."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from docutils import nodes
from nbclient.exceptions import CellExecutionError
from sphinx.errors import ConfigError, ExtensionError
from sphinx.util import logging

from sphinx_drift.configuration import find_project, list_of_names
from sphinx_drift.run import fork, fork_client
from sphinx_drift.run.choice import RUNNER_VARIABLE, chosen
from sphinx_drift.run.results import Ending
from sphinx_drift.run.run import begin, execute, request_for
from sphinx_drift.run.workers import end_with_build
from sphinx_drift.sphinx.highlight import keep_formatters
from sphinx_drift.sphinx.private_myst import (
    ExecutionError,
    NotebookClientBase,
    execution_metadata,
    replace_stock_clients,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.run.results import Failure, Request


def setup(app: Sphinx) -> dict[str, Any]:
    """Set the extension up."""
    metadata = {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
    if "sphinx_drift" in app.extensions:  # it does all this itself
        return metadata
    runner = start(app, "sphinx_drift.run", NOTHING_EXECUTED)
    if runner != "jupyter":
        app.connect("env-before-read-docs", _begin_all)
        app.connect("builder-inited", lambda _: replace_stock_clients(Client))
        app.connect("builder-inited", keep_formatters)
        app.connect("build-finished", forget_pages)
    if runner == "off":
        app.connect("build-finished", _say_in_log)
    return metadata


def start(app: Sphinx, extension: str, nothing_executed: str) -> str:
    """Return how pages are run, and start the fork server while Sphinx loads everything else.

    If none is to be run, each says so at its head.
    """
    if "myst_nb" not in app.extensions:
        raise ExtensionError(
            f"{extension} runs the pages of MyST-NB: put 'myst_nb' before it in conf.py: "
            f"extensions = ['myst_nb', '{extension}']"
        )
    app.add_config_value("drift_preload", None, "", (list, tuple, type(None)))
    try:
        runner = chosen()
        preload = app.config.drift_preload
        if preload is not None:
            list_of_names(preload, "drift_preload")
        # A server that is there loads what its owner has chosen; to choose means to read pages.
        if preload is None and not fork_client.is_started():
            preload = find_project(Path(app.confdir)).libraries([Path(app.srcdir)])
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if runner == "fork":
        if preload is not None:
            fork_client.preload(preload)
        fork_client.start()
        end_with_build()
    elif runner == "off":
        app.connect("doctree-read", lambda _, page: _warn_at_head(page, nothing_executed))
    return runner


def _begin_all(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Have all pages begin that are about to be read."""
    if app.config.nb_execution_in_temp or app.config.nb_execution_mode in {"off", "inline"}:
        return

    def requests(page: Path, _: Sequence[str]) -> list[Request]:
        return [request_for(page.parent, timeout=_timeout(app.config.nb_execution_timeout))]

    pages = (Path(env.doc2path(name)) for name in sorted(docnames))
    begun = begin((page for page in pages if _sure_to_run(app, page)), requests)
    read_prose_first(env, docnames, begun)


def forget_pages(_app: Sphinx, _exception: Exception | None) -> None:
    """Drop the pages that have begun and were not read."""
    fork.forget()


def read_prose_first(env: BuildEnvironment, docnames: list[str], begun: Collection[Path]) -> None:
    """Have pages that need no outputs read first: the fork server may still be loading torch."""
    docnames.sort(key=lambda name: Path(env.doc2path(name)) in begun)


def left_out(page: Path, mode: str, patterns: Iterable[str]) -> str:
    """Return the setting by which MyST-NB leaves a page out; nothing if it runs it."""
    if any(map(PurePosixPath(page).match, patterns)):
        return "nb_execution_excludepatterns"
    return "nb_execution_mode" if mode == "off" else ""


def _sure_to_run(app: Sphinx, page: Path) -> bool:
    """Tell whether MyST-NB will ask for a page's outputs, as far as its path tells."""
    mode, patterns = app.config.nb_execution_mode, app.config.nb_execution_excludepatterns
    excluded = left_out(page, mode, patterns)
    stored = page.suffix == ".ipynb" and mode == "auto"
    return not excluded and not stored


def _timeout(configured: int) -> int | None:
    return configured if configured > 0 else None


NOTHING_EXECUTED = f"Nothing was executed: {RUNNER_VARIABLE}=off is for writing prose."


def _warn_at_head(doctree: nodes.document, message: str) -> None:
    """Put a warning at the head of a page."""
    place = next(iter(doctree.findall(nodes.section)), doctree)
    after_title = 1 if isinstance(place, nodes.section) else 0
    place.insert(after_title, nodes.warning("", nodes.paragraph("", message)))


def _say_in_log(_app: Sphinx, _exception: Exception | None) -> None:
    """Say to whoever builds that nothing was executed."""
    logging.getLogger(__name__).warning(NOTHING_EXECUTED, type="drift", subtype="off")


class Client(NotebookClientBase):  # type: ignore[misc]
    """Runs a page's cells when MyST-NB asks for its outputs."""

    def start_client(self) -> None:
        """Run the page, and say how it ended in the words of the stock client."""
        if chosen() == "off":
            return
        started, config = datetime.now(UTC), self.nb_config
        in_temp = config.execution_in_temp
        with TemporaryDirectory() if in_temp else nullcontext(self._path.parent) as folder:
            may_raise = range(len(self.notebook.cells)) if config.execution_allow_errors else ()
            timeout = _timeout(config.execution_timeout)
            request = request_for(Path(folder), timeout=timeout, may_raise=may_raise)
            execution = execute(self.notebook, request)
        failure = execution.failure
        traceback = None
        if failure is not None:
            if config.execution_raise_on_error:
                raise ExecutionError(f"{self._path}: {failure.message}")
            traceback = _traceback(self.notebook, failure)
            message = f"Executing notebook failed: {failure.message}"
            text = f"{message}\n{traceback}" if config.execution_show_tb else message
            self.logger.warning(text, subtype="exec")
        self.exec_metadata = execution_metadata("sphinx_drift.run", started, failure, traceback)


def _traceback(notebook: NotebookNode, failure: Failure) -> str:
    """Return what stopped a page, as the stock client tells it if a cell of it raised."""
    if failure.kind is not Ending.RAISED:
        return failure.message
    cell = notebook.cells[failure.index]
    error = next(output for output in reversed(cell.outputs) if output.output_type == "error")
    return str(CellExecutionError.from_cell_and_msg(cell, error))
