"""A book that exists adopts the checker page by page: what has no expectation is built as ever."""

import os
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode, v4, writes
from notebooks import code, notebook, shown, stream
from processes import python
from small_book import FRONT, cell, front, write

from conftest import Book
from sphinx_drift.__main__ import main

pytestmark = pytest.mark.slow

PLAIN = f"# Plain\n\n{cell('print(1)')}\n\n{cell('1 / 0')}\n\n{cell('print(2)')}"
"""A page as MyST-NB builds it: it stops at the error, with a warning."""
HALF = f"# Half\n\n{cell('print(3)', '3')}\n\n{cell('print(4)')}"
COMPLETE = front("drift: {complete: true}")


RUN = code("print(1)", count=1)


def stripped(*stored: str) -> str:
    """Return a notebook of three cells, with the outputs of the first ones."""
    outputs = [[stream(f"{text}\n")] for text in stored] + [[]] * 3
    return writes(notebook(*(code(f"print({n})", *outputs[n]) for n in range(3))))


def bare(page: Path) -> str:
    """Return a page without our style sheet and the digests that MyST-NB adds to the others."""
    return re.sub(r"\?v=\w+|\s*<link [^>]*drift-mark[^>]*>", "", page.read_text("utf-8"))


def put(book: Book, require: object = "expected", **pages: str | NotebookNode) -> None:
    book.configure(drift_require=require)
    write(book.folder, {name.replace("_", "."): page for name, page in pages.items()})


def test_outputs_without_expectations_are_built_as_ever_and_counted(book: Book) -> None:
    half = stripped("0")
    shows = f"{FRONT}{HALF}\n\n{{glue:text}}`x`"  # which nobody glues, as stock warns
    put(book, plain_md=FRONT + PLAIN, half_md=shows, bare_ipynb=stripped(), b_ipynb=half)
    built = book.build(builder="html")
    assert built.status == 0, built.stderr
    assert built.last.startswith("2 outputs verified on 2 pages, ")
    assert "8 outputs on 4 pages have no expectation" in built.last
    assert "plain.md: WARNING: Executing notebook failed: CellExecutionError" in built.stderr
    again = book.build(builder="html")  # a page that is as ever is not read again
    assert again.last == built.last
    names = ("plain.html", "bare.html")
    checked = [bare(built.outdir / name) for name in names]
    book.configure(extensions=["myst_nb"])
    stock = book.build("-E", builder="html")
    assert checked == [bare(stock.outdir / name) for name in names]


def test_marks_stand_beside_the_nodes_that_others_have_for_a_builder(book: Book) -> None:
    other = "app.add_node(nodes.option_group, override=True, singlehtml=(id, id))"
    book.configure("from docutils import nodes", "def setup(app):", f"    {other}")
    put(book, index_md=FRONT + cell("print(1)", "1"))
    built = book.build(builder="singlehtml")
    assert built.status == 0, built.stderr
    assert 'class="drift-mark drift-verified"' in (built.outdir / "index.html").read_text("utf-8")


def test_book_of_no_expectations_is_as_green_as_without_the_checker(book: Book) -> None:
    nested = "```{note}\n```{code-cell} ipython3\n1\n```\n```"
    glued = "\n\n{glue:text}`x`, {glue:text}`two.md::y`"  # of which stock only warns
    put(book, one_md=FRONT + cell("print(1)") + glued, two_md=FRONT + "{eval}`x`\n\n" + nested)
    built = book.build()
    assert built.status == 0, built.stderr
    assert built.last.startswith("nothing was checked, 1 output on 1 page has no expectation")


