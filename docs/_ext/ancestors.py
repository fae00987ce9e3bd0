"""What a node of a page is in."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.nodes import traverse_parent


def is_in(node: nodes.Node, *kinds: type[nodes.Element]) -> bool:
    """Tell whether a node is in something of these kinds."""
    return any(traverse_parent(node.parent, kinds))


def titled_section(node: nodes.Element) -> nodes.section | None:
    """Return the section with a title that a node is in; exercises make sections without one."""
    sections = (each for each in traverse_parent(node) if isinstance(each, nodes.section))
    return next((each for each in sections if isinstance(each[0], nodes.title)), None)
