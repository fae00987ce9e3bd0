"""Links from names in sentences, such as `nn.Linear`, to their documentation.

A name is linked the first time in each section; `cell_links` has the links in cells.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from reference.ancestors import ancestors, is_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

NAME = re.compile(r"[A-Za-z_][\w.]*")
# How sentences shorten names, besides leaving a module of this package out.
PREFIXES = ("", "torch.", "torch.nn.functional.", "torch.Tensor.")
SHORT = {"nn": "torch.nn", "F": "torch.nn.functional"}
# Words that mean something else in a sentence than the function of their name.
ORDINARY = {"dot", "grad", "shape", "T"}


@functools.lru_cache(maxsize=1)
def known_names(app: Sphinx) -> Callable[[str], tuple[str, str] | None]:
    """Return a function from a name in a sentence to a page or address, and an anchor.

    Asked once all pages are read.
    """
    inventory = InventoryAdapter(app.env).main_inventory
    outside = {
        name: item.uri
        for role, items in inventory.items()
        if role.startswith("py:")
        for name, item in items.items()
    }
    objects = app.env.domains.python_domain.objects
    inside = {}
    for name, entry in objects.items():
        inside[name] = entry.docname, entry.node_id
        if entry.objtype in {"class", "function"}:
            inside[name.rpartition(".")[2]] = inside[name]

    def find(text: str) -> tuple[str, str] | None:
        name = text.removesuffix("()")
        if not NAME.fullmatch(name) or name in ORDINARY:
            return None
        if name in inside:
            return inside[name]
        head, _, rest = name.partition(".")
        name = f"{SHORT.get(head, head)}.{rest}" if rest else name
        addresses = (outside.get(prefix + name) for prefix in PREFIXES)
        address = next(filter(None, addresses), None)
        return (address, "") if address else None

    return find


class NameLinks(SphinxPostTransform):
    """Link a name in a sentence to its documentation, the first time in each section."""

    default_priority = 30

    def run(self, **kwargs: Any) -> None:
        if self.app.builder.format != "html":
            return
        known = known_names(self.app)
        seen: set[tuple[int, str]] = set()
        for node in list(self.document.findall(nodes.literal)):
            place = known(node.astext())
            section = next(
                (each for each in ancestors(node) if isinstance(each, nodes.section)), None
            )
            key = id(section), node.astext()
            if place is None or key in seen or is_in(node, nodes.reference, nodes.title):
                continue
            seen.add(key)
            node.replace_self(self._link(node, place))

    def _link(self, node: nodes.literal, place: tuple[str, str]) -> nodes.reference:
        target, anchor = place
        if anchor:
            builder, here = self.app.builder, self.env.docname
            link = make_refnode(builder, here, target, anchor, node.deepcopy())
        else:
            link = nodes.reference("", "", node.deepcopy(), internal=False, refuri=target)
        link["classes"].append("code-name")
        return link


def setup(app: Sphinx) -> None:
    app.add_post_transform(NameLinks)
