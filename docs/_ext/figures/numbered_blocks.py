"""Figures and listings: one node with a number, a caption and an anchor."""

from typing import ClassVar, cast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec
from sphinx.writers.html5 import HTML5Translator


class captioned(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A numbered block; `kind` is "figure" or "listing", `label` is such as "Figure 3.14"."""


class caption_label(nodes.caption):  # noqa: N801
    """The number alone, so that a link without text reads "Figure 3.14"."""


class caption_text(nodes.caption):  # noqa: N801
    """The sentence a reader sees beside the number."""


class CaptionedDirective(SphinxDirective):
    """What figures and listings share: number, name, caption."""

    kind: ClassVar[str] = ""
    shared_options: ClassVar[OptionSpec] = {
        "number": directives.unchanged_required,
        "name": directives.unchanged,
    }

    def wrap(self, body: list[nodes.Node], caption: list[nodes.Node], key: str) -> nodes.Element:
        """Return the numbered block around `body`; `key` makes an id where no name is given."""
        number = self.options.get("number", "")
        label = f"{self.kind.capitalize()} {number}".strip()
        node = captioned("", kind=self.kind, label=label)
        node += caption_label(label, label)
        text = caption_text("", "", *caption)
        node += [text, *body] if self.kind == "listing" else [*body, text]
        self.set_source_info(node)
        if "name" in self.options:
            self.add_name(node)
        else:
            node["ids"].append(nodes.make_id(f"{self.kind}-{key}"))
        return node


def register_labels(app: Sphinx, doctree: nodes.document) -> None:
    """Let `{ref}` from any page read "Figure 3.14"."""
    domain = cast("StandardDomain", app.env.get_domain("std"))
    for node in doctree.findall(captioned):
        for name in node["names"]:
            domain.labels[name] = app.env.docname, node["ids"][0], node["label"]


def visit_captioned(self: HTML5Translator, node: captioned) -> None:
    self.body.append(self.starttag(node, "figure", CLASS=f"captioned captioned-{node['kind']}"))


def depart_captioned(self: HTML5Translator, node: captioned) -> None:
    self.body.append("</figure>\n")


def skip_label(self: HTML5Translator, node: caption_label) -> None:
    raise nodes.SkipNode


def visit_text(self: HTML5Translator, node: caption_text) -> None:
    label = cast("captioned", node.parent)["label"]
    number = f'<span class="caption-number">{self.encode(label)}</span> ' if " " in label else ""
    self.body.append(f"<figcaption>{number}")


def depart_text(self: HTML5Translator, node: caption_text) -> None:
    parent = cast("captioned", node.parent)
    name = parent["label"] if " " in parent["label"] else f"this {parent['kind']}"
    self.add_permalink_ref(parent, f"Link to {name}")
    self.body.append("</figcaption>\n")


def setup(app: Sphinx) -> None:
    app.add_node(captioned, html=(visit_captioned, depart_captioned))
    app.add_node(caption_label, html=(skip_label, None))
    app.add_node(caption_text, html=(visit_text, depart_text))
    app.connect("doctree-read", register_labels)
