"""What counts of a cell's outputs, and in which order."""

from pathlib import Path
from typing import Any

import pytest
from case_tables import rows
from nbformat import NotebookNode
from notebooks import glued, raised, shown, stream

from sphinx_drift.output.html_text import drawn_in, html_text
from sphinx_drift.output.printed_text import Part, read_outputs
from sphinx_drift.output.screen import joined, on_screen

CASES = Path(__file__).with_name("html.txt")
SCREENS = Path(__file__).with_name("screen.txt")


MIXED = [
    *(stream("error\n", "stderr"), stream("one"), stream(" two\n")),
    *(shown(text_plain="'value'"), stream("three\n")),
]
TURNS = [
    *(stream("a"), stream("50 %", "stderr"), stream("b"), stream("\r100 %", "stderr")),
    *(shown(text_plain="value"), stream("c")),
]
FAILED = [raised("ValueError", "a\nb", "long"), stream("out\n")]


@pytest.mark.parametrize(
    ("outputs", "part", "text"),
    [
        (MIXED, Part.ALL, "one two\n'value'\nthree\nerror\n"),
        (MIXED, Part.MAIN, "one two\n'value'\nthree\n"),
        (MIXED, Part.STDOUT, "one two\nthree\n"),
        (MIXED, Part.STDERR, "error\n"),
        (MIXED, Part.VALUE, "'value'\n"),
        # White space between its chunks is kept, which MyST-NB's merging strips.
        ([stream("a  "), stream("\n  b")], Part.STDOUT, "a  \n  b\n"),
        # A stream goes on after the other one until something is displayed.
        (TURNS, Part.STDOUT, "ab\nc\n"),
        (TURNS, Part.STDERR, "100 %\n"),
        (FAILED, Part.ALL, "out\nValueError: a\nb\n"),
        (FAILED, Part.MAIN, "out\nValueError: a\nb\n"),
        (FAILED, Part.STDERR, "ValueError: a\nb\n"),
        ([raised("RuntimeError", "", "long")], Part.ALL, "RuntimeError\n"),
        ([raised("", "1", "long")], Part.ALL, "1\n"),  # the status that a shell's kernel tells
        ([glued({"text/plain": "0.5"})], Part.ALL, "x = 0.5\n"),
        ([glued({"text/plain": "a\nb"})], Part.ALL, "x =\na\nb\n"),
        ([glued({"text/plain": "0.5"}, prefix="")], Part.ALL, "0.5\n"),
        ([glued({"text/html": "<td>1"})], Part.ALL, "x = 1\n"),
        ([], Part.ALL, ""),
    ],
)
def test_streams_values_and_errors_in_order(
    outputs: list[NotebookNode], part: Part, text: str
) -> None:
    assert read_outputs(outputs).select(part) == text


@pytest.mark.parametrize(("text", "left"), rows(SCREENS, "What a terminal"))
def test_a_stream_reads_as_a_terminal_is_left_showing_it(text: str, left: str) -> None:
    assert on_screen(text) == left
    assert on_screen(left) == left
    assert read_outputs([stream(text)]).select(Part.STDOUT) == f"{left.rstrip()}\n"


@pytest.mark.parametrize(
    ("pieces", "left"),
    [(["", "fonts"], []), (["w\n", "fonts"], ["w\n"]), (["fonts", "w\n"], ["w\n"]), ([""], [""])],
)
def test_what_only_the_first_page_of_a_machine_says_is_left_out(
    pieces: list[str], left: list[str]
) -> None:
    fonts = "Matplotlib is building the font cache; this may take a moment.\n"
    outputs = [stream(fonts if text == "fonts" else text, "stderr") for text in pieces]
    assert [output.text for output in joined(outputs)] == left


def test_parts_name_the_streams_that_say_something() -> None:
    assert read_outputs(MIXED).parts == (Part.STDOUT, Part.VALUE, Part.STDERR)
    assert read_outputs([stream("  \n"), stream("\n", "stderr")]).parts == ()