def test_what_can_document_nothing_is_told_with_what_to_do(book: Book) -> None:
    as_notebook = notebook(code("print(1)"), v4.new_markdown_cell("```{expected-output}\n1\n```"))
    glues = cell("from myst_nb import glue\nglue('x', 1, display=False)", "x = 1")
    shows = f"{cell('print(1)', '1')}\n\n```{{glue:any}} x\n:doc: a.md\n```"
    put(book, "all", a_md=FRONT + glues, b_md=FRONT + shows)
    book.configure(nb_custom_formats={"c.md": ["nbformat.reads", {"as_version": 4}]})
    write(book.folder, {"c.md": writes(as_notebook)})
    told = book.build()
    assert {("b.md", "quotation"), ("c.md", "nested")} <= {(f.file, f.kind) for f in told.failures}
    assert "write it below its example" not in told.stderr
    assert "delete that entry" in told.stderr


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_a_notebook_that_a_run_has_left_silent_is_counted_if_it_runs(mode: str, book: Book) -> None:
    put(book, a_ipynb=notebook(code("x = 1", count=1), code("pass", count=2)))
    built = book.build("-D", f"nb_execution_mode={mode}")
    assert built.status == 0
    counted = "0 outputs verified on 1 page, 2 cells silent, as stored (python"
    assert built.last.startswith(counted) is (mode == "auto")
    assert ("silent" in built.last) is (mode == "auto")


def test_a_notebook_that_has_pictures_stored_alone_is_run(book: Book) -> None:
    for name, source in (("a", "1 / 0"), ("b", "print(1)"), ("c", "pass")):
        stored = notebook(code(source, shown(image_png="iVBORw0KGgo="), count=1))
        put(book, **{f"{name}_ipynb": stored})
    of_prints = {("b.ipynb", "picture"), ("b.ipynb", "undocumented")}
    of_raises = {("a.ipynb", "picture"), ("a.ipynb", "raised")}
    expected = {*of_raises, *of_prints, ("c.ipynb", "picture")}
    assert {(failure.file, failure.kind) for failure in book.build().failures} == expected


def test_help_that_a_run_is_not_given_stays_on_the_page(book: Book) -> None:
    put(book, a_ipynb=notebook(code("len?", shown(text_plain="how many there are"), count=1)))
    built = book.build(builder="text")
    assert built.status == 0, built.stderr
    assert "how many there are" in (built.outdir / "a.txt").read_text("utf-8")


PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\n'


def test_a_notebook_is_translated(book: Book) -> None:
    its = notebook(v4.new_markdown_cell("# Title\n\nA sentence."), code("print(1)", stream("1\n")))
    book.configure(language="de", locale_dirs=["locale"])
    book.write(
        "locale/de/LC_MESSAGES/a.po", PO, 'msgid "A sentence."\nmsgstr "Ein Satz."', front=False
    )
    write(book.folder, {"a.ipynb": its})
    built = book.build(builder="text")
    assert built.status == 0, built.stderr
    assert "Ein Satz." in (built.outdir / "a.txt").read_text("utf-8")


# What fails of a book that requires the pages whose names begin so to be complete.
REQUIRED = {
    "listed.md": (FRONT + HALF, "17", "undocumented"),
    "listed-plain.md": (HALF, "1", "unreadable"),
    "complete.md": (COMPLETE + HALF, "18", "undocumented"),
    "complete-plain.md": (f"---\ndrift: {{complete: true}}\n---\n{HALF}", "1", "unreadable"),
    "stops.md": (COMPLETE + PLAIN, "14", "raised"),
    "drifts.md": (FRONT + HALF.replace("\n3\n", "\n5\n"), "13", "drift"),
    "stops-before.md": (FRONT + HALF.replace("print(3)", "1 / 0"), "9", "raised"),
    "stops-after.md": (FRONT + HALF.replace("print(4)", "1 / 0"), "17", "raised"),
    "apart.md": (FRONT + HALF.replace("```{exp", "prose\n\n```{exp"), "15", "no-cell"),
    "stored.ipynb": (stripped("0", "1", "3"), "cell 3 (line 1)", "drift"),
    "half-stored.ipynb": (stripped("5"), "cell 1 (line 1)", "drift"),
    "emptied.ipynb": (writes(notebook(RUN)), "cell 1 (line 1)", "undocumented"),
    # What can't be read costs no other page its result.
    "broken.ipynb": ("{", "1", "unreadable"),
    "source.ipynb": (stripped("0").replace('"print(0)"', "null"), "1", "unreadable"),
    "tags.ipynb": (stripped("0").replace("{}", '{"tags": [{"a": 1}]}', 1), "1", "unreadable"),
}


