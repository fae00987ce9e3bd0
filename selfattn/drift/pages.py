"""The Sphinx extension: run each MyST-NB page as it is read, check it, fail the build."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import myst_nb.sphinx_ as myst_nb_sphinx
from docutils import nodes
from myst_nb.core.execute.base import NotebookClientBase
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from sphinx.builders import Builder
from sphinx.errors import ConfigError, ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.console import colorize
from sphinx.util.docutils import SphinxDirective, SphinxRole

from selfattn.drift.check import Outcome, PageResult
from selfattn.drift.compare import Policy
from selfattn.drift.configuration import find_reference
from selfattn.drift.device import chosen_device
from selfattn.drift.formats import exit_status, to_github, to_json
from selfattn.drift.incremental import Made, made_from, project_of, surroundings
from selfattn.drift.kinds import Kind
from selfattn.drift.quote import read_quotation
from selfattn.drift.report import describe_environment, render, use_color
from selfattn.drift.shown import settle_streams, show_stored, stored_outputs
from selfattn.drift.sources import DIRECTIVE, read_notebook, read_page
from selfattn.drift.verify import Settings, chosen_policy, planned, verify
from selfattn.runner.choice import RUNNER_VARIABLE, chosen
from selfattn.runner.extension import start, use_the_wait
from selfattn.runner.highlight import keep_formatters
from selfattn.runner.run import begin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

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
    app.add_config_value("drift_timeout", 300, "env", int)
    app.add_config_value("drift_twice", default=False, rebuild="env", types=bool)
    app.add_source_parser(VerifyingParser, override=True)
    app.add_builder(DriftBuilder)
    app.add_directive(DIRECTIVE, ExpectedOutput)
    app.add_directive("code-cell", NestedCell, override=True)
    app.add_role("printed", Printed())
    app.add_role("eval", UncheckedRole(), override=True)
    app.add_directive("eval", UncheckedDirective, override=True)
    app.add_directive_to_domain("eval", "figure", UncheckedDirective, override=True)
    app.add_post_transform(QuoteNumbers)
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
    app.connect("builder-inited", _read_settings)
    app.connect("builder-inited", keep_formatters)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-updated", _rewrite)
    app.connect("env-before-read-docs", _begin)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("build-finished", _report)
    return {
        "version": "1",
        "env_version": 2,
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
    settings = Settings(
        policy, reference, app.config.drift_timeout, twice=bool(app.config.drift_twice)
    )
    app.env.selfattn_drift_settings = settings  # type: ignore[attr-defined]
    app.env.selfattn_drift_surroundings = surroundings(settings)  # type: ignore[attr-defined]


def _results(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page, by document name."""
    if not hasattr(env, "selfattn_drift"):
        env.selfattn_drift = {}  # type: ignore[attr-defined]
    found: dict[str, PageResult] = env.selfattn_drift  # type: ignore[attr-defined]
    return found


def _settings(env: BuildEnvironment) -> Settings:
    settings: Settings = env.selfattn_drift_settings  # type: ignore[attr-defined]
    return settings


def _surroundings(env: BuildEnvironment) -> str:
    now: str = env.selfattn_drift_surroundings  # type: ignore[attr-defined]
    return now


def _made(env: BuildEnvironment) -> dict[str, Made]:
    """Return what each page was made from, by document name."""
    if not hasattr(env, "selfattn_drift_made"):
        env.selfattn_drift_made = {}  # type: ignore[attr-defined]
    found: dict[str, Made] = env.selfattn_drift_made  # type: ignore[attr-defined]
    return found


def _keep_origin(env: BuildEnvironment, execution: Execution) -> None:
    """Keep what the page that is being read was made from, if that is known."""
    if execution.failure is None or execution.failure.kind is Kind.RAISED:
        project = project_of(Path(env.srcdir))
        _made(env)[env.docname] = made_from(execution.files, _surroundings(env), project)


