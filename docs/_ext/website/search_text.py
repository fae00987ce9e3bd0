"""The words that readers see on the written pages, by the nearest place that has an address.

The pages are read as they were written, so TeX, text alternatives and scripts are no text, a number
in a sentence is the one that it quotes, and every address is one that the page has.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from sphinx.search.en import SearchEnglish

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "wbr", "col"))
UNSEEN = frozenset(("script", "style", "template", "desc", "title", "button", "noscript"))
UNREAD = frozenset(("headerlink", "drift-mark", "solution-number"))  # classes: not the page's text
INLINE = re.compile(r"a|abbr|b|code|em|i|m\w+|span|strong|sub|sup|tspan")
LOWERED = re.compile("[₀-₉ₐ-ₜ]+")
SIGNS = {"√": " sqrt ", "∞": " inf "}
"""Signs that are words, which readers type as code has them."""
WORD = re.compile(r"\w+(?:\.\w+)*")
STOPWORDS = frozenset(SearchEnglish.stopwords)


@dataclass
class Place:
    """A part of a page, and the text in it that is in no smaller part.

    `kind` is "section", "output", "object" for a documented name, "term" for a definition, or
    "part" for a figure, an exercise and the like.
    """

    anchor: str
    kind: str
    heading: str = ""
    text: str = ""


def places(page: str) -> list[Place]:
    """Return the places of a written page, in reading order."""
    start, end = page.find("<article"), page.rfind("</article>")
    reader = _Article()
    reader.feed(page[start : end + 1] if start >= 0 else "")
    reader.close()
    for place in reader.places:
        place.heading = " ".join(place.heading.split())
        is_output = place.kind == "output"  # whose lines stay as they are
        place.text = place.text.strip("\n") if is_output else " ".join(place.text.split())
    return reader.places


def words(text: str) -> set[str]:
    """Return the words of a text as `finding.js` reads them: `d_k` and `dₖ` are one.

    A name in code is found by each of its parts, too: `self.register_buffer` by `register_buffer`.
    """
    text = unicodedata.normalize("NFKC", LOWERED.sub(r"_\g<0>", text)).lower()
    for sign, word in SIGNS.items():
        text = text.replace(sign, word)
    found: set[str] = set()
    for word in WORD.findall(text):
        pieces = [] if word[0].isdigit() else word.split(".")
        found.update(piece.replace("_", "") for piece in (word, *pieces))
        found.update(part for part in word.split("_") if part)
    return {word for word in found if word and word not in STOPWORDS}


def postings(texts: Iterable[str]) -> dict[str, str]:
    """Return the numbers of the texts that have each word, as steps from one to the next."""
    at: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        for word in words(text):
            at.setdefault(word, []).append(number)
    return {word: " ".join(_steps(numbers)) for word, numbers in sorted(at.items())}


def _steps(numbers: list[int]) -> Iterator[str]:
    before = 0
    for number in numbers:
        yield str(number - before)
        before = number


class _Article(HTMLParser):
    """Follows a page's article; what is open is kept as (tag, place before it)."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place] = []
        self.open: list[tuple[str, Place | None]] = []
        self.place: Place | None = None
        self.unseen = 0  # how deep in something that isn't shown
        self.is_in_article = False
        self.heads: Place | None = None  # whose heading is being read
        self.defined: Place | None = None  # what the next `dd` belongs to

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self.is_in_article = True
        if not self.is_in_article or tag in VOID:
            return
        attributes = dict(attrs)
        classes = set((attributes.get("class") or "").split())
        self.open.append((tag, self.place))
        if self.unseen or tag in UNSEEN or classes & UNREAD or "hidden" in attributes:
            self.unseen += 1
            return
        if anchor := attributes.get("id"):
            self._enter(tag, anchor, classes)
        elif tag == "dd" and self.defined:
            self.place, self.defined = self.defined, None
        elif re.fullmatch("h[1-6]", tag):
            self.heads = self.place
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.is_in_article or tag in VOID:
            return
        if tag == "article":
            self.is_in_article = False
        while self.open and (opened := self.open.pop()):
            self._leave(*opened)
            if opened[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if self.unseen or self.place is None:
            return
        if self.heads is self.place:
            self.place.heading += data
        self.place.text += data

    def _enter(self, tag: str, anchor: str, classes: set[str]) -> None:
        kind = {"section": "section", "figure": "part", "tr": "part", "details": "part"}.get(tag)
        if tag == "dt":
            kind = "object" if "sig" in classes else "term"
        elif tag == "div" and classes & {"cell_output", "exercise", "citation"}:
            kind = "output" if "cell_output" in classes else "part"
        if kind is None:
            return
        heading = self.place.heading if self.place else ""
        heading = {"section": "", "term": "", "object": anchor}.get(kind, heading)
        self.place = Place(anchor, kind, heading)
        self.places.append(self.place)
        if tag == "dt":
            self.defined = self.place
        if kind == "term":
            self.heads = self.place

    def _leave(self, tag: str, before: Place | None) -> None:
        if self.unseen:
            self.unseen -= 1
            return
        if re.fullmatch("h[1-6]|dt", tag):
            self.heads = None
        self._part(tag)
        self.place = before

    def _part(self, tag: str) -> None:
        """Keep words apart that stand in different blocks."""
        if self.place and not INLINE.fullmatch(tag):
            self.place.text += "\n"
