"""The numbers of a page are marked when it is written: outputs, quotations and figures.

Outputs and figures stay as they are: an index at the end of the page says which number is which,
and `numbers.js` reads it. Only a quotation is written anew, as a link to the output it is from.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from figures.numbered_blocks import captioned
from quantities import declared
from quantities.matching import (
    NUMBER,
    MismatchError,
    Part,
    Run,
    figure_fault,
    index,
    part_of,
    ranges,
    runs_of,
    tensors,
)
from quantities.page_run import run_page
from reference.ancestors import is_in
from sphinx_drift.compare.tokens import Kind, indices, tokens
from sphinx_drift.source.quote import read_quotation
from sphinx_drift.sphinx.quoted import quoted_number
from sphinx_drift.sphinx.state import results_of
from website.stale_pages import rewrite_on_change
from website.structured_data import data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

    from quantities.page_run import PageRun

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
BUILDERS = frozenset(("html", "dirhtml"))
TRACED = re.compile(r'data-trace="([\w-]+)\.([\d.]+)"[^>]*>([^<]+)<')
REMEDY = f"correct the page, its figure, or {declared.DATA}"


class MarkNumbers(SphinxPostTransform):
    """Say of each number that belongs to a quantity of the page which one it is."""

    default_priority = 20  # quotations are filled in, and outputs have an id

    def run(self, **kwargs: object) -> None:
        book = declared.read(Path(self.env.srcdir))
        page = book.pages.get(self.env.docname)
        if page is None or self.app.builder.name not in BUILDERS:
            return
        run = run_page(Path(self.env.doc2path(self.env.docname)), page.bind)
        try:
            made = tensors(page, run.bound)
        except MismatchError as error:
            self._warn(str(error), self.document)
            return
        marks = _Marks(made)
        for cell, number in self._cells(run):
            try:
                marks.runs[number] = runs_of(run.cells[number - 1], page, made)
            except MismatchError as error:
                self._warn(str(error), cell)
            else:
                self._mark_output(cell, number, run, marks)
        for node in list(self.document.findall(quoted_number)):
            self._mark_quotation(node, marks)
        self._mark_figures(page, marks)
        if marks.outputs or marks.figures:
            self._write_index(book.words, page, marks)

    def _cells(self, run: PageRun) -> Iterator[tuple[nodes.Element, int]]:
        """Yield the code cells of the page with their number, counted from 1."""
        cells = [n for n in self.document.findall(nodes.container) if _is(n, "cell_code")]
        if len(cells) != len(run.cells):
            self._warn(f"expected {len(run.cells)} cells, got {len(cells)}", self.document)
            return
        yield from zip(cells, range(1, len(cells) + 1), strict=True)

    def _mark_output(self, cell: nodes.Element, number: int, run: PageRun, marks: _Marks) -> None:
        if not marks.runs[number]:
            return
        text = run.cells[number - 1].text.rstrip("\n")
        for output in cell.findall(nodes.container):
            blocks = list(output.findall(nodes.literal_block)) if _is_output(output) else ()
            if any(block.astext().rstrip("\n") == text for block in blocks):
                marks.outputs[output["ids"][0]] = marks.runs[number]
                marks.places[number] = output["ids"][0]
                return
        shown = [n.astext() for n in cell.findall(nodes.literal_block)][1:]
        self._warn(f"expected the output {text!r}, as when it is run again; got {shown}", cell)

    def _mark_quotation(self, node: quoted_number, marks: _Marks) -> None:
        """Make a quotation of a marked number a link to its output."""
        quotation = read_quotation(node["target"])
        page = results_of(self.env).get(self.env.docname)
        outcomes = page.outcomes if page else ()
        outcome = next((each for each in outcomes if each.name == quotation.name), None)
        if (
            outcome is None
            or outcome.cell not in marks.places
            or is_in(node, nodes.title, nodes.reference)
        ):
            return
        ordinal = _ordinal(outcome.executed, quotation.index, quotation.place)
        found = marks.number(outcome.cell, ordinal)
        if found is None:
            return
        part, shown = found, node.astext()
        fault = figure_fault(shown, (), part, marks.made)
        if fault:
            self._warn(f"`{{printed}}{node['target']}`: {fault}", node)
            return
        of = part.quantity + index(int(part.places), marks.made[part.quantity].shape)
        link = (
            f'<a class="quoted" href="#{marks.places[outcome.cell]}" data-of="{of}">'
            f"{html.escape(shown)}</a>"
        )
        node.replace_self(nodes.raw("", link, format="html"))

    def _mark_figures(self, page: declared.DeclaredPage, marks: _Marks) -> None:
        for figure in self.document.findall(captioned):
            for picture in figure.findall(nodes.raw):
                for root, path, shown in TRACED.findall(picture.astext()):
                    if root not in page.figures or not re.search(r"\d", shown):
                        continue
                    part = part_of(page.figures[root], marks.made)
                    steps = [int(step) for step in path.split(".")]
                    if fault := figure_fault(shown, steps, part, marks.made):
                        self._warn(f"{figure['ids'][0]}, {root}.{path}: {fault}", figure)
                    else:
                        marks.figures[root] = part

    def _write_index(
        self, words: Sequence[str], page: declared.DeclaredPage, marks: _Marks
    ) -> None:
        """Put what the script needs at the end of the page."""
        used = {run.part.quantity for runs in marks.outputs.values() for run in runs}
        used |= {part.quantity for part in marks.figures.values()}
        table = {
            "words": words,
            "of": {
                name: [
                    [*marks.made[name].shape],
                    each.axes,
                    *(each.symbol, each.name, each.source, each.used),
                ]
                for name, each in page.quantities.items()
                if name in used
            },
            "outputs": {
                name: [[run.first, run.part.quantity, ranges(run.part.places)] for run in runs]
                for name, runs in marks.outputs.items()
            },
            "figures": {
                root: [part.quantity, [*part.places.shape], ranges(part.places)]
                for root, part in marks.figures.items()
            },
        }
        script = data(table, 'type="application/json" id="numbers"')
        last = next(iter(self.document.findall(nodes.section)), self.document)
        last.append(nodes.raw("", script, format="html"))

    def _warn(self, problem: str, node: nodes.Node) -> None:
        logger.warning("%s; %s", problem, REMEDY, location=node, type="quantities")


class _Marks:
    """What is known of a page's numbers so far."""

    def __init__(self, made: dict[str, torch.Tensor]) -> None:
        self.made = made
        self.runs: dict[int, list[Run]] = {}  # by the number of the cell
        self.places: dict[int, str] = {}  # the ids of its output
        self.outputs: dict[str, list[Run]] = {}
        self.figures: dict[str, Part] = {}

    def number(self, cell: int, ordinal: int | None) -> Part | None:
        """Return what a number of a cell's output is, counted from 0."""
        for run in self.runs[cell]:
            places = run.part.places.flatten()
            if ordinal is not None and 0 <= ordinal - run.first < len(places):
                return Part(run.part.quantity, places[ordinal - run.first])
        return None


