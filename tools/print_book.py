"""Print the built site as one PDF: tagged, with bookmarks, from the pages that were verified.

`nox -s docs` builds the site first. The pages are joined in the order in which they are read, in
the system's Chromium, and printed with the site's own style for paper.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pikepdf
from built_site import Website
from chromium import FLAGS, chromium
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

JOIN = Path(__file__).with_name("join_pages.js")
MARGIN = "18mm"
SHEET = {"width": 657, "height": 970}  # what is left of A4, in CSS pixels
STYLE = """
.book-title { margin-block: 30vh 2rem; font-size: 2.2rem; font-weight: 700; text-align: center; }
.book-contents { break-before: page; }
.book-contents ul { padding-inline-start: 1.5em; list-style: none; }
article.book-page { break-before: page; }
article.book-section { margin-block-start: 4rem; }
"""
FOOTER = """
<div style="width: 100%; font: 7pt sans-serif; text-align: center; color: #595959">
<span class="pageNumber"></span></div>
"""


class BookError(RuntimeError):
    """The book can't be printed, or what was printed isn't what it must be."""


def print_book(site: Path, order: list[dict[str, Any]], title: str, target: Path) -> None:
    """Join the pages of a site and print them.

    Args:
        site: The folder of the built site.
        order: The pages in reading order: the `file` and the `depth` of each.
        title: What the book is called.
        target: The PDF.

    Raises:
        BookError: If a link leads to a place that the joined pages don't have, or if
            something doesn't fit the sheet.

    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with Website(site) as website, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        page = browser.new_page(viewport=SHEET, color_scheme="light")
        page.goto(f"{website.address}/{order[0]['file']}")
        page.emulate_media(media="print", color_scheme="light")
        settings = {"pages": order, "title": title, "style": STYLE}
        wrong = page.evaluate(JOIN.read_text("utf-8"), settings)
        if wrong["lost"]:
            raise BookError(f"links lead nowhere: {', '.join(sorted(set(wrong['lost'])))}")
        if wrong["cut"]:
            raise BookError("\n  ".join(["too wide for the sheet:", *wrong["cut"]]))
        page.pdf(
            path=target,
            format="A4",
            tagged=True,
            outline=True,
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            margin={"top": "18mm", "bottom": "20mm", "left": MARGIN, "right": MARGIN},
        )
        browser.close()


def pack(file: Path) -> None:
    """Make a printed book smaller, and mend its bookmarks.

    Chromium tells each tag by itself, and says a title twice that is set in two fonts.
    """
    with pikepdf.open(file, allow_overwriting_input=True) as pdf:
        with pdf.open_outline() as outline:
            for bookmark in _all(outline.root):
                half = len(bookmark.title) // 2
                if bookmark.title[:half] == bookmark.title[half:]:
                    bookmark.title = bookmark.title[:half]
        pdf.save(file, object_stream_mode=pikepdf.ObjectStreamMode.generate, linearize=True)


def problems(file: Path, pages: int) -> list[str]:
    """Return what a printed book lacks: tags, a language, a title, a bookmark for each page.

    Args:
        file: The PDF.
        pages: How many pages of the site it holds.

    """
    with pikepdf.open(file) as pdf, pdf.open_outline() as outline:
        bookmarks = sum(1 for _ in _all(outline.root))
        lacking = {
            "it isn't tagged": not pdf.Root.get("/MarkInfo", {}).get("/Marked", False),
            "it has no structure": "/StructTreeRoot" not in pdf.Root,
            "it has no language": "/Lang" not in pdf.Root,
            "it has no title": not pdf.docinfo.get("/Title"),
            f"it has {bookmarks} bookmarks for {pages} pages": bookmarks < pages,
        }
    return [problem for problem, is_lacking in lacking.items() if is_lacking]


def _all(bookmarks: list[Any]) -> Iterator[Any]:
    for bookmark in bookmarks:
        yield bookmark
        yield from _all(bookmark.children)


def main() -> int:
    """Print the book, look at the PDF, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("order", type=Path, help="reading-order.json, beside the doctrees")
    parser.add_argument("target", type=Path, help="the PDF to write")
    options = parser.parse_args()
    try:
        book = json.loads(options.order.read_text("utf-8"))
        print_book(options.site, book["pages"], book["title"], options.target)
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    pack(options.target)
    wrong = problems(options.target, len(book["pages"]))
    if wrong:
        print(f"{options.target}: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    size = options.target.stat().st_size / 1e6
    with pikepdf.open(options.target) as pdf:
        print(f"{options.target}: {len(pdf.pages)} pages, {size:.1f} MB, tagged, with bookmarks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
