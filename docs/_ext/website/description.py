"""What a page says of itself in a sentence: to search engines, link previews and the search page.

The page writes it in its front matter; where it has none, its first paragraph is taken.
"""

from __future__ import annotations

from docutils import nodes

LONGEST = 160
# Pages that Sphinx makes have no front matter.
MADE = {
    "404": "There is no page at this address; the contents and the search lead on.",
    "genindex": "The index of the book: terms, names in code, classes, functions and options.",
    "search": "Search the book: terms, names in code, figures, listings and all text.",
}


def description(pagename: str, doctree: nodes.document | None) -> str:
    """Return what a page says of itself, else its first paragraph, cut at a word."""
    if doctree is None:
        return MADE.get(pagename, "")
    for node in doctree.findall(nodes.meta):
        if node.get("name") == "description":
            return " ".join(str(node["content"]).split())
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            return shortened(" ".join(paragraph.astext().split()))
    return ""


def shortened(text: str) -> str:
    """Cut a text at a word, so that search engines show it whole."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rpartition(' ')[0]}…"
