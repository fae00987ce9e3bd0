"""What each page prints, with an id for each output, and links to it from numbers in sentences.

An id is made of the section's and a count within it, such as `step-1-output-2`, so it stays the
same when other sections change.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import traverse_parent

from sphinx_drift import api


class Output(NamedTuple):
    """What a page prints, below the title of a section."""

    anchor: str
    heading: str
    text: str
    verified: bool


def outputs_of(env: BuildEnvironment, page: str) -> Sequence[Output]:
    """Return what a page prints, as it was read."""
    return env.metadata[page].get("outputs", ())  # type: ignore[no-any-return]


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Keep what the page that was read prints; a mark after an output says that it is verified."""
    anchors = {id(node): anchor for node, anchor in linked(doctree)}
    outputs: list[Output] = []
    for node in doctree.findall(nodes.Element):
        if anchor := anchors.get(id(node)):
            section = titled_section(node)
            heading = section[0].astext() if section is not None else ""
            text = "\n".join(block.astext() for block in node.findall(nodes.literal_block))
            outputs.append(Output(anchor, heading, text, verified=False))
        elif isinstance(node, api.drift_mark) and node["label"] == "verified" and outputs:
            outputs[-1] = outputs[-1]._replace(verified=True)
    app.env.metadata[app.env.docname]["outputs"] = outputs


def linked(document: nodes.document) -> Iterator[tuple[nodes.Element, str]]:
    """Yield each output with its id: the one it has, or the one it gets when it is written."""
    counts: Counter[str] = Counter()
    taken = set(document.ids)
    for node in document.findall(nodes.container):
        if node.get("nb_element") == "cell_code_output":
            stem = _stem(node)
            counts[stem] += 1
            while not node["ids"] and f"{stem}-{counts[stem]}" in taken:
                counts[stem] += 1
            yield node, node["ids"][0] if node["ids"] else f"{stem}-{counts[stem]}"


def titled_section(node: nodes.Element) -> nodes.section | None:
    """Return the section with a title that a node is in; exercises make sections without one."""
    sections = (each for each in traverse_parent(node) if isinstance(each, nodes.section))
    return next((each for each in sections if isinstance(each[0], nodes.title)), None)


def _stem(node: nodes.Element) -> str:
    section = titled_section(node)
    if section is None or isinstance(section.parent, nodes.document):
        return "output"
    return f"{section['ids'][0]}-output"


class NameOutputs(SphinxPostTransform):
    """Give outputs their ids."""

    default_priority = 15

    def run(self, **kwargs: object) -> None:
        for node, name in list(linked(self.document)):
            if not node["ids"]:
                node["ids"].append(name)


class LinkQuotations(SphinxPostTransform):
    """Make a number in a sentence a link to the output that it quotes."""

    default_priority = 20  # it is filled in, and outputs have their ids
    builders = ("html", "dirhtml")

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(api.quoted_number)):
            is_linked = any(traverse_parent(node.parent, (nodes.title, nodes.reference)))
            if not is_linked and (place := self._place(node)):
                link = nodes.reference("", "", *node.children, internal=True, refuri=place)
                node.replace_self(link)

    def _place(self, node: api.quoted_number) -> str:
        with suppress(ValueError):  # the check of the quotations says so
            if quoted := api.quoted(self.env, node["target"]):
                return self._address(quoted.docname, quoted.cell)
        return ""

    def _address(self, docname: str, cell: int) -> str:
        is_here = docname == self.env.docname
        document = self.document if is_here else self.env.get_doctree(docname)
        cells = [n for n in document.findall(nodes.container) if n.get("nb_element") == "cell_code"]
        inside = {id(node) for node in cells[cell - 1].findall(nodes.container)}
        names = (name for node, name in linked(document) if id(node) in inside)
        page = "" if is_here else self.app.builder.get_relative_uri(self.env.docname, docname)
        return f"{page}#{name}" if (name := next(names, "")) else ""


def setup(app: Sphinx) -> None:
    app.add_post_transform(NameOutputs)
    app.add_post_transform(LinkQuotations)
    app.connect("doctree-read", collect)