def _is(node: nodes.Element, kind: str) -> bool:
    return bool(node.get("nb_element") == kind)


def _is_output(node: nodes.Element) -> bool:
    return _is(node, "cell_code_output")


def _ordinal(text: str, at: tuple[int, ...] | None, place: int | None) -> int | None:
    """Return which of an output's numbers is quoted, counted from 0."""
    found = tokens(text)
    numeric = [i for i, token in enumerate(found) if token.kind in (Kind.INT, Kind.FLOAT)]
    if len(numeric) != len(NUMBER.findall(text)):
        return None
    if at is None:
        return (place or 1) - 1
    steps = indices(found, set(numeric))
    return next((n for n, i in enumerate(numeric) if steps[i] == at), None)


def add_files(app: Sphinx) -> None:
    """Add the script and its style sheet, which only pages with an index load."""
    if app.builder.name in BUILDERS:
        app.add_js_file("numbers.js", loading_method="defer")
        app.add_css_file("numbers.css")


def shown(env: BuildEnvironment) -> list[str]:
    """Return what the marks of all pages depend on besides their sources."""
    files = (Path(env.srcdir, declared.DATA), *sorted(HERE.glob("*.py")))
    return [file.read_text("utf-8") for file in files if file.is_file()]


def pages(env: BuildEnvironment) -> set[str]:
    """Return the pages that have marks, and those that had some."""
    now = set(declared.read(Path(env.srcdir)).pages)
    before: set[str] = getattr(env, "quantities_pages", set())
    env.quantities_pages = now  # type: ignore[attr-defined]
    return (now | before) & env.found_docs


def check_pages(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse declarations of pages that are not there."""
    for name in declared.read(Path(env.srcdir)).pages.keys() - env.found_docs:
        message = "%s: there is no page %r; correct the name or add the page"
        logger.warning(message, declared.DATA, name, type="quantities")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("figures.numbered_blocks")
    app.setup_extension("website.permalinks")  # which gives outputs their ids
    app.add_post_transform(MarkNumbers)
    app.connect("builder-inited", add_files)
    app.connect("env-check-consistency", check_pages)
    rewrite_on_change(app, "quantities", shown, pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
