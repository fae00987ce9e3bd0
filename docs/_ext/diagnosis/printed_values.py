"""What each page prints, collected as it is read: verified outputs, and the mistakes they show.

A mistake is a section below the one named `mistakes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes

from diagnosis.packing import printed_names
from reference.ancestors import ancestors, titled_section
from sphinx_drift.sphinx.marks import drift_mark
from website.permalinks import linked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

KEY = "printed_values"
MISTAKES = "mistakes"


class Printed(NamedTuple):
    """An output that was verified in this build."""

    section: str
    """The id of the section that it is in."""
    title: str
    anchor: str
    names: tuple[str, ...]
    """What the cell printed, as its code calls it."""
    text: str
    is_mistake: bool


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note what the page that was read has printed."""
    app.env.metadata[app.env.docname][KEY] = list(verified(doctree))


def printed_by(env: BuildEnvironment) -> dict[str, list[Printed]]:
    """Return what each page has printed, by its name."""
    fields = sorted(env.metadata.items())
    return {name: of_page[KEY] for name, of_page in fields if of_page.get(KEY)}


def verified(doctree: nodes.document) -> Iterator[Printed]:
    """Yield the outputs of a page that are marked as verified."""
    anchors = {id(node): name for node, kind, name in linked(doctree) if kind == "output"}
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
    blocks = [(is_output(block), block.astext()) for block in cell.findall(nodes.literal_block)]
    source, *text = [text for own in (False, True) for kind, text in blocks if kind is own]
    return Printed(
        section["ids"][0] if section else "",
        section[0].astext() if section else "",
        anchor,
        tuple(printed_names(source)),
        "\n".join(text),
        MISTAKES in getattr(getattr(section, "parent", None), "attributes", {}).get("ids", ()),
    )


def is_output(block: nodes.Node) -> bool:
    return any(each.get("nb_element") == "cell_code_output" for each in ancestors(block))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", collect)
