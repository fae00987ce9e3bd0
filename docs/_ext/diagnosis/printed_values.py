"""What each page prints, collected as it is read: the outputs that were verified in this build."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes

from reference.ancestors import ancestors, titled_section
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
    names: tuple[str, ...]
    """What the cell printed, as its code calls it."""
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
    blocks = [(is_output(block), block.astext()) for block in cell.findall(nodes.literal_block)]
    source, *text = [text for own in (False, True) for kind, text in blocks if kind is own]
    return Printed(
        section["ids"][0] if section else "",
        section[0].astext() if section else "",
        anchor,
        tuple(printed_names(source)),
        "\n".join(text),
    )


def is_output(block: nodes.Node) -> bool:
    return any(each.get("nb_element") == "cell_code_output" for each in ancestors(block))


def printed_names(source: str) -> list[str]:
    r"""Return what a cell's code prints, as it is called there; nothing where that says nothing.

    Examples:
        >>> printed_names("print('keys:', keys.shape)\nprint(f'{x:.4f}')\nprint(W_key)")
        ['keys.shape', 'W_key']

    """
    try:
        parsed = ast.parse(source)
    except SyntaxError:
        return []
    calls = (node for node in ast.walk(parsed) if isinstance(node, ast.Call))
    prints = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
    prints.sort(key=lambda call: (call.lineno, call.col_offset))
    printed = (argument for call in prints for argument in call.args)
    texts = (ast.Constant, ast.JoinedStr, ast.Starred)
    return [ast.unparse(each) for each in printed if not isinstance(each, texts)]


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", collect)