def results_of(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page that has cells, by document name, for a page that tells it."""
    return dict(sorted(_results(env).items()))


def _outdated(
    app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], _removed: set[str]
) -> Sequence[str]:
    """Have pages read again that were made from something else than what is there now."""
    executed = chosen() != "off"
    before = getattr(env, "selfattn_drift_executed", executed)
    env.selfattn_drift_executed = executed  # type: ignore[attr-defined]
    if before != executed:
        return sorted(env.found_docs)
    if not executed:
        return []
    now = _surroundings(env)
    made = _made(env)
    old = (name for name in _results(env) if name not in made or not made[name].holds(now))
    return [name for name in old if name in env.found_docs]


def _rewrite(_app: Sphinx, env: BuildEnvironment) -> Sequence[str]:
    """Have pages written again that quote numbers which are others now."""
    before = getattr(env, "selfattn_drift_quoted", {})
    quoted = {
        name: [_quoted(env, target) for target, _ in said["drift_quotations"]]
        for name, said in env.metadata.items()
        if "drift_quotations" in said
    }
    env.selfattn_drift_quoted = quoted  # type: ignore[attr-defined]
    return [name for name, numbers in quoted.items() if numbers != before.get(name)]


def _begin(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Have the pages begin that are about to be read."""
    settings = _settings(env)
    pages = (Path(env.doc2path(name)) for name in sorted(docnames))
    begun = begin(pages, lambda page, cells: planned(page.parent, settings, cells))
    use_the_wait(app, docnames, begun)


def _forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _results(env).pop(docname, None)
    _made(env).pop(docname, None)


def _merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Sequence[str], other: BuildEnvironment
) -> None:
    theirs = _results(other)
    _results(env).update({name: theirs[name] for name in docnames if name in theirs})
    origins = _made(other)
    _made(env).update({name: origins[name] for name in docnames if name in origins})


def _record(env: BuildEnvironment, *outcomes: Outcome) -> None:
    """Add outcomes to the page that is being read."""
    results = _results(env)
    page = results.get(env.docname) or PageResult(_file(env))
    results[env.docname] = replace(page, outcomes=(*page.outcomes, *outcomes))


def _file(env: BuildEnvironment, docname: str = "") -> str:
    """Return the name of a page, the one that is being read by default, as one would type it."""
    path = Path(env.doc2path(docname or env.docname))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


# Running a page as it is read ---------------------------------------------------------


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


@contextmanager
def _as_client(make: Callable[..., NotebookClientBase]) -> Iterator[None]:
    """Have MyST-NB make its clients with ``make`` for the while."""
    stock = myst_nb_sphinx.create_client
    myst_nb_sphinx.create_client = make
    try:
        yield
    finally:
        myst_nb_sphinx.create_client = stock


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

    def start_client(self) -> None:
        """Run the page's cells and record what came of them."""
        try:
            self._verify()
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            env = self._document.settings.env
            told = traceback.format_exc(limit=-3)
            _record(env, Outcome(Kind.COULD_NOT_CHECK, 1, message=told))

    def _verify(self) -> None:
        env = self._document.settings.env
        if "source_map" in self.notebook.metadata:
            page = read_page(self._source, self.notebook, env.myst_config)
        else:
            page = read_notebook(self.notebook, self._source, stderr=True)
        if not page.cells and not page.problems:
            return
        if chosen() == "off":
            self.notebook.metadata.setdefault("language_info", {"pygments_lexer": "ipython3"})
            self._document.attributes["drift_unclaimed"] = _claims(page, PageResult(_file(env)))
            return
        for picture in _pictures_of(page, self._path.parent):
            env.note_dependency(str(picture))
        begun = datetime.now(UTC)
        stored = stored_outputs(self.notebook) if page.stored else {}
        result, execution = verify(
            page,
            self.notebook,
            folder=self._path.parent,
            file=_file(env),
            settings=_settings(env),
        )
        stopped_at = {execution.failure.index} if execution.failure else set()
        show_stored(self.notebook, stored, execution.executed | stopped_at)
        settle_streams(self.notebook)
        _results(env)[env.docname] = result
        _keep_origin(env, execution)
        self._document.attributes["drift_unclaimed"] = _claims(page, result)
        self.exec_metadata = _metadata(begun, execution)


def _pictures_of(page: Page, folder: Path) -> list[Path]:
    """Return the files of the pictures that a page documents: it is read again if they change."""
    named = (e.text for cell in page.cells for e in cell.expectations if e.likeness is not None)
    return [folder / name.strip() for text in named for name in text.splitlines()]


def _claims(page: Page, result: PageResult) -> list[tuple[str, Outcome | None]]:
    """Return the content of each expectation that was looked at, and what came of it."""
    by_line = {outcome.line: outcome for outcome in result.outcomes if outcome.body_line}
    expectations = [e for cell in page.cells for e in cell.expectations]
    orphans: list[tuple[str, Outcome | None]] = [
        (problem.text, None) for problem in page.problems if problem.kind is Kind.NO_CELL
    ]
    return [(e.content, by_line.get(e.line)) for e in expectations] + orphans


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
    if "nb_renderer" in directive.state.document.attributes:
        _record(env, _nested(directive, told, documented))
        return
    missing = "`file_format: mystnb` is missing in its front matter: its cells are never run"
    page = _results(env).get(env.docname)
    if page is None or all(outcome.message != missing for outcome in page.outcomes):
        _record(env, Outcome(Kind.UNREADABLE, 1, message=missing))