def test_what_a_page_or_the_book_requires_fails(book: Book) -> None:
    put(book, ["listed*"])
    write(book.folder, {name: text for name, (text, _, _) in REQUIRED.items()})
    built = book.build()
    failures = {(failure.file, failure.location, failure.kind) for failure in built.failures}
    assert failures >= {(name, location, kind) for name, (_, location, kind) in REQUIRED.items()}
    put(book, ["gone*"])
    assert "no page matches 'gone*'" in book.build().stderr


def test_a_page_that_is_built_alone_needs_no_other_that_is_required(book: Book) -> None:
    filters = [(r"\d s", "time", "it is the clock's")]
    book.configure(drift_require=["other.md"], drift_filters=filters)
    book.write("a.md", cell("print(1)", "1"))
    book.write("b.md", "# Prose\n")
    book.write(".hidden/c.md", "# Prose\n")
    for name in ("a", "b"):
        others = f"exclude_patterns=[!.{name}]*"
        assert book.build("-W", "-D", f"master_doc={name}", "-D", others).status == 0
        assert book.build("-D", others).status == 2


TABS = """
:::::{tab-set}
::::{tab-item} One
```{code-cell} ipython3
print(2)
```
%s
::::
:::::
"""


@pytest.mark.parametrize("require", ["expected", "all"])
@pytest.mark.parametrize("documented", ["", "\n```{expected-output}\n2\n```\n"])
def test_a_cell_in_a_tab_set_has_one_verdict(
    require: str, documented: str, book: Book, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"extensions": ["myst_nb", "sphinx_design", "sphinx_drift"], "drift_require": require}
    book.configure(**named, myst_enable_extensions=["colon_fence"])
    book.write("page.md", cell("print(1)", "1"), TABS % documented)
    failures = (require == "all") + bool(documented)
    built = book.build()
    assert [failure.kind for failure in built.failures] == ["nested"] * failures
    page = str(book.folder / "page.md")
    assert main([page]) == bool(failures)
    assert capsys.readouterr().out.count(": nested:") == failures
    tested = python("-m", "pytest", "-p", "no:cacheprovider", "--drift", page)
    assert tested.stdout.count(": nested:") == failures
    assert tested.returncode == bool(failures)


HIDES = {"nb_remove_code_outputs": True}
KEYED = {"nb_cell_metadata_key": "own"}


@pytest.mark.parametrize(
    ("settings", "of_cell", "status"),
    [
        (HIDES, "", 0),
        (HIDES, "---\nmystnb: {remove_code_outputs: false}\n---\n", 1),
        (HIDES | KEYED, "---\nmystnb: {remove_code_outputs: false}\n---\n", 0),
        (KEYED, "---\nown: {remove_code_outputs: true}\n---\n", 0),
        (KEYED, "---\nmystnb: {remove_code_outputs: true}\n---\n", 1),
    ],
)
def test_what_readers_see_is_one_for_build_command_and_pytest(
    settings: dict[str, object], of_cell: str, status: int, book: Book
) -> None:
    book.configure(**settings)
    book.write("page.md", cell("print(1)", "1"), cell(f"{of_cell}print(2)"))
    page = str(book.folder / "page.md")
    tested = python("-m", "pytest", "-p", "no:cacheprovider", "--drift", page)
    assert (book.build().status, main([page]), tested.returncode) == (status,) * 3


@pytest.mark.parametrize(("expected", "status"), [("5", 1), (None, 0)])
def test_annotations_say_what_the_exit_status_says(
    expected: str | None, status: int, book: Book
) -> None:
    put(book, page_md=FRONT + cell("print(3)", expected))
    built = book.build(GITHUB_ACTIONS="1")
    assert built.status == status
    assert re.findall(r"(?m)^::error .*line=(\d+)", built.stdout) == ["11"] * status


@pytest.mark.parametrize(
    ("value", "status", "complaint"),
    [
        ("drift_timeout=soon", 2, "must be a whole number above 0"),
        ("drift_output_limit=100", 1, "took more than 100 bytes"),
        ("drift_require=all", 1, "half.md:18: undocumented"),
        ("drift_require=none.md,half.md", 2, "no page matches 'none.md'"),
        ("drift_requires=all", 2, "-D may hold drift_"),
        ("drift_twice=1", 0, ""),
    ],
)
def test_a_setting_may_be_given_with_the_command(
    value: str, status: int, complaint: str, book: Book
) -> None:
    put(book, half_md=FRONT + HALF.replace("print(3)", "_ = open('ran', 'a').write('1')\nprint(3)"))
    built = book.build("-D", value)
    assert built.status == status, built.stderr
    assert complaint in built.stderr
    if value == "drift_twice=1":
        assert (book.folder / "ran").read_text() == "11"


