"""Mark the numbers of a page when it is written: outputs, quotations and figures.

Outputs and figures stay as they are: an index at the end of the page says which number is which,
and `numbers.js` reads it. Only a quotation is written anew, as a link to the output it is from.
"""

from __future__ import annotations

import contextlib
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from ancestors import is_in
from figures.numbered_blocks import captioned
from quantities import declared
from quantities.matching import MismatchError, Part, Run, fault, index, part_of, ranges
from quantities.page_numbers import PageNumbers, numbers_of
from sphinx_drift import api
from website.pages import data
from website.permalinks import linked

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

BUILDERS = frozenset(("html", "dirhtml"))
TRACED = re.compile(r'data-trace="([\w-]+)\.([\d.]+)"[^>]*>([^<]+)<')
REMEDY = f"correct the page, its figure, or {declared.DATA}"


class MarkNumbers(SphinxPostTransform):
    """Say of each number that belongs to a quantity which one it is."""

    default_priority = 20  # quotations are filled in, and outputs have an id

    def run(self, **kwargs: object) -> None:
        executed = any(not page.left_out for page in api.results(self.env).values())
        if self.app.builder.name not in BUILDERS or not executed:
            return
        outputs = _outputs(self.document)
        texts = {cell: text for cell, (_, text) in outputs.items()}
        try:
            page = numbers_of(self.env, self.env.docname, texts)
        except MismatchError as error:
            self._warn(str(error), self.document)
            return
        marks = _Marks()
        if page is not None:
            for expression in page.missing:
                self._warn(f"no output prints {expression}", self.document)
            marks.outputs = {outputs[cell][0]: runs for cell, runs in page.runs.items() if runs}
            self._mark_figures(page, marks)
        for node in list(self.document.findall(api.quoted_number)):
            self._mark_quotation(node, page, marks)
        if marks.outputs:
            self._invite(next(iter(marks.outputs)))
        if page is not None and (table := marks.table(page)):
            script = data(table, 'type="application/json" id="numbers"')
            last = next(iter(self.document.findall(nodes.section)), self.document)
            last.append(nodes.raw("", script, format="html"))

    def _invite(self, name: str) -> None:
        """Say below the first output whose numbers are marked that they can be touched."""
        output = next(node for node, each in linked(self.document) if each == name)
        text = '<p class="numbers-invite"></p>'  # its text is in the style sheet: a script's alone
        output.parent.insert(output.parent.index(output) + 1, nodes.raw("", text, format="html"))

    def _mark_figures(self, page: PageNumbers, marks: _Marks) -> None:
        for figure in self.document.findall(captioned):
            for picture in figure.findall(nodes.raw):
                for root, path, shown in TRACED.findall(picture.astext()):
                    if root not in page.declared.figures or not re.search(r"\d", shown):
                        continue
                    part = part_of(page.declared.figures[root], page.made)
                    steps = [int(step) for step in path.split(".")]
                    if wrong := fault(shown, steps, part, page.made):
                        self._warn(f"{figure['ids'][0]}, {root}.{path}: {wrong}", figure)
                    else:
                        marks.figures[root] = part

    def _mark_quotation(
        self, node: api.quoted_number, page: PageNumbers | None, marks: _Marks
    ) -> None:
        """Make a quotation of a marked number a link to its output, on whichever page that is."""
        quoted = _quoted(self.env, node["target"])
        if quoted is None or is_in(node, nodes.title, nodes.reference):
            return
        is_here = quoted.docname == self.env.docname
        document = self.document if is_here else self.env.get_doctree(quoted.docname)
        outputs = _outputs(document)
        source = page
        if not is_here:
            texts = {cell: text for cell, (_, text) in outputs.items()}
            with contextlib.suppress(MismatchError):  # the page itself says so
                source = numbers_of(self.env, quoted.docname, texts)
        part = source.number(quoted.cell, quoted.place) if source else None
        if source is None or part is None:
            return
        shown = node.astext()
        if wrong := fault(shown, (), part, source.made):
            self._warn(f"`{{printed}}{node['target']}`: {wrong}", node)
            return
        place, of = f"#{outputs[quoted.cell][0]}", ""
        if not is_here:
            place = self.app.builder.get_relative_uri(self.env.docname, quoted.docname) + place
        if is_here or (page is not None and page.has(source, part.quantity)):
            marks.quoted.add(part.quantity)
            name = part.quantity + index(int(part.places), source.made[part.quantity].shape)
            of = f' data-of="{name}"'
        link = f'<a class="quoted" href="{place}"{of}>{html.escape(shown)}</a>'
        node.replace_self(nodes.raw("", link, format="html"))

    def _warn(self, problem: str, node: nodes.Node) -> None:
        logger.warning("%s; %s", problem, REMEDY, location=node, type="quantities")