@pytest.mark.parametrize(
    ("data", "counts", "text"),
    [
        ({"image_png": "iVBOR", "text_plain": "<Figure>"}, (1, 0), ""),
        ({"image_svg+xml": "<svg/>"}, (1, 0), ""),
        ({"text_x-unknown": "a,b"}, (0, 1), ""),
        ({"text_html": "<img src=a.png>"}, (1, 0), ""),
        ({"application_vnd.jupyter.widget-view+json": {}, "text_plain": "Slider()"}, (0, 1), ""),
        ({"application_javascript": "1"}, (0, 1), ""),
        (
            {
                "application_vnd.google.colaboratory.intrinsic+json": {},
                "application_vnd.microsoft.datawrangler.viewer.v0+json": {},
                "text_plain": "x",
            },
            (0, 0),
            "x\n",
        ),
        ({"application_vnd.deepnote.dataframe.v3+json": {}}, (0, 1), ""),
        ({"image_jpeg": "i", "text_html": "<iframe src=a></iframe>"}, (0, 1), ""),
        ({"application_pdf": "a", "text_plain": "x", "text_html": "<b>x</b>"}, (0, 1), "x\n"),
    ],
)
def test_what_is_no_text_is_counted(
    data: dict[str, Any], counts: tuple[int, int], text: str
) -> None:
    for outputs in ([shown(**data)], [glued(shown(**data).data)]):
        assert read_outputs(outputs).drawn == counts
    assert read_outputs([shown(**data)]).select(Part.ALL) == text


@pytest.mark.parametrize(("html", "pictures", "unknown"), rows(CASES, "What HTML shows"))
def test_what_html_may_show_besides_its_text_is_known(
    html: str, pictures: str, unknown: str
) -> None:
    assert drawn_in(html) == (int(pictures), unknown)
    result = read_outputs([shown(text_html=f"1 {html}", text_plain="1")])
    assert result.drawn == (int(pictures), int(bool(unknown)))
    assert [result.unknown_in(part) for part in (Part.HTML, Part.ALL)] == [unknown, ""]
    as_text = read_outputs([shown(text_html=f"1 {html}")])
    assert as_text.unknown_in(Part.VALUE) == unknown


@pytest.mark.parametrize(("markdown", "pictures", "widgets"), rows(CASES, "What Markdown makes"))
def test_what_markdown_makes_or_loads_is_counted(
    markdown: str, pictures: str, widgets: str
) -> None:
    for text in ({}, {"text_plain": "0.5"}):
        result = read_outputs([shown(text_markdown=markdown, **text)])
        assert result.drawn == (int(pictures), int(widgets))


# Other forms ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "again", "is_deep"),
    [
        ("", "<b>", True),
        ("", "<b></b>", False),
        ("", "<br>1", False),
        ("", "<img src=a>", False),
        ("<ul>", "<li>1", False),
        ("<table>", "<tr><td>1<td>2", False),
        ("", "<table><td>", True),
        ("<svg>", "<td>", True),  # in a drawing an element is only closed by its end
    ],
)
def test_only_elements_in_one_another_are_deep(before: str, again: str, *, is_deep: bool) -> None:
    assert ("in one another" in drawn_in(before + again * 10_001).unknown) is is_deep


@pytest.mark.parametrize(("html", "text"), rows(CASES, "What a reader sees"))
def test_html_is_read_as_a_reader_sees_it(html: str, text: str) -> None:
    assert html_text(html) == text


def test_html_that_is_too_deep_to_parse_is_not_called_read() -> None:
    for depth, unknown in ((10_000, ""), (10_001, "more than 10,000 elements in one another")):
        assert drawn_in("<b>" * depth + "0.5").unknown == unknown


LOSS = '{\n  "loss": [\n    0.5\n  ]\n}\n'
SORTED = '{\n  "a": 2,\n  "b": 1\n}\n'  # as a notebook is saved
SVG = "<svg>\n<text>0.5</text></svg>"
HTML = "<IPython.core.display.HTML object>"
STYLER = "<pandas.io.formats.style.Styler at 0x7f6b9486f0a0>"


