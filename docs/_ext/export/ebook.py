"""The whole book as EPUB: valid, without scripts, in a style sheet of its own."""

from __future__ import annotations

import re
import shutil
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.builders.epub3 import Epub3Builder
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from reference.exercises import folded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx

LOGGER = logging.getLogger(__name__)

STYLE = "ebook.css"
SOURCE = Path(__file__).parents[2] / "_ebook" / STYLE
KEPT = {"pygments.css", STYLE}
# The package document has to say which pages hold these.
PARTS = {"mathml": re.compile("<math[ >]"), "svg": re.compile("<svg[ >]")}
PAGE = re.compile(r'<item id="[^"]*" href="(?P<file>[^"]*\.xhtml)" media-type="[^"]*"(?= />)')
# What a reader with other senses can count on; Sphinx's package document doesn't say it.
ACCESS = (
    ("accessMode", "textual"),
    ("accessMode", "visual"),
    ("accessModeSufficient", "textual"),
    ("accessibilityFeature", "alternativeText"),
    ("accessibilityFeature", "MathML"),
    ("accessibilityFeature", "structuralNavigation"),
    ("accessibilityFeature", "tableOfContents"),
    ("accessibilityHazard", "none"),
    (
        "accessibilitySummary",
        "Figures have text alternatives, and mathematics is MathML; code and outputs are text.",
    ),
)


class EbookBuilder(Epub3Builder):
    """Sphinx's builder, with what it leaves out of the package document, and less in `_static`."""

    def copy_static_files(self) -> None:
        """Copy the book's own style sheet, and none of the site's."""
        folder = Path(self.outdir, "_static")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.create_pygments_style_file()
        shutil.copyfile(SOURCE, folder / STYLE)

    def build_content(self) -> None:
        """Write the package document, and add what it must say of its pages."""
        super().build_content()
        file = Path(self.outdir, "content.opf")
        text = PAGE.sub(self._declared, file.read_text("utf-8"))
        access = "".join(
            f'    <meta property="schema:{name}">{escape(value)}</meta>\n' for name, value in ACCESS
        )
        file.write_text(text.replace("  </metadata>", f"{access}  </metadata>", 1), "utf-8")

    def build_navigation_doc(self) -> None:
        """Write the table of contents, and warn of pages that it lacks."""
        super().build_navigation_doc()
        lost = unlisted(Path(self.outdir, "nav.xhtml").read_text("utf-8"), self.env.found_docs)
        if lost:
            LOGGER.warning(
                "the e-book's contents lack %s; epub_tocscope = 'includehidden' lists the pages "
                "of hidden toctrees",
                ", ".join(lost),
                type="ebook",
            )

    def toc_metadata(self, level: int, navpoints: list[Any]) -> dict[str, Any]:
        """Identify the old table of contents with the book, not with the identifier's place."""
        metadata: dict[str, Any] = super().toc_metadata(level, navpoints)
        return metadata | {"uid": escape(self.config.epub_identifier)}

    def _declared(self, match: re.Match[str]) -> str:
        page = Path(self.outdir, match["file"]).read_text("utf-8")
        held = " ".join(name for name, pattern in PARTS.items() if pattern.search(page))
        return f'{match[0]} properties="{held}"' if held else match[0]


def unlisted(contents: str, pages: Iterable[str]) -> list[str]:
    """Return the pages that a table of contents doesn't lead to."""
    return [page for page in sorted(pages) if f'href="{page}.xhtml' not in contents]


class PlainFolds(SphinxPostTransform):
    """Write hints as solutions are written, and outputs open: the site's folds are no valid XHTML.

    Its folds have an icon, or a paragraph, where only words may stand.
    """

    default_priority = 250  # after sphinx-design and MyST-NB have made them

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name != "epub":
            return
        for node in list(self.document.findall(nodes.Element)):
            if type(node).__name__ == "dropdown_main":
                title, *content = node.children
                words = next(iter(title.findall(nodes.Text)), nodes.Text("")).astext()
                node.replace_self(folded("", *content, summary=words, ids=node["ids"]))
            elif type(node).__name__ == "HideCodeCellNode":
                node.replace_self(node.children)


class PlainLinks(SphinxPostTransform):
    """Leave the words of links to the manual, which is beside the book on the site alone."""

    default_priority = 250

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name == "epub":
            for link in list(self.document.findall(nodes.reference)):
                if link.get("refuri", "").startswith("../sphinx-drift/"):
                    link.replace_self(link.children)


def leave_out(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leave out of the e-book's pages what is for the site, and a role that EPUB gave up."""
    if app.builder.name == "epub":
        context["body"] = context.get("body", "").replace(' role="doc-biblioentry"', "")
        context["script_files"] = []
        context["css_files"] = [
            sheet for sheet in context["css_files"] if Path(str(sheet.filename)).name in KEPT
        ]


def setup(app: Sphinx) -> None:
    app.add_builder(EbookBuilder, override=True)
    app.add_post_transform(PlainFolds)
    app.add_post_transform(PlainLinks)
    app.connect("html-page-context", leave_out, priority=900)  # after those who add
