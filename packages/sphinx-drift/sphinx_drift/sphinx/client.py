"""Runs a page as it is read: MyST-NB's parser, with a client that judges what cells print."""

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

from sphinx_drift.judge import judge_page
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page
from sphinx_drift.run.reads import reads
from sphinx_drift.run.results import Execution
from sphinx_drift.run_and_judge import make_task, run_and_judge
from sphinx_drift.source.expectations import read_page
from sphinx_drift.source.markdown import read_markdown
from sphinx_drift.source.metadata import left_out_by
from sphinx_drift.source.notebook import parse_notebook, read_notebook
from sphinx_drift.source.read_source import is_notebook
from sphinx_drift.source.variants import choose_variants
from sphinx_drift.sphinx.marks import drift_mark, mark_of
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
    widgets_as_text,
)
from sphinx_drift.sphinx.state import current_page_state, file_of, record, state_of

_UNSEEN = "the expectation isn't on the page: something above it has swallowed it"
_EMPTY = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
"""A notebook to show instead of one that can't be read."""
_LOADED = re.compile(r"^\s*:?load:\s*(\S.*?)\s*$", re.MULTILINE)
"""A file that a cell's code is taken from."""


class Claim(NamedTuple):
    """The mark of an expectation, until its directive asks for it."""

    line: int
    content: str
    mark: drift_mark | None
    """None if a reader is not shown the output."""


class VerifyingParser(Parser):  # type: ignore[misc]  # untyped
    """Reads a page as MyST-NB does, with a client that checks what it runs.

    A page with nothing to check is run by MyST-NB's client, and its outputs are counted.
    """

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Read a page; its cells are run and checked before it is rendered."""
        env = document.settings.env
        is_translated = str(document.current_source).endswith("<translated>")  # a sentence of it
        if is_notebook(Path(env.doc2path(env.docname))) and not is_translated:
            try:
                parse_notebook(inputstring)
            except ValueError as error:  # MyST-NB takes for granted what a notebook holds
                record(env, Outcome(Kind.UNREADABLE, 1, message=str(error)))
                inputstring = _EMPTY
        unchecked: list[tuple[Page, NotebookClientBase]] = []

        def client(stock: Callable[..., NotebookClientBase], *arguments: Any) -> NotebookClientBase:
            notebook, source, nb_config, logger, *_ = arguments
            ours = VerifyingClient(inputstring, document, notebook, Path(source), nb_config, logger)
            if ours.page is None or ours.page.is_checked:
                return ours
            unchecked.append((ours.page, stock(*arguments)))
            return unchecked[-1][1]

        claims: list[Claim] = []
        document.attributes["drift_claims"] = claims
        with with_clients(client):
            super().parse(inputstring, document)
        for name in ("drift_claims", "drift_nested"):
            document.attributes.pop(name, None)
        for page, its in unchecked:
            everything = Execution(frozenset(cell.index for cell in page.cells))
            # MyST-NB's client may have replaced the notebook by one from its cache.
            result = judge_page(page, its.notebook, everything, file=file_of(env))
            if result.outcomes:
                known = {"cells": result.cells, "is_notebook": result.is_notebook}
                record(env, *result.outcomes, **known)
        for claim in claims:
            record(env, Outcome(Kind.UNREADABLE, claim.line, message=_UNSEEN))


@contextmanager
def _reporting_errors(document: nodes.document) -> Iterator[None]:
    """Record an error of ours, which must never pass for a success."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whatever it is
        message = traceback.format_exc(limit=-3)
        record(document.settings.env, Outcome(Kind.COULD_NOT_CHECK, 1, message=message))
        document.attributes["drift_claims"] = None


