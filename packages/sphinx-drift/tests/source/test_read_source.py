"""Reading pages and notebooks: cells, expectations, options, what is wrong before a run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import small_book
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode, v4
from notebooks import code, notebook, raised, shown, stream, value
from small_book import expected

from sphinx_drift.compare.compare import Waiver
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Expectation, Page
from sphinx_drift.output.printed_text import Part
from sphinx_drift.settings import Settings
from sphinx_drift.source.markdown import read_markdown
from sphinx_drift.source.metadata import left_out_by, page_config
from sphinx_drift.source.notebook import read_notebook
from sphinx_drift.source.read_source import load

FRONT = small_book.FRONT.removesuffix("\n")
CELL = "```{code-cell} ipython3\nprint(1)\n```\n"


def loaded(name: str, text: str, **options: Any) -> tuple[Page, NotebookNode]:
    result = load(Path(name), text=text, **options)
    assert result is not None
    return result


def read(body: str, front: str = FRONT) -> Page:
    """Read a page; below this front matter, its body begins on line 6."""
    return loaded("page.md", front + body)[0]


def one_cell(own: object = None, **cell: object) -> str:
    """Return a notebook of one cell, as no library may write it."""
    whole = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": [], "id": "a"} | cell
    notebook = {"cells": [whole], "metadata": own or {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook)


def one_output(kind: str, **output: object) -> str:
    return one_cell(outputs=[{"output_type": kind, **output}])


def only(page: Page) -> Expectation:
    assert page.problems == ()
    (expectation,) = (e for cell in page.cells for e in cell.expectations)
    return expectation


# Lines --------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
def test_line_ends_of_every_system(newline: str, tmp_path: Path) -> None:
    text = f"{FRONT}\nText.\n\n{CELL}\n{expected('1')}".replace("\n", newline)
    path = tmp_path / "page.md"
    path.write_bytes(text.encode())
    for result in (load(path), load(path, text=text)):
        assert result is not None
        (cell,) = result[0].cells
        assert (cell.line, only(result[0]).line, only(result[0]).text) == (9, 13, "1")


@pytest.mark.parametrize(
    ("above", "inside", "below", "told"),
    [
        ("", "", "One\u2028two.\n\f\n", None),
        ("One\u2028two.\n", "", "", (6, "character 4 of this line is U+2028")),
        ("", "12\x85", "", (10, "character 3 of this line is U+0085")),
    ],
)
def test_a_character_that_only_myst_nb_takes_for_a_line_end_is_named(
    above: str, inside: str, below: str, told: tuple[int, str] | None
) -> None:
    page = read(above + CELL + expected(inside or "1") + below)
    problems = [(p.line, p.message.partition(",")[0]) for p in page.problems]
    assert problems == [told] * bool(told)


# Places -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("between", "told"), [("", "a cell begins with ```{code-cell}"), ("Prose.\n", "")]
)
def test_an_expectation_says_what_is_no_cell_straight_above_it(between: str, told: str) -> None:
    page = read(f"{CELL}{CELL.replace('```', ':::')}{between}{expected('1')}")
    (problem,) = [p for p in page.problems if p.kind is Kind.NO_CELL]
    assert problem.message.partition(",")[0] == told


@pytest.mark.parametrize(
    ("between", "parts"),
    [
        *((text, False) for text in ("", "\n", "\n\n\n", "% a comment\n", "\n% one\n\n% two\n")),
        *((f"\n{text}\n\n", False) for text in ("+++", '+++ {"editable": true}')),
        *((f"\n{text}\n", True) for text in ("Prose.", "# Heading", "<!-- -->", "---")),
        ("\n(label)=\n", True),
    ],
)
def test_only_what_no_reader_sees_stands_between(between: str, *, parts: bool) -> None:
    page = read(CELL + between + expected("1"))
    assert [(p.kind, p.documented) for p in page.problems] == [(Kind.NO_CELL, "1")] * parts
    assert [e.text for e in page.cells[0].expectations] == ["1"] * (not parts)


@pytest.mark.parametrize("fence", ["```", "````", "~~~", ":::"])
def test_any_fence_keeps_the_text_as_it_stands(fence: str) -> None:
    body = ("  indented", "", ":not an option", "`", "end  ")
    assert only(read(CELL + expected(*body, fence=fence))).text == "\n".join(body)


def test_tags_are_read() -> None:
    tagged = CELL.replace("print", ":tags: [raises-exception, remove-stderr]\nprint")
    (cell,) = read(tagged + expected("1")).cells
    assert cell.tags == {"raises-exception", "remove-stderr"}
    assert cell.may_raise
    assert not cell.has_stderr
    assert [e.part for e in cell.expectations] == [Part.MAIN]


SWALLOWED = "```{code-cell} ipython3\nprint(2)\n"


@pytest.mark.parametrize(
    ("lines", "closes", "kinds"),
    [
        ((), "```\n", []),
        (("2", "", "", "Prose", "~~~"), "```\n", []),
        (("", SWALLOWED), "```\n", [(Kind.NOT_READ, 12), (Kind.UNREADABLE, 9)]),
        (("2",), "", [(Kind.UNREADABLE, 9)]),
    ],
)
def test_a_text_that_is_not_compared_swallows_no_cell(
    lines: tuple[str, ...], closes: str, kinds: list[tuple[Kind, int]]
) -> None:
    text = expected(":unchecked: it varies", *lines)
    page = read(CELL + text.removesuffix("```\n") + closes)
    assert [(problem.kind, problem.line) for problem in page.problems] == kinds


@pytest.mark.parametrize(
    ("fence", "row", "swallows"),
    [
        *(("```", row, True) for row in ("```python", "````python", "   ``` a b", "```{note}")),
        *(("```", row, False) for row in ("``python", "    ```python", "```a`", "x ```a", "~~~a")),
        ("````", "```python", False),
        ("````", "````python", True),
        ("~~~", "~~~ a`", True),
        (":::", ":::{cpp:function} a::b", True),
        (":::", "```python", False),
    ],
)
def test_a_fence_is_closed_above_the_next_one(fence: str, row: str, *, swallows: bool) -> None:
    page = read(CELL + expected("1", "", row, "2", fence=fence))
    told = [(p.kind, "isn't closed above line 12" in p.message) for p in page.problems]
    assert told == [(Kind.UNREADABLE, True)] * swallows


# Options ------------------------------------------------------------------------------


ALLOWED = """\
:allow: 5.6183e-11 -> 5.6184e-11 (softmax tail: (see above))
:allow: [2, 0] -0.1 -> -0.2 (known)"""
WAIVERS = (
    Waiver("5.6183e-11", "5.6184e-11", "softmax tail: (see above)"),
    Waiver("-0.1", "-0.2", "known", (2, 0)),
)


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (":unchecked: a timing\n:name: a", "unchecked", "a timing"),
        ("---\nname: a\nunchecked: |\n  a timing\n---", "unchecked", "a timing\n"),
        ("---\nhtml:\nname: 007\n---", "name", "007"),
        (":reference-only: a draw", "reference_only", "a draw"),
        (":html:\n", "part", Part.HTML),
        (":stream: picture", "part", Part.PICTURE),
        (":stream: value\n:raises: E", "part", Part.VALUE),
        (":name: weights", "name", "weights"),
        (":raises: ValueError", "raises", "ValueError"),
        (ALLOWED, "waivers", WAIVERS),
    ],
)
def test_an_option_is_read(options: str, name: str, value: object) -> None:
    result = only(read(CELL + expected(options, "text")))
    assert (getattr(result, name), result.text) == (value, "text")
    assert result.body_line == 11 + options.count("\n")


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (":when: numpy<2\n:when: numpy>=2", [11]),
        (":stream: stderr\n:name: a\n:stream: stdout", [12]),
        (":html:\n:latex:\n:stream: value", [11, 12]),
        (":name: a\n:name: a", [11]),
        (ALLOWED, []),
    ],
)
def test_an_option_is_said_once(options: str, lines: list[int]) -> None:
    page = read(CELL + expected(options, "text"))
    told = [(p.kind, p.line) for p in page.problems if "has said already" in p.message]
    assert told == [(Kind.OPTION, line) for line in lines]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("allow: [1] 0.30 -> 0.31 (a reason)", "between `---` is no YAML"),
        ("unchecked: a timing: it varies", "between `---` is no YAML"),
        ("unchecked: a timing\nnomen: it", "unknown option `:nomen:`"),
        ("name:", "`:name:` must be followed by a name, got ''"),
        ("loss: 0.5", ""),
    ],
)
def test_options_in_yaml_are_read_or_refused(rows: str, message: str) -> None:
    page = read(CELL + expected("---", rows, "---", "1"))
    (told,) = [problem.message for problem in page.problems] or [""]
    assert message in told
    text = page.cells[0].expectations[0].text
    assert text == ("1" if message else f"---\n{rows}\n---\n1")


# What nobody looks at -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind", "lines"),
    [
        (f"````{{note}}\n{CELL}````\n", Kind.NESTED, [7]),
        (f":::{{note}}\n:class: tip\n\n{CELL}:::\n", Kind.NESTED, [9]),
        (f"`````{{a}}\n````{{b}}\n~~~python\n{CELL}````\n`````\n", Kind.NOT_READ, [9]),
        ("- item\n\n  ```{code-cell} ipython3\n  ```\n", Kind.NESTED, [8]),
        ("> ```{expected-output}\n> 1\n> ```\n", Kind.NESTED, [6]),
        *(
            (f"{opening} ipython3\n{opening[:3]}\n", Kind.NOT_READ, [6])
            for opening in (":::{code-cell}", "``` {code-cell}", "```{Code-Cell}")
        ),
        (f"````{{code-block}} markdown\n{CELL}````\n````markdown\n{CELL}````\n", Kind.NESTED, []),
        ("> ````markdown\n> ```{code-cell}\n> ```\n> ````\n", Kind.NESTED, []),
        ("> ````markdown\n> ```{code-cell}\n> ```\n", Kind.NOT_READ, [7]),
        (f":::{{prf:example}} Sum\n<div>\n{CELL}</div>\n:::\n", Kind.NOT_READ, [8]),
        (
            f"````{{code-cell}}\n'''\n{CELL}'''\n````\n````{{expected-output}}\n{CELL}````\n",
            Kind.NESTED,
            [],
        ),
        (f"~~~{{code-cell}}\n'''\n{CELL}'''\n~~~\n", Kind.NOT_READ, [8]),
        (f"~~~md\n{CELL}~~~\n", Kind.NOT_READ, []),
        ("```md\n:::{code-cell}\n:::\n```\n", Kind.NOT_READ, []),
        ("```\n:::{code-cell}\n:::\n```\n", Kind.NOT_READ, [7]),
        (f"~~~md\n{CELL}~~~md\n{CELL}~~~\n", Kind.NOT_READ, [7, 11]),
        ("```{expected_output}\n3\n```\n```{ Expected-Outputs }\n3\n```\n", Kind.NOT_READ, [6, 9]),
        (
            "```{expected-ouput}\n3\n```\n:::{code_cell}\n:::\n```{code-block}\n```\n",
            Kind.NOT_READ,
            [6, 9],
        ),
        ("```expected-output\n3\n```\n```python\nexpected_output\n```\n", Kind.NOT_READ, [6]),
        ("```code-cell python\n3\n```\n```code-cells.py\n3\n```\n", Kind.NOT_READ, [6]),
        *((f"{before}```{{code-cell}}\n\n", Kind.NOT_READ, [6]) for before in ("    ", "\t")),
        ("A line\n     ```{code-cell}\n\n", Kind.NOT_READ, [7]),
        *((f"{before}```{{code-cell}}\n\n", Kind.NESTED, []) for before in (":", "~:")),
    ],
)
def test_nested_cells_and_expectations_are_problems(
    body: str, kind: Kind, lines: list[int]
) -> None:
    page = read(body + CELL)
    assert [(p.kind, p.line) for p in page.problems] == [(kind, line) for line in lines]
    assert len(page.cells) == 1 + body.count("\n'''") // 2


def test_an_expectation_in_the_markdown_of_a_notebook_is_a_problem() -> None:
    shown = f"````markdown\n{CELL}````\n"
    unread = ":::{code-cell}\n:::\n"
    cells = [
        v4.new_markdown_cell(text) for text in (CELL, shown, f"Below\n\n{expected('1')}", unread)
    ]
    cells.insert(1, v4.new_code_cell("1"))
    page, _ = loaded("a.ipynb", v4.writes(v4.new_notebook(cells=cells)))
    assert [(p.kind, p.where) for p in page.problems] == [
        (Kind.NESTED, "above cell 1 (line 1)"),
        (Kind.NESTED, "below cell 1 (line 3)"),
        (Kind.NESTED, "below cell 1 (line 1)"),
    ]


@pytest.mark.parametrize(
    ("setting", "has_stderr"), [("remove", False), ("remove-warn", False), ("show", True)]
)
def test_a_page_says_whether_its_stderr_is_read(setting: str, *, has_stderr: bool) -> None:
    own = {"book": {"output_stderr": setting}}
    page = FRONT.replace("kernelspec", f"{json.dumps(own)[1:-1]}\nkernelspec") + CELL
    for name, text in (("page.md", page), ("notes.ipynb", one_cell(own))):
        of_book = {"output_stderr": "remove" if has_stderr else "show", "metadata_key": "book"}
        (cell,) = loaded(name, text, of_book=of_book)[0].cells
        assert cell.has_stderr is has_stderr


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("<br>", 7),
        ("<details>\n<summary>More</summary>", 8),
        ("`````python\nx = 1\n", 9),
        ("<!-- closed -->", 0),
        (f"{CELL}\n<!-- closed\n{CELL}-->\n", 0),
        ("<!-- todo ->\n", 8),
        ("x = 1\n\n    $$\n\n$$\na\n", 13),
        ("\\begin{align}\na\n", 9),
        ("```\nprint(3)\n", 9),
        ("```{code-cell}\nprint(3)\n", 9),
        ("```{note}\nText\n", 9),
    ],
)
def test_a_cell_that_is_text_of_what_stands_above_it_fails(above: str, line: int) -> None:
    config = MdParserConfig(enable_extensions={"amsmath", "colon_fence", "dollarmath"})
    text = f"{FRONT}{above}\n{CELL}\n$$\n\\end{{align}}\n\n{CELL}"
    reading = read_markdown(text, config)
    problems = [(each.kind, each.line) for each in (*reading.swallowed, *reading.nested)]
    kind = Kind.NESTED if "note" in above else Kind.NOT_READ
    assert problems[:1] == ([(kind, line)] if line else [])


@pytest.mark.parametrize(
    ("own", "is_ours"),
    [
        ("drift_complete: true", True),
        ("sphinx-drift: {complete: true}", True),
        ("draft: 1", False),
    ],
)
def test_a_setting_that_a_page_says_by_another_name_is_a_problem(
    own: str, *, is_ours: bool
) -> None:
    page = read(CELL, FRONT.replace("kernelspec", f"{own}\nkernelspec"))
    told = [(p.kind, p.message.partition(" says")[0]) for p in page.problems]
    assert told == [(Kind.OPTION, f"`{own.partition(':')[0]}`")] * is_ours


def test_a_setting_that_is_not_indented_is_a_problem() -> None:
    (problem,) = read(
        CELL, FRONT.replace("kernelspec", "drift:\ncomplete: true\nkernelspec")
    ).problems
    assert problem.message == "`drift` may hold complete, filters, reference; got None"


def test_a_page_says_whether_its_outputs_are_shown() -> None:
    front = FRONT.replace("kernelspec", "mystnb:\n  remove_code_outputs: true\nkernelspec")
    own = "---\nmystnb:\n  remove_code_outputs: {}\n---\n"
    shown = CELL.replace("ipython3\n", f"ipython3\n{own.format('false')}")
    page = read(f"{CELL}\n{shown}", front)
    assert [cell.is_seen for cell in page.cells] == [False, True]
    assert read(CELL).cells[0].is_seen


# Files --------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [CELL, expected("1")])
def test_page_that_is_no_notebook_is_refused(body: str) -> None:
    assert load(Path("page.md"), text=FRONT + "# Prose\n") is None
    with pytest.raises(ValueError, match="no `file_format: mystnb` in its front matter"):
        read(body, front="")


FRONT_OF = "---\nfile_format: mystnb\na: %s\n---\n" + CELL


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (one_cell(source=None), "the `source` of its cell 1 must be text, got None"),
        (one_cell(metadata={"tags": [{"a": 1}]}), "the `tags` of its cell 1 must be texts"),
        (one_cell(metadata={"tags": "a"}), "the `tags` of its cell 1 must be texts"),
        (
            one_output("stream", text="1"),
            "must have name, output_type, text; got output_type, text",
        ),
        (one_output("display_data"), "an output of its cell 1 must have data, output_type; got"),
        (one_output("error"), "an output of its cell 1 must have ename, evalue, output_type; got"),
        (
            one_output("display_data", data={}, metadata=None),
            "the `metadata` of an output of its cell 1 must be a mapping, got None",
        ),
        (one_cell(metadata=None), "it is no notebook"),
        (one_cell(outputs=None), "it is no notebook"),
        (one_cell().replace('"outputs": [], ', ""), "cell 1 must have a list of `outputs`"),
        ('{"cells": [', "it is no notebook: JSONDecodeError: Expecting value: line 1"),
        (FRONT_OF % "1\nkernelspec:\nname: python3", "`kernelspec` in its front matter must have"),
        (FRONT_OF % "[", "line 3 of its front matter"),
        (FRONT_OF % "b: c", "line 3 of its front matter"),
        (FRONT_OF % "\x01", "its front matter can't be read: unacceptable character"),
        (FRONT_OF % "2026-02-30", "its front matter can't be read: day is out of range"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        load(Path("a.md" if text.endswith(CELL) else "a.ipynb"), text=text)


@pytest.mark.parametrize(
    ("source", "tags"),
    [
        ("# NBVAL_IGNORE_OUTPUT\n1", ["nbval-ignore-output"]),
        ("x = 1\n  #NBVAL_SKIP", ["nbval-skip"]),
        ("# NBVAL_RAISES_EXCEPTION", ["raises-exception"]),
    ],
)
def test_comments_of_nbval_mark_a_cell(source: str, tags: list[str]) -> None:
    page, notebook = loaded("a.ipynb", one_cell(source=source))
    assert page.cells[0].tags == set(tags)
    assert notebook.cells[0].metadata.get("tags", []) == tags


@pytest.mark.parametrize(
    ("metadata", "setting", "allows"),
    [
        ({"nbsphinx": {"execute": "never"}}, "nbsphinx: execute", False),
        ({"nbsphinx": {"allow_errors": True}}, "", True),
        ({"execute": {"skip": True}}, "execute: skip", False),
        ({"mystnb": {"execution_mode": "off"}}, "mystnb: execution_mode", False),
        ({"mystnb": {"nosuch": 1, "execution_mode": "off"}}, "mystnb: execution_mode", False),
    ],
)
def test_marks_of_other_tools_hold(
    metadata: dict[str, object], setting: str, *, allows: bool
) -> None:
    assert left_out_by(Path("a.ipynb"), metadata, page_config(metadata)) == setting
    assert Settings().of_page(metadata).allow_errors is allows


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"unchecked": "a time"}, ""),
        ({"unchecked": True}, "may hold reference-only and unchecked, each with a reason; got {"),
        ({"unchekced": "a time"}, "`drift` of cell 1 may hold"),
        ("unchecked", "`drift` of cell 1 may hold"),
    ],
)
def test_what_a_cell_says_in_its_metadata_is_followed_or_refused(own: object, told: str) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "1"}
    page, _ = loaded("a.ipynb", one_cell(metadata={"drift": own}, outputs=[output]))
    problems = [(p.kind, told in p.message) for p in page.problems]
    assert problems == [(Kind.OPTION, True)] * bool(told)
    assert page.cells[0].expectations[0].unchecked == "a time" * (not told)


def test_stored_outputs_are_what_a_notebook_documents() -> None:
    book = notebook(
        v4.new_markdown_cell("prose"),
        code("a = 1", stream(" \n"), shown(image_png="i")),
        code("a", stream("progress\n", "stderr"), value("1")),
        code("1 / 0", raised("E", "m")),
        code("a", value("1"), tags=("nbval-ignore-output",)),
    )
    page = read_notebook(book)
    assert [(c.number, c.index, len(c.expectations), c.unchecked) for c in page.cells] == [
        (1, 1, 0, ""),
        (2, 2, 1, ""),
        (3, 3, 1, ""),
        (4, 4, 1, "tagged nbval-ignore-output"),
    ]
    assert [cell.drawn.pictures for cell in page.cells] == [1, 0, 0, 0]
    one, error, ignored = (cell.expectations[0] for cell in page.cells[1:])
    assert (one.text, error.raises, page.cells[2].may_raise) == ("1\n", "E", True)
    assert ignored.unchecked == "tagged nbval-ignore-output"
    assert not any(cell.has_stderr for cell in page.cells)
    whole = read_notebook(book, shown=page_config({}))
    assert whole.cells[1].expectations[0].text == "1\nprogress\n"
    assert all(cell.has_stderr for cell in whole.cells)
