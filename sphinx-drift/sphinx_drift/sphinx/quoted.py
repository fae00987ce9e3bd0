"""Numbers in sentences and titles: what stands for one until all pages have been run.

Sphinx copies titles out of a page when it reads it, as nodes and as text: for tables of contents,
labels, inventories. A place holder that is itself text goes along wherever they go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes

from sphinx_drift.sphinx.private_myst import heading_slugs
from sphinx_drift.sphinx.private_sphinx import title_copies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sphinx.environment import BuildEnvironment

# Characters for private use that no font has icons at. None of them gets into an id.
_FIRST = 0x10F000
_LAST = _FIRST + 0xFF
_END = chr(_LAST + 1)
_PLACE = re.compile(f"([{chr(_FIRST)}-{chr(_LAST)}]+){_END}")


class quoted_number(nodes.inline):  # noqa: N801 - docutils names nodes so
    """A number that a cell printed, wherever in the book; filled in once all pages are read."""


def quotation(target: str) -> quoted_number:
    """Return a place for the number that ``target`` names."""
    place = "".join(chr(_FIRST + byte) for byte in target.encode()) + _END
    return quoted_number("", place, target=target, classes=["drift-quoted"])


def fill(text: str, number: Callable[[str], str]) -> str:
    """Return a text with the numbers in their places."""

    def put(match: re.Match[str]) -> str:
        target = bytes(ord(character) - _FIRST for character in match[1])
        return number(target.decode(errors="replace"))

    return _PLACE.sub(put, text)


def fill_nodes(tree: nodes.Node, number: Callable[[str], str]) -> None:
    """Put numbers in their places in a tree: those quoted there, and in titles referred to."""
    for node in list(tree.findall(quoted_number)):
        node[:] = [nodes.Text(number(node["target"]))]
        _name_anew(node.parent, number)
    for text in [text for text in tree.findall(nodes.Text) if _END in text]:
        text.parent.replace(text, nodes.Text(fill(text, number)))


def _name_anew(element: nodes.Element | None, number: Callable[[str], str]) -> None:
    """Fill in the names, which XML shows, of what a number stands in."""
    while element is not None:
        element["names"] = [fill(name, number) for name in element["names"]]
        element = element.parent


def fill_copies(env: BuildEnvironment, number: Callable[[str], str]) -> dict[str, str]:
    """Put the numbers of this build into the titles and texts that Sphinx keeps of pages.

    Returns:
        The numbers in them, wherever they are shown, by what is quoted.

    """
    numbers: dict[str, str] = {}

    def noted(target: str) -> str:
        return numbers.setdefault(target, number(target))

    for tree in title_copies(env):
        fill_nodes(tree, noted)
    _fill_texts(env, noted)
    return numbers


def _fill_texts(env: BuildEnvironment, number: Callable[[str], str]) -> None:
    """Fill in what is kept as text; the text with the places is kept to fill in the next time."""
    previous: dict[Any, tuple[Any, Any]] = getattr(env, "drift_texts", {})
    current: dict[Any, tuple[Any, Any]] = {}
    for shelf, entries in _shelves(env):
        for key, value in entries.items():
            places, filled = previous.get((shelf, key), (None, None))
            if value != filled or filled is None:  # the page was read again
                places = value
            if (now := _filled(places, number)) != places:
                entries[key] = now
                current[shelf, key] = places, now
    env.drift_texts = current  # type: ignore[attr-defined]


def _shelves(env: BuildEnvironment) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield where Sphinx and MyST keep texts of titles and captions."""
    yield "labels", env.get_domain("std").data["labels"]
    for docname, slugs in heading_slugs(env):
        yield f"slugs of {docname}", slugs


def _filled(value: Any, number: Callable[[str], str]) -> Any:
    """Return a text, or several together, with the numbers in their places."""
    if isinstance(value, str):
        return fill(value, number)
    if isinstance(value, tuple):
        return tuple(_filled(each, number) for each in value)
    return value
