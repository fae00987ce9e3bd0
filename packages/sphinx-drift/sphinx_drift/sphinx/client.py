"""Runs a page as it is read: MyST-NB's parser, with a client that judges what cells print."""

from __future__ import annotations

import re
import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx_drift.book import left_out
from sphinx_drift.judge import judge_page
from sphinx_drift.model import Kind, Outcome, PageResult
from sphinx_drift.run.reads import reads
from sphinx_drift.run.results import Execution
from sphinx_drift.run_and_judge import run_and_judge
from sphinx_drift.settings import table_in
from sphinx_drift.source.expectations import read_page
from sphinx_drift.source.markdown import read_markdown
from sphinx_drift.source.notebook import parse_notebook, read_notebook
from sphinx_drift.source.read_source import is_notebook
from sphinx_drift.source.variants import chosen
from sphinx_drift.sphinx.private_api import (
    NotebookClientBase,
    Parser,
    execution_metadata,
    markdown_config,
    with_clients,
)
from sphinx_drift.sphinx.shown import (
    hidden,
    settle_streams,
    show_documented,
    show_stored,
    stored_outputs,
    widgets_as_text,
)
from sphinx_drift.sphinx.state import file_of, record, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from docutils import nodes
    from nbformat import NotebookNode
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.model import Page


_UNSEEN = "the expectation isn't on the page: something above it has swallowed it"
_EMPTY = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
"""What is shown of a notebook that can't be read."""


class Claim(NamedTuple):
    """What came of an expectation, until its directive asks for that."""

    line: int
    content: str
    outcome: Outcome | None
    """None for one of which a reader is shown nothing."""


