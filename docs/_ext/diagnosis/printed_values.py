"""What each page prints, collected as it is read: the outputs that were verified in this build."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes

from ancestors import ancestors, titled_section
from sphinx_drift.api import drift_mark
from website.permalinks import linked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

KEY = "printed_values"


class Printed(NamedTuple):
    """An output that was verified in this build."""

    section: str
    """The id of the section that it is in."""
    title: str
    anchor: str
    text: str


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note what the page that was read has printed."""
    app.env.metadata[app.env.docname][KEY] = list(verified(doctree))


def verified(doctree: nodes.document) -> Iterator[Printed]:
    """Yield the outputs of a page that are marked as verified."""
    anchors = {id(node): name for node, name in linked(doctree)}
    output: nodes.Element | None = None
    for node in doctree.findall(nodes.Element):
        if id(node) in anchors:
            output = node
        elif isinstance(node, drift_mark) and node["label"] == "verified" and output is not None:
            yield _printed(output, anchors[id(output)])
            output = None


def _printed(output: nodes.Element, anchor: str) -> Printed:
    section = titled_section(output)
    cell = next(each for each in ancestors(output) if each.get("nb_element") == "cell_code")
    text = [block.astext() for block in cell.findall(nodes.literal_block) if is_output(block)]
    return Printed(
        section["ids"][0] if section else "",
        section[0].astext() if section else "",
        anchor,
        "\n".join(text),
    )


def is_output(block: nodes.Node) -> bool:
    return any(each.get("nb_element") == "cell_code_output" for each in ancestors(block))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", collect)