def test_what_the_projects_file_requires_is_seen_in_the_next_build(book: Book) -> None:
    book.configure(drift_require=None)
    book.write("page.md", cell("print(1)", "1"))
    book.write("prints.md", cell("print(2)"))
    for require, locations in (("expected", set()), ("all", {("prints.md:7", "undocumented")})):
        (book.folder / "pyproject.toml").write_text(f'[tool.sphinx-drift]\nrequire = "{require}"\n')
        assert book.build().locations == locations


@pytest.mark.parametrize("live", [False, True])
def test_a_file_that_an_older_one_replaces_is_read(book: Book, *, live: bool) -> None:
    book.configure(drift_live=live)
    book.write("page.md", cell("print(1)", "1"))
    book.write("stub.md", "# Stub", front=False)
    book.write("including.md", "# Prose\n\n```{include} words.inc\n```", front=False)
    (book.folder / "words.inc").write_text("Words.\n")
    assert book.build(CI="").status == 0
    for name, text in (("stub.md", FRONT + cell("print(1)", "3")), ("words.inc", cell("1"))):
        draft = book.folder / "draft"
        draft.write_text(text)
        os.utime(draft, (1_500_000_000, 1_500_000_000))
        draft.replace(book.folder / name)
    assert book.build(CI="").locations == {
        ("stub.md:11", "drift"),
        ("including.md:3 (line 1 of words.inc)", "nested"),
    }


MADE = "import sys, types\nmade = types.ModuleType('made')\nmade.__file__ = '_made.py'\n"
SAVED = "import beside\n_ = open(beside.__file__, 'w').write('# saved')\n"
IN_PREFIX = "import os, sysconfig\nsysconfig.get_config_vars()['base'] = os.getcwd()\n"


@pytest.mark.parametrize(
    ("code", "leaves_out"),
    [
        pytest.param(f"{MADE}sys.modules['made'] = made", True, id="what torch makes"),
        pytest.param(SAVED, False, id="a module that is saved while the page runs"),
        pytest.param(SAVED + IN_PREFIX, False, id="a module in the environment's folder"),
    ],
)
def test_live_work_leaves_out_what_did_not_change(
    code: str, book: Book, *, leaves_out: bool
) -> None:
    book.configure(drift_live=True)
    (book.folder / "beside.py").touch()
    book.write("page.md", cell(f"{code}\nprint(1)", "1"))
    lines = [book.build(CI="").last for _ in range(2)]
    assert ["1 page not run again" in line for line in lines] == [False, leaves_out], lines


def test_a_page_that_documents_nothing_any_more_is_run_again(book: Book) -> None:
    book.configure(drift_require="expected")
    book.write("index.md", cell("print(1)", "1"))
    for text in (cell("print(2)", "2"), cell("print(2)")):
        book.write("page.md", text)
        built = book.build("-j", "2")
    assert "2 outputs" not in built.last
    assert "not run again" not in built.last, built.last


def test_filters_of_the_book_are_counted_and_told_if_they_match_nothing(book: Book) -> None:
    today = "import datetime\nprint(datetime.date.today(), {}, object())"
    day, gone = (r"\d{4}-\d\d-\d\d", "day", "it is today's"), ("gone", "gone", "why")
    book.configure(drift_filters=[day])
    book.write("page.md", cell(today.format(0.5), "2020-01-01 0.5 <object object at 0x0>"))
    built = book.build("-W")
    assert built.status == 0, built.stderr
    assert "1 output verified on 1 page, 1 filtered as day, 1 filtered as memory" in built.last
    book.configure(drift_filters=[day, gone])
    book.write("page.md", cell(today.format(0.6), "2020-01-01 0.5 <object object at 0x0>"))
    drifted = book.build()
    assert drifted.locations == {("page.md:12", "drift")}
    assert "documented 0.5, executed 0.6" in drifted.report
    assert "WARNING: nothing was filtered as gone" in drifted.stderr