@pytest.mark.parametrize(
    ("data", "part", "text"),
    [
        ({"text_plain": "a 1", "text_html": "<b>a</b> 1"}, Part.HTML, "a 1\n"),
        ({"text_plain": "x**2", "text_latex": "$x^2$"}, Part.LATEX, "$x^2$\n"),
        ({"text_plain": "x", "text_markdown": "*x*"}, Part.MARKDOWN, "*x*\n"),
        ({"text_plain": "a  b", "text_html": "<table>"}, Part.VALUE, "a  b\n"),
        ({"text_plain": HTML, "text_html": "<style>b{}</style><p>a</p>1"}, Part.ALL, "a\n1\n"),
        ({"text_plain": STYLER, "text_html": "<td>0.5"}, Part.VALUE, "0.5\n"),
        ({"text_plain": HTML, "text_latex": "$5$", "text_html": "<b>5"}, Part.VALUE, "5\n"),
        ({"text_plain": " ", "text_html": "<td>0.5"}, Part.VALUE, "0.5\n"),
        ({"text_plain": HTML, "text_markdown": " ", "text_html": "0.5"}, Part.VALUE, "0.5\n"),
        ({"text_plain": STYLER}, Part.VALUE, f"{STYLER}\n"),
        ({"text_plain": "<A at 0x7f> x", "text_html": "x"}, Part.VALUE, "<A at 0x7f> x\n"),
        ({"image_png": "iVBOR", "text_plain": "<Figure of 9>"}, Part.VALUE, ""),
        ({"image_png": "iVBOR", "text_plain": "<Figure of 9>"}, Part.PICTURE, "<Figure of 9>\n"),
        ({"image_png": "iVBOR", "text_plain": "x**2"}, Part.VALUE, "x**2\n"),
        ({"image_png": "iVBOR", "text_plain": "x**2"}, Part.PICTURE, ""),
        ({"application_javascript": "1", "text_plain": "Slider(3)"}, Part.PICTURE, "Slider(3)\n"),
        ({"image_svg+xml": SVG}, Part.PICTURE, "0.5\n"),
        ({"image_svg+xml": SVG, "text_plain": "0.5"}, Part.ALL, "0.5\n"),
        ({"application_json": {"loss": [0.5]}, "text_plain": STYLER}, Part.VALUE, LOSS),
        ({"application_json": {"b": 1, "a": 2}, "text_plain": "0.5"}, Part.JSON, SORTED),
        # MyST-NB shows the text, and no plotly.
        ({"application_vnd.plotly.v1+json": {}, "text_plain": "0.75"}, Part.VALUE, "0.75\n"),
    ],
)
def test_forms_of_a_value(data: dict[str, Any], part: Part, text: str) -> None:
    assert read_outputs([shown(**data)]).select(part) == text


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("row 7", "row 7"),
        ("", ""),
        ("shapes (3,) (4,) ", "shapes (3,) (4,) "),
        ("bad syntax", "bad syntax (f.py, line 1)"),
        ("red", "\x1b[31mred\x1b[0m"),
    ],
)
def test_the_notes_of_an_error_are_a_part_of_it(message: str, value: str) -> None:
    head = "ValueError     Traceback (most recent call last)"
    parts = [head, "Cell In[1], line 1\n----> 1 f()", f"ValueError: {message}", "/a note 5"]
    error = raised("ValueError", value, *parts)
    documented = f"ValueError: {message}".rstrip() + "\n/a note 5"
    assert read_outputs([error]).error == documented
    assert read_outputs([error]).select(Part.TRACEBACK) == f"{documented}\n"


def test_an_error_that_is_written_to_stderr_is_one() -> None:
    result = read_outputs([stream("w\nUsageError: no %x\n", "stderr")])
    assert (result.error, result.native_error) == ("UsageError: no %x", True)
    assert result.select(Part.STDERR) == "w\nUsageError: no %x\n"
    assert result.parts == (Part.STDERR,)