class _Marks:
    """What is marked of a page so far."""

    def __init__(self) -> None:
        self.outputs: dict[str, list[Run]] = {}  # by the id of the output
        self.figures: dict[str, Part] = {}
        self.quoted: set[str] = set()

    def table(self, page: PageNumbers) -> dict[str, object]:
        """Return what the script needs; nothing if nothing is marked."""
        parts = [run.part for runs in self.outputs.values() for run in runs]
        parts += self.figures.values()
        used = sorted({part.quantity for part in parts} | self.quoted)
        if not used:
            return {}
        quantities = page.declared.quantities
        of = {
            name: [[*page.made[name].shape], quantities[name].axes, *page.note(name)]
            for name in used
        }
        asked = re.findall(r"\$w([a-z])", repr(of))
        words = {axis: page.declared.words[axis] for axis in sorted(set(asked))}
        return {
            "words": words,
            "of": of,
            "outputs": {
                name: [[run.part.quantity, ranges(run.part.places), run.spans] for run in runs]
                for name, runs in self.outputs.items()
            },
            "figures": {
                root: [part.quantity, [*part.places.shape], ranges(part.places)]
                for root, part in self.figures.items()
            },
        }


def _quoted(env: BuildEnvironment, target: str) -> api.Quoted | None:
    try:
        return api.quoted(env, target)
    except ValueError:
        return None  # the check of the quotations says so


def _outputs(document: nodes.document) -> dict[int, tuple[str, str]]:
    """Return the id that each cell's output has, or will have, and its text, by cell."""
    names = {id(node): name for node, name in linked(document)}
    cells = (n for n in document.findall(nodes.container) if n.get("nb_element") == "cell_code")
    outputs: dict[int, tuple[str, str]] = {}
    for number, cell in enumerate(cells, 1):
        for node in cell.findall(nodes.container):
            block = next(iter(node.findall(nodes.literal_block)), None)
            if id(node) in names and block is not None:
                outputs[number] = names[id(node)], block.astext()
    return outputs


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Load the script and its style sheet on pages that have a table of numbers."""
    if app.builder.name in BUILDERS and 'id="numbers"' in context.get("body", ""):
        app.add_js_file("numbers.js", loading_method="defer")
        app.add_css_file("numbers.css")


def note_data(app: Sphinx, doctree: nodes.document) -> None:
    """Read pages with cells again when the declarations change, or how they are matched."""
    if _outputs(doctree):
        for file in (Path(app.srcdir, declared.DATA), *Path(__file__).parent.glob("*.py")):
            app.env.note_dependency(str(file))


def check_pages(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse declarations of pages that are not there."""
    for name in declared.read(Path(env.srcdir)).keys() - env.found_docs:
        message = "%s: there is no page %r; correct the name or add the page"
        logger.warning(message, declared.DATA, name, type="quantities")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_values")
    app.add_post_transform(MarkNumbers)
    app.connect("html-page-context", add_files)
    app.connect("doctree-read", note_data)
    app.connect("env-check-consistency", check_pages)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