class VerifyingParser(Parser):  # type: ignore[misc]  # untyped
    """Reads a page as MyST-NB does, with a client that checks what it runs.

    A page with nothing to check is run by MyST-NB's own client.
    """

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Read a page; its cells are run and checked before it is rendered."""
        env = document.settings.env
        if is_notebook(Path(env.doc2path(env.docname))):
            try:
                parse_notebook(inputstring)
            except ValueError as error:  # MyST-NB takes for granted what a notebook holds
                record(env, Outcome(Kind.UNREADABLE, 1, message=str(error)))
                inputstring = _EMPTY
        unchecked: list[tuple[Page, NotebookClientBase]] = []

        def client(
            stock: Callable[..., NotebookClientBase],
            notebook: NotebookNode,
            source: str,
            nb_config: Any,
            logger: Any,
            *others: Any,
            **options: Any,
        ) -> NotebookClientBase:
            ours = VerifyingClient(notebook, Path(source), nb_config, logger, inputstring, document)
            if ours.page is None or ours.page.is_checked:
                return ours
            theirs = stock(notebook, source, nb_config, logger, *others, **options)
            unchecked.append((ours.page, theirs))
            return theirs

        claims: list[Claim] = []
        document.attributes["drift_claims"] = claims
        with with_clients(client):
            super().parse(inputstring, document)
        del document.attributes["drift_claims"]
        for page, theirs in unchecked:
            _count_outputs(env, page, theirs.notebook)
        for claim in claims:
            record(env, Outcome(Kind.UNREADABLE, claim.line, message=_UNSEEN))


def _count_outputs(env: BuildEnvironment, page: Page, notebook: NotebookNode) -> None:
    """Record the outputs of a page that documents none."""
    state_of(env).seconds.pop(env.docname, None)
    everything = Execution(frozenset(cell.index for cell in page.cells))
    result = judge_page(page, notebook, everything, file=file_of(env))
    if result.outcomes:
        record(env, *result.outcomes, cells=result.cells)


class VerifyingClient(NotebookClientBase):  # type: ignore[misc]
    """Runs a page in a fresh kernel, whatever the execution mode, and checks it."""

    def __init__(  # noqa: PLR0913, PLR0917 - MyST-NB's four, and the page
        self,
        notebook: NotebookNode,
        path: Path,
        nb_config: Any,
        logger: Any,
        source: str,
        document: nodes.document,
    ) -> None:
        """Keep the page's source, and the document that it is read into."""
        super().__init__(notebook, path, nb_config, logger)
        self._source = source
        self._document = document
        self.page: Page | None = None
        """What it documents; None if that can't be read."""
        with suppress(Exception):  # it is read again, where an error is recorded
            self.page = self._read()
        env = document.settings.env
        env.metadata[env.docname]["drift_complete"] = bool(self.page and self.page.complete)

    def start_client(self) -> None:
        """Run the page's cells and record what came of them."""
        try:
            self._verify()
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            env = self._document.settings.env
            message = traceback.format_exc(limit=-3)
            record(env, Outcome(Kind.COULD_NOT_CHECK, 1, message=message))
            self._document.attributes["drift_claims"] = None

    def _read(self) -> Page:
        env = self._document.settings.env
        if "source_map" in self.notebook.metadata and not is_notebook(self._path):
            reading = read_markdown(self._source, markdown_config(env))
            page = read_page(reading, self.notebook, self.nb_config)
        else:
            page = read_notebook(self.notebook, self.nb_config)
        return state_of(env).settings.applied_to(page, self._path)

    def _verify(self) -> None:
        env = self._document.settings.env
        page, state = self.page or self._read(), state_of(env)
        if not page.cells and not page.problems:
            state.seconds.pop(env.docname, None)
            return
        state.seconds.setdefault(env.docname, 0.0)
        config = self.nb_config
        why = left_out(self._path, config.execution_mode, config.execution_excludepatterns)
        if why:
            key = config.metadata_key
            own = "execution_mode" in table_in(self.notebook.metadata, key)
            why = f"{key}: execution_mode" if own and why == "nb_execution_mode" else why
            result = PageResult(
                file_of(env),
                cells=len(page.cells),
                left_out=why,
                is_optional=page.is_notebook and not page.complete,
            )
            state.results[env.docname] = result
            self.notebook.metadata.setdefault("language_info", {"pygments_lexer": "ipython3"})
            self._claim(page, result)
            return
        for path in _LOADED.findall(self._source):
            env.note_dependency(str(self._path.parent / path))
        stored = stored_outputs(self.notebook) if page.is_notebook else {}
        settings = state.settings
        if config.execution_mode != "cache":  # its own metadata says so
            settings = replace(settings, cache=None)
        result, execution, _ = run_and_judge(
            page,
            self.notebook,
            folder=self._path.parent,
            file=file_of(env),
            settings=settings,
        )
        every, page = page, chosen(page, execution.versions)
        for path in execution.answers.get(reads.__name__, ()) if settings.live else ():
            if Path(path).is_file():
                env.note_dependency(path)  # Sphinx reads the page again when the file changes
        show_stored(self.notebook, stored, execution)
        settle_streams(self.notebook)
        if state.shows_text and page.complete and not page.is_notebook:
            widgets = widgets_as_text(self.notebook, page)
            result = replace(result, outcomes=(*result.outcomes, *widgets))
        show_documented(self.notebook, page)
        state.results[env.docname] = result
        state.probed[env.docname] = execution.probed
        state.cache_keys[env.docname] = execution.cache_key
        state.ran.add(env.docname)
        self.exec_metadata = execution_metadata(execution)
        state.seconds[env.docname] = self.exec_metadata["runtime"]
        self._claim(every, result, {*hidden(self.notebook, page)})

    def _claim(self, page: Page, result: PageResult, unseen: Collection[int] = ()) -> None:
        """Leave what came of each expectation to its directive; not what no reader is shown."""
        outcomes = {o.line: o for o in result.outcomes if o.body_line and o.line not in unseen}
        expectations = [e for cell in page.cells for e in cell.expectations if not page.is_notebook]
        written = [(e.line, e.content) for e in expectations]
        written += [(p.line, p.documented) for p in page.problems if p.kind is Kind.NO_CELL]
        self._document.attributes["drift_claims"] += [
            Claim(line, content, outcomes.get(line)) for line, content in sorted(written)
        ]


_LOADED = re.compile(r"^\s*:?load:\s*(\S.*?)\s*$", re.MULTILINE)
"""A file that a cell's code is taken from."""
