"""The Sphinx extension: run each MyST-NB page as it is read, check it, fail the build."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import myst_nb.sphinx_ as myst_nb_sphinx
from docutils import nodes
from myst_nb.core.execute.base import NotebookClientBase
from myst_nb.ext.glue.utils import PendingGlueReference
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from sphinx import addnodes
from sphinx.builders import Builder
from sphinx.config import ENUM
from sphinx.errors import ConfigError, ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.console import colorize
from sphinx.util.docutils import SphinxDirective, SphinxRole

from selfattn.drift.check import Outcome, PageResult
from selfattn.drift.compare import Policy
from selfattn.drift.configuration import find_packages, find_reference
from selfattn.drift.device import chosen_device
from selfattn.drift.formats import exit_status, to_github, to_json
from selfattn.drift.incremental import load_origins, save_origins, surroundings
from selfattn.drift.kinds import Kind
from selfattn.drift.quote import read_quotation
from selfattn.drift.quoted import fill_copies, fill_nodes, quotation, quoted_number
from selfattn.drift.report import describe_environment, render, use_color
from selfattn.drift.rerun import Fresh, run_again, run_page, seen, unsettled
from selfattn.drift.shown import settle_streams, show_stored, stored_outputs
from selfattn.drift.sources import DIRECTIVE, notebook_of_page, read_notebook, read_page
from selfattn.drift.state import state_of
from selfattn.drift.texts import changed_texts, note_dependencies, note_source
from selfattn.drift.verify import Settings, chosen_policy, planned, report_origins
from selfattn.drift.warned import keep_warned, listen, load_warned, save_warned
from selfattn.drift.written import mark_written, outdated_outputs
from selfattn.runner.choice import RUNNER_VARIABLE, chosen
from selfattn.runner.extension import forget_pages, left_out, start, use_the_wait
from selfattn.runner.fork import code_of
from selfattn.runner.highlight import keep_formatters
from selfattn.runner.results import OUTPUT_LIMIT
from selfattn.runner.run import Begun, begin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from myst_nb.core.read import NbReader
    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

    from selfattn.drift.incremental import Origin
    from selfattn.drift.sources import Page
    from selfattn.runner.results import Execution

__all__ = ["all_results_of", "results_of", "setup"]

_LOGGER = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Set the extension up."""
    if "myst_nb" not in app.extensions:
        msg = (
            "selfattn.drift checks the pages that MyST-NB runs: put 'myst_nb' before it in "
            "conf.py: extensions = ['myst_nb', 'selfattn.drift']"
        )
        raise ExtensionError(msg)
    start()
    app.add_config_value("drift_policy", "auto", "env", str)
    app.add_config_value("drift_device", "cpu", "env", str)
    app.add_config_value("drift_reference", None, "env", (dict, type(None)))
    app.add_config_value("drift_rerun", "always", "", ENUM(*RERUNS))
    app.add_config_value("drift_packages", None, "env", (dict, type(None)))
    app.add_config_value("drift_timeout", 300, "env", int)
    app.add_config_value("drift_output_limit", OUTPUT_LIMIT, "env", int)
    app.add_config_value("drift_twice", default=False, rebuild="env", types=bool)
    app.add_source_parser(VerifyingParser, override=True)
    app.add_builder(DriftBuilder)
    app.add_directive(DIRECTIVE, ExpectedOutput)
    app.add_directive("code-cell", NestedCell, override=True)
    app.add_role("printed", Printed())
    app.add_node(quoted_number)
    app.add_role("eval", UncheckedRole(), override=True)
    app.add_directive("eval", UncheckedDirective, override=True)
    app.add_directive_to_domain("eval", "figure", UncheckedDirective, override=True)
    app.add_post_transform(QuoteNumbers)
    app.add_post_transform(QuoteNumbersInReferences)
    app.connect("doctree-read", _keep_quotations)
    app.connect("doctree-read", _warn_if_off)
    app.add_node(
        drift_mark,
        html=(_visit_mark, _depart_mark),
        latex=(_skip, None),
        man=(_skip, None),
        texinfo=(_skip, None),
        text=(_skip, None),
    )
    app.connect("config-inited", _leave_copies_out)
    app.connect("builder-inited", listen)
    app.connect("builder-inited", _read_settings)
    app.connect("builder-inited", keep_formatters)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-before-read-docs", _begin, priority=900)  # others may add pages
    app.connect("env-purge-doc", _forget)
    app.connect("env-updated", _note_read)
    app.connect("env-updated", keep_warned)
    app.connect("env-updated", _fill_titles, priority=-sys.maxsize)  # before any page is written
    app.connect("env-get-updated", _rewrite)
    app.connect("doctree-resolved", _note_written)
    app.connect("env-merge-info", _merge)
    app.connect("build-finished", _report)
    app.connect("build-finished", save_warned)
    app.connect("build-finished", forget_pages)
    return {
        "version": "1",
        "env_version": 3,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


NOTHING_EXECUTED = (
    f"Nothing was executed or verified: {RUNNER_VARIABLE}=off is for writing prose. "
    "Unset it, and build again."
)


# Settings and results, which live on the environment ----------------------------------


def _leave_copies_out(app: Sphinx, config: Config) -> None:
    """Keep the notebooks that MyST-NB writes beside the output folder from being read as pages."""
    copies = Path(app.outdir).parent / OUTPUT_FOLDER
    if copies.is_relative_to(app.srcdir):
        config.exclude_patterns.append(copies.relative_to(app.srcdir).as_posix())


def _read_settings(app: Sphinx) -> None:
    """Read the configuration before the first page."""
    if app.config.nb_execution_mode == "inline":
        msg = "selfattn.drift runs whole pages; set nb_execution_mode = 'force', not 'inline'"
        raise ConfigError(msg)
    try:
        policy = chosen_policy(app.config.drift_policy)
        device = chosen_device(app.config.drift_device)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if device.told:
        _LOGGER.info("pages compute on %s", device.told)
    reference = app.config.drift_reference
    if reference is None:
        reference = find_reference(Path(app.confdir))
    rerun = app.config.drift_rerun
    if rerun == "changed" and os.environ.get("CI"):
        raise ConfigError(
            'drift_rerun = "changed" leaves out pages that seem unchanged, and is refused under '
            'CI; set it to "always", or for builds elsewhere alone'
        )
    packages = _packages(app)
    report_origins(packages)
    settings = Settings(
        policy,
        reference,
        timeout=app.config.drift_timeout,
        output_limit=app.config.drift_output_limit,
        twice=bool(app.config.drift_twice),
        packages=packages,
        allow_errors=app.config.nb_execution_allow_errors,
    )
    _BUILDS[app.env] = _Build(settings, surroundings(settings))


RERUNS = ("always", "changed", "later")
"""Which pages run whose text is what it was: all, those that seem to depend on something that
changed, or those now and all others in a build that follows at once, as the live server's does."""


@dataclass
class _Build:
    """What is known in one build, and not kept for the next."""

    settings: Settings
    surroundings: str
    begun: Begun = field(default_factory=Begun)
    """The pages that have been asked for; they are dropped when this build ends."""
    started: int = field(default_factory=time.time_ns)
    fresh: dict[str, Fresh] = field(default_factory=dict)
    """The runs of this build, by document name."""
    left: set[str] = field(default_factory=set)
    """Pages that were not run in this build."""
    origins: dict[str, Origin] = field(default_factory=dict)
    """What those depend on."""
    read: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    in_titles: dict[str, str] = field(default_factory=dict)
    """Numbers that are quoted in titles, by what is quoted."""


_BUILDS: WeakKeyDictionary[BuildEnvironment, _Build] = WeakKeyDictionary()


def _packages(app: Sphinx) -> Mapping[str, Path]:
    """Return the packages that pages must import from the project, as conf.py or it says."""
    confdir, configured = Path(app.confdir), app.config.drift_packages
    if configured is None:
        return find_packages(confdir)
    return {name: confdir / folder for name, folder in configured.items()}


def _results(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page, by document name."""
    return state_of(env).results


def results_of(env: BuildEnvironment) -> Mapping[str, PageResult]:
    """Return what came of each page that has cells, by document name, for a page that tells it."""
    return MappingProxyType(_results(env))


def _record(env: BuildEnvironment, *outcomes: Outcome) -> None:
    """Add outcomes to the page that is being read."""
    results = _results(env)
    page = results.get(env.docname) or PageResult(_file(env))
    results[env.docname] = replace(page, outcomes=(*page.outcomes, *outcomes))


def _file(env: BuildEnvironment, docname: str = "") -> str:
    """Return the name of a page, the one that is being read by default, as one would type it."""
    path = Path(env.doc2path(docname or env.docname))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


# Which pages are run, read and written -------------------------------------------------


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], _removed: set[str]
) -> Sequence[str]:
    """Run the pages that Sphinx would not read; have it read those that show something else."""
    state, build = state_of(env), _BUILDS[env]
    executed = chosen() != "off"
    before, state.executed = state.executed, executed
    to_read = set(added | changed)
    if before != executed:
        to_read |= env.found_docs
    to_read |= changed_texts(env, state) | load_warned(app)
    # A build that was ended, or runs at the same time, has written what this one knows nothing of.
    to_read |= {n for n, known in state.doctrees.items() if _doctree(app, n) != known}
    # Where the check itself failed, nothing was run, and nobody knows why.
    failed = {name for name, page in state.results.items() if page.failed}
    to_read |= failed - state.runs.keys()
    if executed:
        kept = sorted(state.runs.keys() & env.found_docs - to_read)
        if app.config.drift_rerun != "always":
            origins = load_origins(_origins(app))
            build.left = {
                name
                for name in origins.keys() & kept
                if origins[name].is_current(seen(state.runs[name].notebook, build.surroundings))
            }
            build.origins = {name: origins[name] for name in build.left}
        to_run = [name for name in kept if name not in build.left]
        _begin_all(env, to_run, sorted(to_read & env.found_docs))
        to_read.update(_differing(app, env, to_run))
        to_read |= changed_texts(env, state)  # by what has just been run: pictures, included files
    return sorted(to_read & env.found_docs)


def _origins(app: Sphinx) -> Path:
    """Return where it is kept what pages depend on."""
    return Path(app.doctreedir, "drift-origins.json")


def _begin_all(env: BuildEnvironment, to_run: list[str], to_read: list[str]) -> None:
    """Have pages begin: those that are run alone, and those that are going to be read."""
    build, runs = _BUILDS[env], state_of(env).runs
    settings = {
        Path(env.doc2path(name)): build.settings.of_page(runs[name].notebook.metadata)
        for name in to_run
    }
    known = {
        path: [code for _, code in code_of(runs[name].notebook)]
        for path, name in zip(settings, to_run, strict=True)
    }
    mode, patterns = env.config.nb_execution_mode, env.config.nb_execution_excludepatterns
    paths = [Path(env.doc2path(name)) for name in to_read]
    build.begun = begin(
        [path for path in paths if not left_out(path, mode, patterns)],
        lambda page, cells: planned(page.parent, settings.get(page, build.settings), cells),
        known=known,
    )


_FETCHED_AT_ONCE = 8


def _differing(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> list[str]:
    """Run pages whose text is what it was, and return those that now show something else."""
    state, build = state_of(env), _BUILDS[env]

    def run(docname: str) -> Fresh:
        return run_again(
            state.runs[docname],
            folder=Path(env.doc2path(docname)).parent,
            file=_file(env, docname),
            settings=build.settings,
            surroundings=build.surroundings,
        )

    # Forked pages run already, on all cores as long as somebody waits for each that is over. A
    # kernel is started for each page that is asked for.
    at_once = _FETCHED_AT_ONCE if build.begun.cells else max(1, app.parallel)
    with ThreadPoolExecutor(at_once) as pool:
        build.fresh.update(zip(docnames, pool.map(run, docnames), strict=True))
    differing = []
    for docname in docnames:
        fresh = build.fresh[docname]
        same = fresh.run.shown == state.runs[docname].shown
        if same and fresh.result == state.results.get(docname):
            state.results[docname], state.runs[docname] = fresh.result, fresh.run
        else:
            differing.append(docname)
    return differing


def _begin(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Do first what needs no outputs."""
    build = _BUILDS[env]
    build.read = [*docnames]
    if docnames:
        use_the_wait(app, docnames, build.begun)


def _forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    state = state_of(env)
    state.forget(docname)
    if docname in env.found_docs:
        note_source(env, state, docname)


def _merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Sequence[str], other: BuildEnvironment
) -> None:
    state_of(env).merge(docnames, state_of(other))


def _doctree(app: Sphinx, docname: str) -> tuple[int, int]:
    """Return when the doctree of a page was written, and its size."""
    try:
        found = Path(app.doctreedir, f"{docname}.doctree").stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _note_read(app: Sphinx, env: BuildEnvironment) -> None:
    """Keep what the pages were read from, and that their doctrees are of this build."""
    build = _BUILDS[env]
    state_of(env).doctrees.update({name: _doctree(app, name) for name in build.read})
    build.fresh.clear()
    note_dependencies(env, state_of(env), build.read, build.started)


def _rewrite(app: Sphinx, env: BuildEnvironment) -> Sequence[str]:
    """Have pages written again that show something else than when they were written."""
    return outdated_outputs(app, _all_quoted(env))


def _note_written(app: Sphinx, _doctree: nodes.document, docname: str) -> None:
    """Note that a page is about to be written."""
    _BUILDS[app.env].written.add(docname)


def _all_quoted(env: BuildEnvironment) -> dict[str, list[str]]:
    """Return the numbers that each page shows of others: what it quotes, and those in titles."""
    in_titles = [f"{target} {number}" for target, number in _BUILDS[env].in_titles.items()]
    named = _named(env)
    runs = state_of(env).runs
    glued = sorted(f"{name} {run.shown}" for name, run in runs.items())
    quoted = {
        name: [_quoted(named, target) for target, _ in metadata["drift_quotations"]]
        for name, metadata in env.metadata.items()
        if "drift_quotations" in metadata
    }
    return {
        name: [
            *quoted.get(name, ()),
            *in_titles,
            *(glued if env.metadata.get(name, {}).get("drift_glued") else ()),
        ]
        for name in env.found_docs
    }


# Running a page as it is read ---------------------------------------------------------


_IS_NOTEBOOK = "selfattn_drift_is_notebook"
"""Whether the page that is being read is a notebook: it is forgotten with the page."""


class VerifyingParser(myst_nb_sphinx.Parser):  # type: ignore[misc]  # untyped
    """Reads a page as MyST-NB does, with a client that checks what it runs."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Read a page; its cells are run and checked before it is rendered."""
        document.attributes["drift_unclaimed"] = []

        def client(
            notebook: NotebookNode, source: str, nb_config: Any, logger: Any, *_: Any, **__: Any
        ) -> NotebookClientBase:
            return VerifyingClient(notebook, Path(source), nb_config, logger, inputstring, document)

        with _as_client(client):
            super().parse(inputstring, document)
        document.attributes.pop("drift_unclaimed")
        document.attributes.pop("drift_failed", None)


@contextmanager
def _as_client(make: Callable[..., NotebookClientBase]) -> Iterator[None]:
    """Have MyST-NB make its clients with ``make`` for the while, and its readers with ours."""
    stock = myst_nb_sphinx.create_client, myst_nb_sphinx.create_nb_reader
    myst_nb_sphinx.create_client = make
    myst_nb_sphinx.create_nb_reader = partial(_create_reader, stock[1])
    try:
        yield
    finally:
        myst_nb_sphinx.create_client, myst_nb_sphinx.create_nb_reader = stock


def _create_reader(stock: Callable[..., NbReader | None], *arguments: Any) -> NbReader | None:
    """Make MyST-NB's reader of a page, and have it count lines as Markdown does."""
    reader = stock(*arguments)
    if reader is None or (reader.read_fmt or {}).get("name") != "myst_nb_md":
        return reader
    return replace(reader, read=partial(notebook_of_page, reader.read))


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
        document.settings.env.temp_data[_IS_NOTEBOOK] = True

    def start_client(self) -> None:
        """Run the page's cells and record what came of them."""
        try:
            self._verify()
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            env = self._document.settings.env
            told = traceback.format_exc(limit=-3)
            _record(env, Outcome(Kind.COULD_NOT_CHECK, 1, message=told))
            self._document.attributes["drift_failed"] = True

    def _verify(self) -> None:
        env = self._document.settings.env
        if "source_map" in self.notebook.metadata:
            page = read_page(self._source, self.notebook, env.myst_config)
        else:
            page = read_notebook(self.notebook, self._source, stderr=True)
        if not page.cells and not page.problems:
            return
        config = self.nb_config
        why = left_out(self._path, config.execution_mode, config.execution_excludepatterns)
        if why or chosen() == "off":
            self.notebook.metadata.setdefault("language_info", {"pygments_lexer": "ipython3"})
            self._document.attributes["drift_unclaimed"] = _claims(page, PageResult(_file(env)))
            if why:
                result = PageResult(_file(env), cells=len(page.cells), left_out=why)
                state_of(env).results[env.docname] = result
            return
        for picture in _pictures_of(page, self._path.parent):
            env.note_dependency(str(picture))
        begun = datetime.now(UTC)
        for path in _LOADED.findall(self._source):
            env.note_dependency(str(self._path.parent / path))
        stored = stored_outputs(self.notebook) if page.stored else {}
        fresh = self._run(page)
        execution = fresh.execution
        stopped_at = {execution.failure.index} if execution.failure else set()
        show_stored(self.notebook, stored, execution.executed | stopped_at)
        settle_streams(self.notebook)
        state = state_of(env)
        state.results[env.docname], state.runs[env.docname] = fresh.result, fresh.run
        self._document.attributes["drift_unclaimed"] = _claims(page, fresh.result)
        self.exec_metadata = _metadata(begun, execution)

    def _run(self, page: Page) -> Fresh:
        """Run the page, unless these cells have been run in this build."""
        env = self._document.settings.env
        build = _BUILDS[env]
        fresh = build.fresh.get(env.docname)
        if fresh is not None and fresh.is_of(page, self.notebook):
            fresh.fill(self.notebook)
            return fresh
        return run_page(
            *(page, self.notebook),
            folder=self._path.parent,
            file=_file(env),
            settings=build.settings,
            surroundings=build.surroundings,
        )


_LOADED = re.compile(r"^\s*:?load:\s*(\S.*?)\s*$", re.MULTILINE)
"""A file that a cell's code is taken from."""


def _pictures_of(page: Page, folder: Path) -> list[Path]:
    """Return the files of the pictures that a page documents: it is read again if they change."""
    named = (e.text for cell in page.cells for e in cell.expectations if e.likeness is not None)
    return [folder / name.strip() for text in named for name in text.splitlines()]


def _claims(page: Page, result: PageResult) -> list[tuple[str, Outcome | None]]:
    """Return the content of each expectation at the top level, in order, and what came of it."""
    by_line = {outcome.line: outcome for outcome in result.outcomes if outcome.body_line}
    orphans = [(p.line, p.text, None) for p in page.problems if p.kind is Kind.NO_CELL]
    expectations = [e for cell in page.cells for e in cell.expectations]
    claims = [*((e.line, e.content, by_line.get(e.line)) for e in expectations), *orphans]
    in_order = sorted(claims, key=itemgetter(0))
    return [(_as_directive(content), outcome) for _, content, outcome in in_order]


def _as_directive(content: str) -> str:
    """Return the content of a directive as Sphinx hands it over, which splits more lines."""
    return "\n".join(content.splitlines()).strip()


def _metadata(begun: datetime, execution: Execution) -> dict[str, Any]:
    """Return what MyST-NB keeps of a run."""
    ended = datetime.now(UTC)
    return {
        "mtime": ended.timestamp(),
        "runtime": (ended - begun).total_seconds(),
        "method": "selfattn.drift",
        "succeeded": execution.failure is None,
        "error": execution.failure.message if execution.failure else None,
        "traceback": None,
    }


class NestedCell(SphinxDirective):
    """A code cell where none is run: inside a directive, or on a page that is no notebook."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Record that it wasn't run."""
        _record_unseen(self, "a code cell here is never run")
        return []


def _record_unseen(directive: SphinxDirective, told: str, documented: str = "") -> None:
    """Record that something is never looked at, or once that nothing on its page is."""
    env = directive.env
    if _IS_NOTEBOOK in env.temp_data:  # `eval-rst` reads what it holds into another document
        _record(env, _nested(directive, told, documented))
        return
    missing = "`file_format: mystnb` is missing in its front matter: its cells are never run"
    page = _results(env).get(env.docname)
    if page is None or all(outcome.message != missing for outcome in page.outcomes):
        _record(env, Outcome(Kind.UNREADABLE, 1, message=missing))


def _nested(directive: SphinxDirective, told: str, documented: str = "") -> Outcome:
    """Say that something is never looked at, and in which file if the page includes it."""
    if not _of_the_page(directive):
        source = Path(directive.state.document.reporter.source or "")
        told = f"{told}: line {directive.lineno} of {source.name}, which the page includes"
    return Outcome(Kind.NESTED, directive.lineno, message=told, documented=documented)


def _of_the_page(directive: SphinxDirective) -> bool:
    """Tell whether a directive stands in the page itself, not in a file that it includes."""
    source = Path(directive.state.document.reporter.source or "")
    return source == Path(directive.env.doc2path(directive.env.docname))


def _at_top_level(directive: SphinxDirective) -> bool:
    """Tell whether a directive stands in nothing but sections."""
    node: nodes.Node | None = directive.state_machine.node
    while isinstance(node, nodes.section):
        node = node.parent
    return isinstance(node, nodes.document)


# What the reader sees -----------------------------------------------------------------


class drift_mark(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The small mark below an output that says whether it was verified."""


class ExpectedOutput(SphinxDirective):
    """What the cell before it must print: shown as a mark, checked by the page's client."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Put the mark of this expectation's outcome below the cell's output."""
        unclaimed = self.state.document.attributes.get("drift_unclaimed", [])
        text = "\n".join(self.content).strip()
        at_top = _at_top_level(self) and _of_the_page(self)
        # Those at the top level come in order; their lines are not to be had from MyST-NB.
        claim = next((claim for claim in unclaimed if claim[0] == text), None) if at_top else None
        if claim is None:
            if not self.state.document.attributes.get("drift_failed"):
                _record_unseen(self, "an expectation here is never checked", text)
            return []
        unclaimed.remove(claim)
        outcome = claim[1]
        if outcome is None:
            return []
        page = _results(self.env)[self.env.docname]
        structural = outcome.kind is Kind.VERIFIED and page.policy is Policy.STRUCTURE
        label = "not verified" if structural else outcome.kind.label
        said, words = _said(outcome, label), _words(outcome, page)
        return [drift_mark("", label=label, said=said, words=words, docname=self.env.docname)]


# What the policies ask for, to a reader who asks what "verified" means.
_ASKED = {
    Policy.EXACT: "Each word and each digit is the documented one.",
    Policy.PORTABLE: "Each number is the documented one, up to float32's rounding.",
    Policy.STRUCTURE: "Numbers were not compared, only what stands around them.",
}


def _said(outcome: Outcome, label: str) -> str:
    """Say what came of an output, as short as can be."""
    if outcome.kind is Kind.NOT_COMPARED:
        return f"not compared here: {outcome.message}"
    if outcome.kind is Kind.UNCHECKED:
        return f"{label}: {outcome.message}"
    waived = len(outcome.verdict.waived)
    return f"{label}, {waived} waived" if waived else label


def _words(outcome: Outcome, page: PageResult) -> list[str]:
    """Say how it was compared, what was forgiven, and on what it ran."""
    verdict = outcome.verdict
    if outcome.kind in (Kind.UNCHECKED, Kind.NOT_COMPARED):
        return [describe_environment([page])]
    waived = [f"{w.documented} → {w.executed}: {w.reason}" for w in verdict.waived]
    asked = [_ASKED[page.policy]] if outcome.kind is Kind.VERIFIED and not waived else []
    if outcome.reference_only and outcome.kind is Kind.VERIFIED:
        asked = [f"It holds on the reference environment alone: {outcome.reference_only}."]
    places = len(verdict.accepted)
    rounded = [f"Up to rounding in {places} place{'s' * (places > 1)}."] if places else []
    return [*asked, *waived, *rounded, describe_environment([page])]


def _visit_mark(translator: Any, node: drift_mark) -> None:
    """Write the mark: what came of the output, and behind it how, on what and when."""
    words = [*node["words"], *_day(translator.builder.env, node["docname"])]
    told = "".join(f"<span>{translator.encode(word)}</span> " for word in words)
    translator.body.append(
        f'<div class="drift-mark drift-{node["label"].replace(" ", "-")}"><details>'
        f"<summary>{translator.encode(node['said'])}</summary><p>{told}</p></details></div>\n"
    )


def _day(env: BuildEnvironment, docname: str) -> list[str]:
    """Return the day on which a page was run."""
    data = myst_nb_sphinx.NbMetadataCollector.get_exec_data(env, docname)
    return [f"Run on {datetime.fromtimestamp(data['mtime'], UTC):%Y-%m-%d}."] if data else []


def _depart_mark(_translator: Any, _node: drift_mark) -> None:
    pass


def _skip(_translator: Any, _node: drift_mark) -> None:
    raise nodes.SkipNode


# Numbers in sentences -----------------------------------------------------------------


class Printed(SphinxRole):
    """Quotes a number that a cell printed: ``{printed}`weights[1] .0%```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place for the number."""
        node = quotation(self.text)
        self.set_source_info(node)
        return [node], []


class QuoteNumbers(SphinxPostTransform):
    """Puts the numbers where they are quoted."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Fill in each number of a page that is written."""
        fill_nodes(self.document, lambda target: _quoted(_named(self.env), target))


class QuoteNumbersInReferences(QuoteNumbers):
    """Puts them into the titles too that references to them show, once these are resolved."""

    default_priority = 990


def _fill_titles(_app: Sphinx, env: BuildEnvironment) -> None:
    """Fill in the numbers in titles, which any page may show."""
    _BUILDS[env].in_titles = fill_copies(env, partial(_quoted, _named(env)))


def _named(env: BuildEnvironment) -> Mapping[str, Sequence[Outcome]]:
    """Return the outcomes that have a name, by it."""
    named: dict[str, list[Outcome]] = {}
    for page in _results(env).values():
        for outcome in page.outcomes:
            if outcome.name:
                named.setdefault(outcome.name, []).append(outcome)
    return named


def _quoted(named: Mapping[str, Sequence[Outcome]], target: str) -> str:
    """Return what stands for a quotation on the page."""
    try:
        return quote(named, target)
    except ValueError:
        return "?"  # said by _check_quotations, once for all builders


def quote(named: Mapping[str, Sequence[Outcome]], target: str) -> str:
    """Return a number that a cell of the book printed.

    Raises:
        ValueError: If there is none, or several outputs have the name.

    """
    quotation = read_quotation(target)
    outcomes = named.get(quotation.name, ())
    if len(outcomes) != 1:
        msg = f"{len(outcomes) or 'no'} expectations are named {quotation.name}"
        raise ValueError(msg)
    if outcomes[0].kind is Kind.UNCHECKED:
        msg = f"{quotation.name} is unchecked, so nobody knows that its numbers are right"
        raise ValueError(msg)
    return quotation.of(outcomes[0].executed)


_EVALUATED = (
    "`{eval}` shows a value that no cell printed, so nothing documents it: print it in a cell, "
    "and quote it with `{printed}`"
)


class UncheckedRole(SphinxRole):
    """MyST-NB's ``{eval}`` in a sentence: a value that nothing documents."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Record that nothing checks it."""
        _record(self.env, Outcome(Kind.QUOTATION, self.lineno, message=_EVALUATED))
        return [nodes.inline("", "?")], []


class UncheckedDirective(SphinxDirective):
    """MyST-NB's ``{eval}`` as a directive."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Record that nothing checks it."""
        _record(self.env, Outcome(Kind.QUOTATION, self.lineno, message=_EVALUATED))
        return []


def _keep_quotations(app: Sphinx, doctree: nodes.document) -> None:
    """Remember what a page quotes, and where."""
    found = [(node["target"], node.line or 1) for node in doctree.findall(quoted_number)]
    if found:
        app.env.metadata[app.env.docname]["drift_quotations"] = found
    if any(doctree.findall(PendingGlueReference)):  # what other pages glue is shown here
        app.env.metadata[app.env.docname]["drift_glued"] = True
    # What {term} refers to is the term's text, which may not change with a number.
    message = "a term of a glossary can't quote a number: put the number into its definition"
    for glossary in doctree.findall(addnodes.glossary):
        for term in glossary.findall(nodes.term):
            if any(term.findall(quoted_number)):
                _record(app.env, Outcome(Kind.QUOTATION, glossary.line or 1, message=message))


def _warn_if_off(_app: Sphinx, doctree: nodes.document) -> None:
    """Say at the head of every page that nothing was executed, if nothing was."""
    if chosen() == "off":
        place = next(iter(doctree.findall(nodes.section)), doctree)
        after_title = 1 if isinstance(place, nodes.section) else 0
        place.insert(after_title, nodes.warning("", nodes.paragraph("", NOTHING_EXECUTED)))


def _check_quotations(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page, with what it quotes that no cell printed."""
    results, named = dict(_results(env)), _named(env)
    for docname, metadata in env.metadata.items():
        wrong: list[Outcome] = []
        for target, line in metadata.get("drift_quotations", []):
            try:
                quote(named, target)
            except ValueError as error:
                wrong.append(Outcome(Kind.QUOTATION, line, message=str(error)))
        if wrong:
            page = results.get(docname) or PageResult(_file(env, docname))
            results[docname] = replace(page, outcomes=(*page.outcomes, *wrong))
    return results


# The verdict --------------------------------------------------------------------------


def all_results_of(env: BuildEnvironment) -> list[PageResult]:
    """Return what came of each page, and of what pages quote, in the order of their names."""
    build, state = _BUILDS[env], state_of(env)
    results = []
    for docname, page in sorted(_check_quotations(env).items()):
        if docname in build.left:
            results.append(replace(page, was_run=False))
        elif docname in state.runs and (
            late := state.runs[docname].origin.changed(by_content=True)
        ):
            results.append(unsettled(page, late))
        else:
            results.append(page)
    return results


def _report(app: Sphinx, exception: Exception | None) -> None:
    """Tell what came of every page, those read by an earlier build too, and fail."""
    if exception is not None:
        return
    build, state = _BUILDS[app.env], state_of(app.env)
    mark_written(app, _all_quoted(app.env), build.written)
    if chosen() == "off":
        _LOGGER.warning("%s", NOTHING_EXECUTED, type="selfattn", subtype="off")
        return
    ran = ((name, run.origin) for name, run in state.runs.items() if name not in build.left)
    save_origins(_origins(app), [*build.origins.items(), *ran])
    results = all_results_of(app.env)
    if app.builder.name == DriftBuilder.name:
        Path(app.outdir, "drift.txt").write_text(render(results, verbose=True) + "\n", "utf-8")
        Path(app.outdir, "drift.json").write_text(to_json(results), "utf-8")
    if os.environ.get("GITHUB_ACTIONS"):
        sys.stdout.writelines(f"{line}\n" for line in to_github(results))
    # Sphinx colours under CI too; a report is coloured for a terminal, if Sphinx may colour.
    colored = use_color(sys.stderr) and colorize("bold", "") != ""
    told = render(results, color=colored)
    if exit_status(results):
        app.statuscode = 1
        _LOGGER.error("%s", f"\n{told}")
        return
    forgiven, _, last = told.rpartition("\n\n")
    if forgiven:
        _LOGGER.info("%s", forgiven)
    # The builder's closing words come after every extension's: the summary ends them.
    last = last.replace("%", "%%")
    epilog = f"{app.builder.epilog}\n\n{last}" if app.builder.epilog else last
    app.builder.epilog = epilog  # type: ignore[misc]  # of this builder alone


class DriftBuilder(Builder):
    """Runs and checks every page and writes nothing but the report: ``sphinx-build -b drift``."""

    name = "drift"
    epilog = "The report is in %(outdir)s: drift.txt and drift.json."
    allow_parallel = True

    def get_outdated_docs(self) -> set[str]:
        """Return nothing: pages are checked as they are read."""
        return set()

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Return nothing: there is nothing to link to."""
        return ""

    def write_documents(self, docnames: AbstractSet[str]) -> None:
        """Write nothing."""
