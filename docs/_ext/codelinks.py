"""Links from code, in cells and in sentences, to its documentation.

Cells are linked by sphinx-codeautolink, which is fitted here to a book whose pages are all read in
each build. A name in a sentence, such as `nn.Linear`, is linked the first time in each section.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sphinx_codeautolink
from docutils import nodes
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode
from sphinx_codeautolink import extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

PICTURE = re.compile(r"<(svg|math)\b.*?</\1>", re.DOTALL)


class Analyser(extension.CodeBlockAnalyser):  # type: ignore[misc]  # untyped
    """Knows that solutions are sections without a title."""

    def depart_section(self, node: nodes.section) -> None:
        """Leave the title's name behind, where there was one."""
        if self.title_stack:
            super().depart_section(node)


class CodeLinks(extension.SphinxCodeAutoLink):  # type: ignore[misc]  # untyped
    """Links every page of every build, and leaves pictures as they were drawn."""

    def apply_links(self, app: Sphinx, exception: Exception | None) -> None:
        """Put the links into the pages that were written."""
        if self.do_nothing or exception is not None or app.builder.name != "html":
            return  # other builders name their files otherwise
        # The stock extension asks which sources changed; here all pages are read in each build.
        self.outdated_docs = {str(Path(name)) for name in self.cache.transforms}
        files = [Path(app.outdir) / f"{name}.html" for name in self.cache.transforms]
        drawn = {
            file: [found[0] for found in PICTURE.finditer(file.read_text("utf-8"))]
            for file in files
        }
        super().apply_links(app, exception)
        for file, pictures in drawn.items():
            _put_back(file, pictures)


def _put_back(file: Path, pictures: list[str]) -> None:
    """Undo what an HTML parser does to SVG: it writes `viewBox` in lower case."""
    kept = iter(pictures)
    text = file.read_text("utf-8")
    file.write_text(PICTURE.sub(lambda _: next(kept), text), "utf-8")


NAME = re.compile(r"[A-Za-z_][\w.]*")
# How sentences shorten names, besides leaving a module of this package out.
PREFIXES = ("", "torch.", "torch.nn.functional.", "torch.Tensor.")
SHORT = {"nn": "torch.nn", "F": "torch.nn.functional"}
# Words that mean something else in a sentence than the function of their name.
ORDINARY = {"dot", "grad", "shape", "T"}


class NameLinks(SphinxPostTransform):
    """Link a name in a sentence to its documentation, the first time in each section."""

    default_priority = 30

    def run(self, **kwargs: Any) -> None:
        if self.app.builder.format != "html":
            return
        known = self._known()
        seen: set[tuple[int, str]] = set()
        for node in list(self.document.findall(nodes.literal)):
            place = known(node.astext())
            section = _ancestor(node, nodes.section)
            key = id(section), node.astext()
            if place is None or key in seen or _ancestor(node, nodes.reference, nodes.title):
                continue
            seen.add(key)
            node.replace_self(self._link(node, place))

    def _known(self) -> Callable[[str], tuple[str, str] | None]:
        """Return a function from a name in a sentence to a page or address, and an anchor."""
        inventory = InventoryAdapter(self.env).main_inventory
        outside = {
            name: item.uri
            for role, items in inventory.items()
            if role.startswith("py:")
            for name, item in items.items()
        }
        objects = self.env.domains.python_domain.objects
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
            found = (outside.get(prefix + name) for prefix in PREFIXES)
            address = next(filter(None, found), None)
            return (address, "") if address else None

        return find

    def _link(self, node: nodes.literal, place: tuple[str, str]) -> nodes.reference:
        target, anchor = place
        if anchor:
            builder, here = self.app.builder, self.env.docname
            link = make_refnode(builder, here, target, anchor, node.deepcopy())
        else:
            link = nodes.reference("", "", node.deepcopy(), internal=False, refuri=target)
        link["classes"].append("code-name")
        return link


def _ancestor(node: nodes.Node, *kinds: type[nodes.Node]) -> nodes.Node | None:
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent


def read_all(app: Sphinx, env: BuildEnvironment, *_: Any) -> Iterable[str]:
    """Have every page read again: the names in its code are kept for one build only."""
    return env.found_docs if app.builder.format == "html" else ()


def setup(app: Sphinx) -> ExtensionMetadata:
    # Neither class can be chosen by a setting; each is looked up where it is used.
    sphinx_codeautolink.SphinxCodeAutoLink = CodeLinks
    extension.CodeBlockAnalyser = Analyser
    app.setup_extension("sphinx_codeautolink")
    app.add_post_transform(NameLinks)
    app.connect("env-get-outdated", read_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
