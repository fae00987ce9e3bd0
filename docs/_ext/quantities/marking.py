"""The numbers of a page are marked when it is written: outputs, quotations and figures.

Outputs and figures stay as they are: an index at the end of the page says which number is which,
and `numbers.js` reads it. Only a quotation is written anew, as a link to the output it is from.
"""

from __future__ import annotations

import contextlib
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
    expanded,
    figure_fault,
    index,
    part_of,
    ranges,
    with_index,
)
from quantities.page_numbers import PageNumbers, numbers_of
from reference.ancestors import is_in
from sphinx_drift.compare.tokens import TokenKind, indices, tokens
from sphinx_drift.source.quote import read_quotation
from sphinx_drift.sphinx.quoted import quoted_number
from sphinx_drift.sphinx.state import results_of
from website.permalinks import linked
from website.stale_pages import rewrite_on_change
from website.structured_data import data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
BUILDERS = frozenset(("html", "dirhtml"))
TRACED = re.compile(r'data-trace="([\w-]+)\.([\d.]+)"[^>]*>([^<]+)<')
REMEDY = f"correct the page, its figure, or {declared.DATA}"


class MarkNumbers(SphinxPostTransform):
    """Say of each number that belongs to a quantity which one it is."""

    default_priority = 20  # quotations are filled in, and outputs have an id

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name not in BUILDERS:
            return
        try:
            page = numbers_of(Path(self.env.srcdir), self.env.docname)
        except MismatchError as error:
            self._warn(str(error), self.document)
            return
        marks = _Marks()
        if page is not None:
            self._mark_outputs(page, marks)
            self._mark_figures(page, marks)
        for node in list(self.document.findall(quoted_number)):
            self._mark_quotation(node, page, marks)
        if table := marks.table(page):
            script = data(table, 'type="application/json" id="numbers"')
            last = next(iter(self.document.findall(nodes.section)), self.document)
            last.append(nodes.raw("", script, format="html"))

    def _mark_outputs(self, page: PageNumbers, marks: _Marks) -> None:
        cells = _cells(self.document)
        if len(cells) != len(page.cells):
            self._warn(f"expected {len(page.cells)} cells, got {len(cells)}", self.document)
            return
        for number, cell in enumerate(cells, 1):
            if number in page.faults:
                self._warn(page.faults[number], cell)
            elif page.runs[number]:
                self._mark_output(cell, number, page, marks)

    def _mark_output(
        self, cell: nodes.Element, number: int, page: PageNumbers, marks: _Marks
    ) -> None:
        text = page.cells[number - 1].text.rstrip("\n")
        for output in cell.findall(nodes.container):
            blocks = list(output.findall(nodes.literal_block)) if _is_output(output) else ()
            if any(block.astext().rstrip("\n") == text for block in blocks):
                marks.outputs[output["ids"][0]] = page.runs[number]
                return
        shown = [n.astext() for n in cell.findall(nodes.literal_block)][1:]
        self._warn(f"expected the output {text!r}, as when it is run again; got {shown}", cell)

    def _mark_figures(self, page: PageNumbers, marks: _Marks) -> None:
        for figure in self.document.findall(captioned):
            for picture in figure.findall(nodes.raw):
                for root, path, shown in TRACED.findall(picture.astext()):
                    if root not in page.declared.figures or not re.search(r"\d", shown):
                        continue
                    part = part_of(page.declared.figures[root], page.made)
                    steps = [int(step) for step in path.split(".")]
                    if fault := figure_fault(shown, steps, part, page.made):
                        self._warn(f"{figure['ids'][0]}, {root}.{path}: {fault}", figure)
                    else:
                        marks.figures[root] = part

    def _mark_quotation(self, node: quoted_number, page: PageNumbers | None, marks: _Marks) -> None:
        """Make a quotation of a marked number a link to its output, on whichever page that is."""
        found = quoted_outcome(self.env, node["target"])
        if found is None or is_in(node, nodes.title, nodes.reference):
            return
        docname, cell, ordinal = found
        try:
            source = page if docname == self.env.docname else numbers_of(self._folder, docname)
        except MismatchError:
            return  # the page itself says so
        part = source.number(cell, ordinal) if source else None
        if source is None or part is None:
            return
        shown = node.astext()
        if fault := figure_fault(shown, (), part, source.made):
            self._warn(f"`{{printed}}{node['target']}`: {fault}", node)
            return
        of = part.quantity + index(int(part.places), source.made[part.quantity].shape)
        document = self.document if source is page else self.env.get_doctree(docname)
        place = f"#{output_id(document, cell)}"
        if source is not page:
            place = self.app.builder.get_relative_uri(self.env.docname, docname) + place
            if page is None or not page.has(source, part.quantity):
                of = marks.add_foreign(source, part, of, docname, self.env.titles[docname].astext())
            else:
                marks.quoted.add(part.quantity)
        link = f'<a class="quoted" href="{place}" data-of="{of}">{html.escape(shown)}</a>'
        node.replace_self(nodes.raw("", link, format="html"))

    @property
    def _folder(self) -> Path:
        return Path(self.env.srcdir)

    def _warn(self, problem: str, node: nodes.Node) -> None:
        logger.warning("%s; %s", problem, REMEDY, location=node, type="quantities")


