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


# What a page shows, and what translates it.
TRANSLATED = {
    "markdown": ("Loss **0.5** of 7", "4.78"),
    "literal": ("Loss 0.5", "4.78"),
    "caption": ("The loss", "Der Verlust"),
    "quotes": ("The number is {printed}`half`.", "Die Zahl: {printed}`half`."),
}


def test_a_translation_replaces_no_output(book: Book) -> None:
    put(book, "0.5")
    catalogs = book.folder / "locale" / "de" / "LC_MESSAGES"
    catalogs.mkdir(parents=True)
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    displaying = 'from IPython.display import Markdown\nMarkdown("Loss **0.5** of 7")'
    for name, (text, translated) in TRANSLATED.items():
        (catalogs / f"{name}.po").write_text(f'{head}\nmsgid "{text}"\nmsgstr "{translated}"\n')
        if name == "markdown":
            book.write(f"{name}.md", "# It displays", cell(displaying, text))
        elif name == "caption":
            drawing = "---\nmystnb: {figure: {caption: The loss}}\n---\n"
            drawing += "from IPython.display import SVG\nSVG(\"<svg xmlns='http://www.w3.org/2000/svg'/>\")"
            book.write(f"{name}.md", "# It draws", cell("print(1)", "1"), cell(drawing))
        elif name == "literal":
            book.write(f"{name}.md", "# It prints", cell(f"print({text!r})", text))
        else:
            book.write(f"{name}.md", "# It quotes", text)
    # As Sphinx makes catalogues of what blocks print.
    literal = catalogs / "literal.po"
    literal.write_text(literal.read_text().replace('Loss 0.5"', 'Loss 0.5\\n"'))
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