def _nested(directive: SphinxDirective, told: str, documented: str = "") -> Outcome:
    """Say that something is never looked at, and in which file if the page includes it."""
    source = Path(directive.state.document.reporter.source or "")
    if source != Path(directive.env.doc2path(directive.env.docname)):
        told = f"{told}: line {directive.lineno} of {source.name}, which the page includes"
    return Outcome(Kind.NESTED, directive.lineno, message=told, documented=documented)


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
        claim = next((claim for claim in unclaimed if claim[0] == text), None)
        if claim is None:
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
    if outcome.kind is Kind.UNCHECKED:
        return f"{label}: {outcome.message}"
    waived = len(outcome.verdict.waived)
    return f"{label}, {waived} waived" if waived else label


def _words(outcome: Outcome, page: PageResult) -> list[str]:
    """Say how it was compared, what was forgiven, and on what it ran."""
    verdict = outcome.verdict
    if outcome.kind is Kind.UNCHECKED:
        return [describe_environment([page])]
    waived = [f"{w.documented} → {w.executed}: {w.reason}" for w in verdict.waived]
    asked = [_ASKED[page.policy]] if outcome.kind is Kind.VERIFIED and not waived else []
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


class quoted_number(nodes.Inline, nodes.TextElement):  # noqa: N801 - docutils names nodes so
    """A number that a cell printed, wherever in the book; filled in once all pages are read."""


class Printed(SphinxRole):
    """Quotes a number that a cell printed: ``{printed}`weights[1] .0%```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place for the number."""
        node = quoted_number("", "?", target=self.text)
        self.set_source_info(node)
        return [node], []


class QuoteNumbers(SphinxPostTransform):
    """Puts the numbers where they are quoted."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Fill in each number of a page that is written."""
        for node in list(self.document.findall(quoted_number)):
            text = _quoted(self.env, node["target"])
            node.replace_self(nodes.inline("", text, classes=["drift-quoted"]))


def _quoted(env: BuildEnvironment, target: str) -> str:
    """Return what stands for a quotation on the page."""
    try:
        return quote(env, target)
    except ValueError:
        return "?"  # said by _check_quotations, once for all builders


def quote(env: BuildEnvironment, target: str) -> str:
    """Return a number that a cell of the book printed.

    Raises:
        ValueError: If there is none, or several outputs have the name.

    """
    quotation = read_quotation(target)
    named = [
        o for page in _results(env).values() for o in page.outcomes if o.name == quotation.name
    ]
    if len(named) != 1:
        msg = f"{len(named) or 'no'} expectations are named {quotation.name}"
        raise ValueError(msg)
    if named[0].kind is Kind.UNCHECKED:
        msg = f"{quotation.name} is unchecked, so nobody knows that its numbers are right"
        raise ValueError(msg)
    return quotation.of(named[0].executed)


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


def _warn_if_off(_app: Sphinx, doctree: nodes.document) -> None:
    """Say at the head of every page that nothing was executed, if nothing was."""
    if chosen() == "off":
        place = next(iter(doctree.findall(nodes.section)), doctree)
        after_title = 1 if isinstance(place, nodes.section) else 0
        place.insert(after_title, nodes.warning("", nodes.paragraph("", NOTHING_EXECUTED)))


def _check_quotations(env: BuildEnvironment) -> dict[str, PageResult]:
    """Return what came of each page, with what it quotes that no cell printed."""
    results = dict(_results(env))
    for docname, metadata in env.metadata.items():
        wrong: list[Outcome] = []
        for target, line in metadata.get("drift_quotations", []):
            try:
                quote(env, target)
            except ValueError as error:
                wrong.append(Outcome(Kind.QUOTATION, line, message=str(error)))
        if wrong:
            page = results.get(docname) or PageResult(_file(env, docname))
            results[docname] = replace(page, outcomes=(*page.outcomes, *wrong))
    return results


# The verdict --------------------------------------------------------------------------


def all_results_of(env: BuildEnvironment) -> list[PageResult]:
    """Return what came of each page, and of what pages quote, in the order of their names."""
    return [page for _, page in sorted(_check_quotations(env).items())]


def _report(app: Sphinx, exception: Exception | None) -> None:
    """Tell what came of every page, those read by an earlier build too, and fail."""
    if exception is not None:
        return
    if chosen() == "off":
        _LOGGER.warning("%s", NOTHING_EXECUTED, type="selfattn", subtype="off")
        return
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
