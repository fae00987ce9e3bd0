"""Numbers in sentences: those that a cell printed, on whatever page, and nowhere else."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from small_book import cell

if TYPE_CHECKING:
    from conftest import Book

pytestmark = pytest.mark.slow


def put(book: Book, number: str) -> None:
    book.write("prints.md", "# It prints", cell(f"print({number})", f":name: half\n\n{number}"))


@pytest.mark.parametrize("builder", ["html", "text"])
def test_a_number_follows_its_page(builder: str, book: Book) -> None:
    book.write("quoting.md", "# It quotes\n\nThe number is {printed}`half`.", front=False)
    for number in ("0.5", "0.25"):
        put(book, number)
        built = book.build(builder=builder)
        assert built.status == 0, built.stderr
        (page,) = built.outdir.glob("quoting.*")
        assert number in page.read_text("utf-8")


LOSS = "Loss **0.5** of 7"
DISPLAYING = f'from IPython.display import Markdown\nMarkdown("{LOSS}")'
DRAWING = """---
mystnb: {figure: {caption: The loss}}
---
from IPython.display import SVG
SVG("<svg xmlns='http://www.w3.org/2000/svg'/>")"""
QUOTING = "The number is {printed}`half`."
# A page, a text of it as it stands in a catalogue of Sphinx's, and what translates that.
TRANSLATED = {
    "markdown": (cell(DISPLAYING, LOSS), LOSS, "4.78"),
    "literal": (cell("print('Loss 0.5')", "Loss 0.5"), r"Loss 0.5\n", "4.78"),
    "caption": (f"{cell('print(1)', '1')}\n\n{cell(DRAWING)}", "The loss", "Der Verlust"),
    "quotes": (QUOTING, QUOTING, "Die Zahl: {printed}`half`."),
}


def test_a_translation_replaces_no_output(book: Book) -> None:
    put(book, "0.5")
    catalogs = book.folder / "locale" / "de" / "LC_MESSAGES"
    catalogs.mkdir(parents=True)
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    for name, (page, text, translated) in TRANSLATED.items():
        (catalogs / f"{name}.po").write_text(f'{head}\nmsgid "{text}"\nmsgstr "{translated}"\n')
        book.write(f"{name}.md", "# A page", page)
    targets = ["literal-block"]
    book.configure(language="de", locale_dirs=["locale"], gettext_additional_targets=targets)
    built = book.build(builder="text")
    assert built.status == 0, built.stderr
    for name in ("markdown", "literal"):
        assert "0.5" in (built.outdir / f"{name}.txt").read_text()
    assert "Der Verlust" in (built.outdir / "caption.txt").read_text()
    assert "Die Zahl: 0.5" in (built.outdir / "quotes.txt").read_text()


def test_a_link_shows_what_its_title_glues_now(book: Book) -> None:
    book.write("linking.md", "# It links\n\n{ref}`section`, {ref}`code`", front=False)
    titles = (
        "(section)=\n## It is {glue:text}`half`",
        "```{code-block} python\n:caption: It is {glue}`half`\n:name: code\n\n1\n```",
    )
    for number in ("0.5", "0.25"):
        code = f'from myst_nb import glue\nglue("half", {number}, display=False)'
        book.write("prints.md", "# It prints", cell(code, f"half = {number}"), *titles)
        built = book.build(builder="text")
        assert built.status == 0, built.stderr
        assert (built.outdir / "linking.txt").read_text().count(f"It is {number}") == 2


def test_a_sentence_shows_the_signs_that_were_glued(book: Book) -> None:
    glues = 'from myst_nb import glue\nglue("text", "the model\'s: 1--2", display=False)'
    shown = "{glue}`text`, {glue:text}`text`, {glue:any}`other.md::text`: it's"
    displays = 'from IPython.display import Markdown\nMarkdown("it\'s --steps 5")'
    cells = (cell(glues, 'text = "the model\'s: 1--2"'), cell(displays, "it's --steps 5"))
    book.write("page.md", "# It's", *cells, shown)
    book.write("other.md", "# It glues", cell(glues, 'text = "the model\'s: 1--2"'))
    built = book.build(builder="html")
    assert built.status == 0, built.stderr
    sentence = '"the model\'s: 1--2", the model\'s: 1--2, "the model\'s: 1--2": it’s'
    html = (built.outdir / "page.html").read_text("utf-8")
    text = unescape(re.sub("<[^>]*>", "", html))
    assert sentence in text
    assert text.count("it's --steps 5") == 2  # in the cell's code, and as it is displayed
