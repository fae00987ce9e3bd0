"""What a node of a page is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator


def ancestors(node: nodes.Node) -> Iterator[nodes.Element]:
    """Yield what a node is in, the nearest first."""
    while node.parent is not None:
        node = node.parent
        yield node


def is_in(node: nodes.Node, *kinds: type[nodes.Element]) -> bool:
    """Tell whether a node is in something of these kinds."""
    return any(isinstance(each, kinds) for each in ancestors(node))


def titled_section(node: nodes.Node) -> nodes.section | None:
    """Return the section with a title that a node is in; exercises make sections without one."""
    sections = (each for each in ancestors(node) if isinstance(each, nodes.section))
    return next((each for each in sections if isinstance(each[0], nodes.title)), None)