class _Marks:
    """What is marked of a page so far, and what its notes say of others' numbers."""

    def __init__(self) -> None:
        self.outputs: dict[str, list[Run]] = {}  # by the id of the output
        self.figures: dict[str, Part] = {}
        self.quoted: set[str] = set()
        self.foreign: dict[str, list[object]] = {}

    def add_foreign(
        self, source: PageNumbers, part: Part, of: str, docname: str, title: str
    ) -> str:
        """Keep what a note says of one number of another page; return the number's name here."""
        quantity = source.declared.quantities[part.quantity]
        said = [quantity.symbol, quantity.name, quantity.source, *_uses(source, part)]
        name = f"{docname}:{of[:-1].replace('[', '/')}"
        symbol, text, made_from, *used = (
            with_index(each, quantity.axes, of, source.declared.words) for each in said
        )
        self.foreign[name] = [[], "", symbol, text, made_from, [[each] for each in used], title]
        return f"{name}[]"

    def table(self, page: PageNumbers | None) -> dict[str, object]:
        """Return what the script needs; nothing if nothing is marked."""
        used = {run.part.quantity for runs in self.outputs.values() for run in runs}
        used |= {part.quantity for part in self.figures.values()}
        if not used | self.quoted | self.foreign.keys():
            return {}
        of: dict[str, object] = dict(self.foreign)
        words: dict[str, Sequence[str]] = {}
        if page:
            for name in page.declared.quantities.keys() & (used | self.quoted):
                of[name] = _entry(page, name)
            asked = re.findall(r"\$w([a-z])", repr(of))
            words = {axis: page.declared.words[axis] for axis in sorted(set(asked))}
        return {
            "words": words,
            "of": dict(sorted(of.items())),
            "outputs": {
                name: [[run.first, run.part.quantity, ranges(run.part.places)] for run in runs]
                for name, runs in self.outputs.items()
            },
            "figures": {
                root: [part.quantity, [*part.places.shape], ranges(part.places)]
                for root, part in self.figures.items()
            },
        }


def _entry(page: PageNumbers, name: str) -> list[object]:
    """Return what the script needs to know of a quantity."""
    quantity = page.declared.quantities[name]
    uses = [[use.text, use.places] if use.places else [use.text] for use in page.uses[name]]
    said = (quantity.symbol, quantity.name, quantity.source)
    return [[*page.made[name].shape], quantity.axes, *said, uses]


def _uses(source: PageNumbers, part: Part) -> list[str]:
    """Return what one number is used in."""
    place = str(int(part.places))
    uses = source.uses[part.quantity]
    return [use.text for use in uses if not use.places or place in expanded(use.places)]


def _is(node: nodes.Element, kind: str) -> bool:
    return bool(node.get("nb_element") == kind)


def _is_output(node: nodes.Element) -> bool:
    return _is(node, "cell_code_output")


def _cells(document: nodes.document) -> list[nodes.container]:
    return [n for n in document.findall(nodes.container) if _is(n, "cell_code")]


def output_id(document: nodes.document, cell: int) -> str:
    """Return the id that a cell's output has, or will have once its page is written."""
    outputs = {id(node): name for node, kind, name in linked(document) if kind == "output"}
    return next(outputs[id(n)] for n in _cells(document)[cell - 1].findall() if id(n) in outputs)


def quoted_outcome(env: BuildEnvironment, target: str) -> tuple[str, int, int | None] | None:
    """Return the page, the cell, and which of its numbers a quotation is, counted from 0."""
    quotation = read_quotation(target)
    for docname, page in results_of(env).items():
        for each in page.outcomes:
            if each.name == quotation.name and each.cell is not None:
                ordinal = _ordinal(each.executed, quotation.index, quotation.place)
                return docname, each.cell, ordinal
    return None


def _ordinal(text: str, at: tuple[int, ...] | None, place: int | None) -> int | None:
    """Return which of an output's numbers is quoted, counted from 0."""
    found = tokens(text)
    numeric = [i for i, token in enumerate(found) if token.kind in (TokenKind.INT, TokenKind.FLOAT)]
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
    now = declared.read(Path(env.srcdir)).keys() | quoting(env).keys()
    before: set[str] = getattr(env, "quantities_pages", set())
    env.quantities_pages = now  # type: ignore[attr-defined]
    return (now | before) & env.found_docs


def quoting(env: BuildEnvironment) -> dict[str, set[str]]:
    """Return which pages quote numbers of others, and of which."""
    found: dict[str, set[str]] = {}
    for name, metadata in env.metadata.items():
        for target, _ in metadata.get("drift_quotations", ()):
            with contextlib.suppress(ValueError):  # the check of the quotations says so
                outcome = quoted_outcome(env, target)
                if outcome and outcome[0] != name:
                    found.setdefault(name, set()).add(outcome[0])
    return found


def quoted_pages(env: BuildEnvironment) -> list[object]:
    """Return what marks of quotations depend on: the quoted pages, what they print and where."""
    return [
        (
            name,
            Path(env.doc2path(name)).read_text("utf-8"),
            [each.executed for each in results_of(env)[name].outcomes],
            [place for _, kind, place in linked(env.get_doctree(name)) if kind == "output"],
        )
        for name in sorted(set().union(*quoting(env).values()))
    ]


def check_pages(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse declarations of pages that are not there."""
    for name in declared.read(Path(env.srcdir)).keys() - env.found_docs:
        message = "%s: there is no page %r; correct the name or add the page"
        logger.warning(message, declared.DATA, name, type="quantities")


def setup(app: Sphinx) -> None:
    app.add_post_transform(MarkNumbers)
    app.connect("builder-inited", add_files)
    app.connect("env-check-consistency", check_pages)
    rewrite_on_change(app, "quantities", shown, pages)
    rewrite_on_change(app, "quoted quantities", quoted_pages, lambda env: quoting(env).keys())