class VerifyingClient(NotebookClientBase):  # type: ignore[misc]
    """Runs a page in a fresh kernel, whatever the execution mode, and checks it."""

    def __init__(self, source: str, document: nodes.document, *of_myst_nb: Any) -> None:
        """Read a page from its source."""
        super().__init__(*of_myst_nb)
        self._source, self._document = source, document
        self._env = env = document.settings.env
        self.page: Page | None = None
        """The page; None if it can't be read, which is recorded."""
        env.metadata[env.docname]["drift_complete"] = False
        with _reporting_errors(document):
            if "source_map" in self.notebook.metadata and not is_notebook(self._path):
                reading = read_markdown(source, markdown_config(env))
                document.attributes["drift_nested"] = [f for f in reading.fences if not f.is_read]
                page = read_page(reading, self.notebook, self.nb_config)
            else:
                page = read_notebook(self.notebook, self.nb_config)
                env.metadata[env.docname]["drift_cells"] = [cell.index for cell in page.cells]
            self.page = state_of(env).settings.applied_to(page, self._path)
            is_run = self.page.is_checked and bool(page.cells or page.problems)
            page_state = current_page_state(env)
            page_state.seconds = 0.0 if is_run else None
            env.metadata[env.docname]["drift_complete"] = self.page.complete

    def start_client(self) -> None:
        """Run the page's cells and record their outcomes."""
        page = self.page
        if page and (page.cells or page.problems):
            with _reporting_errors(self._document):
                why = left_out_by(self._path, self.notebook.metadata, self.nb_config)
                marks = self._leave_out(page, why) if why else self._verify(page)
                self._document.attributes["drift_claims"] += _claims(page, marks)

    def _leave_out(self, page: Page, why: str) -> Mapping[int, drift_mark]:
        """Record that the page is not executed, so that no expectation gets a mark."""
        self.notebook.metadata.setdefault("language_info", {"pygments_lexer": "ipython3"})
        is_optional = page.is_notebook and not page.complete
        known = {"cells": len(page.cells), "left_out": why, "names": page.names}
        record(self._env, **known, is_optional=is_optional)
        return {}

    def _verify(self, page: Page) -> Mapping[int, drift_mark]:
        """Run the page and record its result; return the marks of expectations by their lines."""
        env, state, page_state = self._env, state_of(self._env), current_page_state(self._env)
        for path in _LOADED.findall(self._source):
            env.note_dependency(str(self._path.parent / path))
        stored = [cell.get("outputs", []) for cell in self.notebook.cells]
        settings = state.settings
        if self.nb_config.execution_mode != "cache":  # as its metadata may say
            settings = replace(settings, cache=None)
        task = make_task(Path(file_of(env)), page, self.notebook, settings)
        result, execution, _ = run_and_judge(task)
        for path in execution.answers.get(reads.__name__, ()) if env.config.drift_live else ():
            if Path(path).is_file():
                env.note_dependency(path)  # Sphinx reads the page again when the file changes
        page = choose_variants(page, execution.versions)
        show_stored(self.notebook, stored, page)
        settle_streams(self.notebook)
        if state.shows_text and page.complete and not page.is_notebook:
            widgets = widgets_as_text(self.notebook, page)
            result = replace(result, outcomes=(*result.outcomes, *widgets))
        show_documented(self.notebook, page)
        self.exec_metadata = execution_metadata(execution)
        page_state.result, page_state.seconds = result, self.exec_metadata["runtime"]
        page_state.probed, page_state.cache_key = execution.probed, execution.cache_key
        state.ran.add(env.docname)
        unseen, ran_at = {*hidden(self.notebook, page)}, self.exec_metadata["mtime"]
        return {
            outcome.line: mark_of(outcome, result, ran_at)
            for outcome in result.outcomes
            if outcome.body_line and outcome.line not in unseen
        }


def _claims(page: Page, marks: Mapping[int, drift_mark]) -> list[Claim]:
    """Return a claim for each directive of a page, in order."""
    expectations = [e for cell in page.cells for e in cell.expectations if not page.is_notebook]
    written = [(e.line, e.content) for e in expectations]
    written += [(p.line, p.documented) for p in page.problems if p.kind is Kind.NO_CELL]
    return [Claim(line, content, marks.get(line)) for line, content in sorted(written)]
