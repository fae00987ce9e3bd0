"""Executed outputs written back: in the right place, in the same hand, and nowhere else."""

import contextlib
import errno
import io
import json
import os
import re
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import nbformat.v4
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from nbformat.v4.rwbase import split_lines
from notebooks import code, glued, notebook, raised, stream, value
from small_book import FRONT, expected

from sphinx_drift.judge import judge_page
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page
from sphinx_drift.output.filters import DEFAULTS, Filter, make_filter
from sphinx_drift.output.printed_text import Part
from sphinx_drift.run.results import Execution
from sphinx_drift.source.read_source import load
from sphinx_drift.source.update import Change, change_for
from sphinx_drift.source.update_page import Fixes
from sphinx_drift.writing import irreversible, write

_COMMAND = re.compile(r"(?s)\A%%.*|(?m:^[!%])(?:\\\n|[^\n])*")


def run(path: Path, *filters: Filter) -> tuple[Any, ...]:
    """Run a page's cells here, which is quicker than in a kernel, and check it.

    A cell names what it `displayed`, the texts that it `glues`, and the error that it `raised`.
    """
    loaded = load(path)
    assert loaded
    page, notebook = replace(loaded[0], complete=True), loaded[1]
    space: dict[str, Any] = {}
    succeeded = set()
    for cell in page.cells:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            exec(_COMMAND.sub("print(0.5)", cell.source), space)  # noqa: S102 - the cells stand in these tests
        outputs = [
            stream(printed.getvalue(), name)
            for name, printed in (("stdout", out), ("stderr", err))
            if printed.getvalue()
        ]
        data = space.pop("displayed", ())
        outputs += [nbformat.v4.new_output("display_data", data=each) for each in data]
        texts = space.pop("glues", {}).items()
        outputs += [glued({"text/plain": text}, name=name) for name, text in texts]
        if "raised" not in space:
            succeeded.add(cell.index)
        for name, message in space.pop("raised", {}).items():
            outputs.append(raised(name, message, f"{name}: {message}"))
        notebook.cells[cell.index].outputs = outputs
        notebook.cells[cell.index].execution_count = cell.number
    execution = Execution(
        frozenset(cell.index for cell in page.cells), succeeded=frozenset(succeeded)
    )
    varies = (*filters, *DEFAULTS)
    judge = partial(
        judge_page, notebook=notebook, execution=execution, file=path.name, filters=varies
    )

    def reread(text: str) -> Page | None:
        new = load(path, text=text)
        return new and new[0]

    return page, notebook, judge(page), judge, reread, filters


def updated(path: Path, *filters: Filter) -> str:
    """Update a page or notebook, and return its text after a check that finds it right."""
    change = change_for(path, *run(path, *filters))
    assert change
    assert not change.refused
    path.write_bytes(change.after.encode())
    again = run(path, *filters)
    assert not again[2].failed, again[2].outcomes
    assert change_for(path, *again) is None
    return change.after


def changed(path: Path, *more: Outcome) -> Change:
    """Return how an update changes a page that is run, with more that came of it."""
    change = change_after(path, *more)
    assert change
    return change


def change_after(path: Path, *more: Outcome) -> Change | None:
    page, notebook, result, *others = run(path)
    result = replace(result, outcomes=(*result.outcomes, *more))
    return change_for(path, page, notebook, result, *others)


def cell(code: str) -> str:
    return f"```{{code-cell}} ipython3\n{code}\n```\n"


def put(folder: Path, *parts: str, name: str = "page.md") -> Path:
    path = folder / name
    path.write_bytes((FRONT + "".join(parts)).encode())
    return path


def stored_in(folder: Path, *cells: nbformat.NotebookNode, **metadata: Any) -> Path:
    path = folder / "notebook.ipynb"
    path.write_text(nbformat.writes(notebook(*cells, **metadata)), "utf-8")
    return path


# Pages --------------------------------------------------------------------------------


IN_YAML = "---\nname: it\n---\n"
OPTIONS = "```{expected-output}\n:name: it\n:allow: [1] 0.30 -> 0.31 (a reason)\n\n[0.%s]\n```\n"


@pytest.mark.parametrize(
    ("printed", "before", "after"),
    [
        # The documented wrapping stays where only numbers differ, and goes where more does.
        *(
            (printed, expected(before), expected(after))
            for printed, before, after in (
                ("[0.1, 0.2, 0.4]", "[0.1,\n 0.2,\n     0.3]", "[0.1,\n 0.2,\n     0.4]"),
                ("[0.1, 0.2]", "[0.1,\n 0.2,\n 0.3]", "[0.1, 0.2]"),
                ("a\n\n\nb", "a", "a\n\n\nb"),
                ("trailing   \nb\t", "c", "trailing\nb"),
                ("a", "", "a"),
                ("<A at 0x7f19f000>", "old", "<A at 0x0>"),
            )
        ),
        (":name: value", "", "```{expected-output}\n\n:name: value\n```\n"),
        ("a\n```", "", "````{expected-output}\na\n```\n````\n"),
        ("  ~~~~\n````python", "", "`````{expected-output}\n  ~~~~\n````python\n`````\n"),
        *(
            (row, "", expected(row, fence="`````"))
            for row in ("````{code-cell}", "~~~~{code-cell}", "> ````{expected_output}")
        ),
        *(("new", expected("old", fence=f), expected("new", fence=f)) for f in (":::", "~~~~")),
        (
            "a\n\n  b",
            "   ```{expected-output}\n   old\n   ```\n",
            "   ```{expected-output}\n   a\n\n     b\n   ```\n",
        ),
        ("[0.25, 0.31, 7]", OPTIONS % "24, 0.30, 7", OPTIONS % "25, 0.30, 7"),
        ("```", expected("1"), expected("```", fence="````")),
        ("~~~~", expected("1", fence="~~~"), expected("~~~~", fence="~~~~~")),
        (":html: 2", expected("1"), expected(":html: 2", options="\n")),
        *(
            (row, expected("1"), expected(row, options="\n"))
            for row in ("---\nname: it\n---", "---\nname: it\n---\n1")
        ),
        ("2", expected("1", options=IN_YAML), expected("2", options=IN_YAML)),
        ("---\n2", expected("1", options=IN_YAML), expected("---\n2", options=f"{IN_YAML}\n")),
        (
            ":html: 2",
            expected("1", options=":name: it\n"),
            expected(":html: 2", options=":name: it\n\n"),
        ),
    ],
)
def test_fences_options_and_comments_stay(
    printed: str, before: str, after: str, tmp_path: Path
) -> None:
    code = cell(f"print({printed!r})") + "\n% a comment\n\n" * bool(before)
    assert updated(put(tmp_path, code, before, "End.\n")) == FRONT + code + after + "End.\n"


def test_what_nothing_looks_at_gets_its_own(tmp_path: Path) -> None:
    code = cell('import sys\nprint("out")\nprint("err", file=sys.stderr)')
    stdout = expected("out", options=":stream: stdout\n\n")
    path = put(tmp_path, code, stdout, "\nProse.\n")
    stderr = expected("err", options=":stream: stderr\n\n")
    assert updated(path) == FRONT + code + stdout + stderr + "\nProse.\n"


@pytest.mark.parametrize(
    ("line", "changed", "last"), [("\n", "\r\n", "\n"), ("---\n", "---\r\n", "")]
)
def test_ends_of_lines_and_a_missing_last_one_stay(
    line: str, changed: str, last: str, tmp_path: Path
) -> None:
    text = FRONT + cell("print(1)") + expected("%s") + cell("print(2)") + "%s"
    path = tmp_path / "page.md"
    before, after = (
        (text % parts).removesuffix(last).replace(line, changed)
        for parts in (("old", ""), ("1", expected("2")))
    )
    path.write_bytes(before.encode())
    assert updated(path) == after


@pytest.mark.parametrize("printed", [r"\x00", r"a\u2028b", r"a\x0cb", r"\ud800 5"])
def test_what_a_page_cannot_hold_is_unchecked(printed: str, tmp_path: Path) -> None:
    path = put(tmp_path, cell("print(1)"), cell(f"print('{printed}')"), expected("old"))
    assert ":unchecked: it can't be written so that it reads the same\n" in updated(path)


RIDGE = {"text/plain": "Ridge()", "text/html": "<b>Ridge</b> 0.5", "application/json": [5]}
POWER = {"text/plain": "x**2", "text/latex": "$x^2$"}
STYLED = {"text/plain": "<Styler at 0x7f>", "text/html": "<td>0.7"}
JSON = {"text/plain": "<JSON object>", "application/json": [1]}
TEXT = {"text/plain": "3 rows"}
SVG = {"image/svg+xml": "<svg><text>0.5</text></svg>"}
DRAWN = expected("0.5", options=":stream: picture\n\n")
VALUE, STDOUT = ":stream: value\n\n", expected("1", options=":stream: stdout\n\n")
TWO, N_IS_TWO = (expected(text, options=VALUE) for text in ("2", "n = 2"))
IN_HTML = expected("Ridge 0.5", options=":html:\n\n")
IN_LATEX = expected("$x^2$", options=":latex:\n\n")


@pytest.mark.parametrize(
    ("printed", "displayed", "before", "after"),
    [
        ("", [SVG], "", DRAWN),
        ("1", [SVG], "", expected("1") + DRAWN),
        ("", [RIDGE], "", IN_HTML),
        ("", [STYLED], "", expected("0.7", options=":html:\n\n")),
        ("", [JSON], "", expected("[\n  1\n]", options=":json:\n\n")),
        ("", [RIDGE, TEXT], "", expected("Ridge()\n3 rows") + IN_HTML),
        ("1", [RIDGE, POWER], "", STDOUT + IN_HTML + IN_LATEX),
        ("", [RIDGE], expected("Lasso()"), expected("Ridge()")),
        ("", [RIDGE], expected("Ridge 9", options=":html:\n\n"), IN_HTML),
        ("1", [RIDGE], STDOUT, STDOUT + IN_HTML),
        ("", [RIDGE, TEXT], IN_HTML, IN_HTML + expected("Ridge()\n3 rows", options=VALUE)),
    ],
)
def test_a_value_is_documented_as_it_is_shown(
    printed: str, displayed: list[dict[str, Any]], before: str, after: str, tmp_path: Path
) -> None:
    code = cell(f"{displayed = }{f'; print({printed})' * bool(printed)}")
    assert updated(put(tmp_path, code + before)) == FRONT + code + after


def test_an_error_is_written_where_nothing_was_documented(tmp_path: Path) -> None:
    one, fails = cell("print(1)"), cell('raised = {"E": "m"}')
    change = changed(put(tmp_path, one + fails + fails + expected("2")))
    raised = expected("E: m", options=":raises: E\n\n")
    assert change.after == FRONT + one + expected("1") + fails + raised + fails + expected("2")
    assert change.result
    assert [o.kind for o in change.result.outcomes if o.kind.fails] == [Kind.RAISED]


def test_an_error_that_was_only_printed_is_written_as_what_was_printed(tmp_path: Path) -> None:
    lines = ["  + Exception Group Traceback (most recent call last):", "  | E: 5"]
    printed = f"import sys\nprint({chr(10).join(lines)!r}, file=sys.stderr)"
    code = cell(f":tags: [raises-exception]\n{printed}")
    path = put(tmp_path, code)
    assert ":raises:" not in updated(path)
    assert lines[0] in path.read_text("utf-8")


@pytest.mark.parametrize("lacks", ["ModuleNotFoundError", "FileNotFoundError", "ConnectionError"])
def test_a_page_that_lacks_something_is_left_unless_it_may_raise(
    lacks: str, tmp_path: Path
) -> None:
    code = f"raised = {{{lacks!r}: 'No x'}}"
    refused = changed(put(tmp_path, cell("print(1)") + cell(code))).refused
    assert "No x (line 10, cell 2): see that it is there" in refused
    tagged = put(tmp_path, cell(f":tags: [raises-exception]\n{code}"))
    assert f":raises: {lacks}" in changed(tagged).after
    reason = expected("", options=f":unchecked: {lacks}: each day another\n\n")
    assert updated(put(tmp_path, cell("print(1)") + reason + cell("print(2)") + expected("3")))


@pytest.mark.parametrize(("number", "is_refused"), [(0, True), (1, False), (2, True), (3, False)])
def test_only_a_cell_that_may_raise_may_lack_something(
    number: int, tmp_path: Path, *, is_refused: bool
) -> None:
    tagged, one = (cell(f"{tag}print(1)") for tag in (":tags: [raises-exception]\n", ""))
    path = put(tmp_path, *(code + expected("2") for code in (tagged, one, tagged)))
    lacks = Outcome(Kind.RAISED, 1, cell=number, message="ModuleNotFoundError: No x")
    assert ("No x" in changed(path, lacks).refused) is is_refused


def test_what_differs_between_runs_is_unchecked_and_the_rest_written(tmp_path: Path) -> None:
    one, three, four = (cell(f"print({number})") for number in (1, 3, 4))
    named, six = cell("print(5)"), cell("print(6)")
    path = put(
        tmp_path,
        *(one, expected("2"), three, four, expected("4")),
        *(named, expected("5", options=":name: it\n\n")),
        *(six, expected("6", options="---\nname: i\n---\n")),
    )
    differs = [Outcome(Kind.UNREPEATABLE, 1, cell=number) for number in (2, 3, 4, 5)]
    unchecked = ":unchecked: it differs between two runs\n"
    new, old, own = (expected(text, options=unchecked) for text in ("", "\n4", ":name: it\n\n5"))
    in_yaml = expected("6", options="---\nunchecked: it differs between two runs\nname: i\n---\n")
    after = one + expected("1") + three + new + four + old + named + own + six + in_yaml
    assert changed(path, *differs).after == FRONT + after


@pytest.mark.parametrize(
    ("shown", "after"),
    [
        ("displayed = [{'text/plain': '2'}]", expected("2", options=":stream: value\n\n")),
        ("raised = {'E': 'm'}", expected("E: m", options=":stream: stderr\n:raises: E\n\n")),
    ],
)
def test_stdout_that_no_reader_is_shown_is_not_documented(
    shown: str, after: str, tmp_path: Path
) -> None:
    code = cell(f":tags: [remove-stdout]\nprint(1)\n{shown}")
    assert changed(put(tmp_path, code)).after == FRONT + code + after


@pytest.mark.parametrize(
    ("documented", "varying", "unchecked"),
    [
        ("stdout stderr", "stderr", "stderr"),
        ("all picture", "picture", "picture"),
        ("all picture", "stdout", "all"),
        ("main stderr", "value", "main"),
        ("stdout html", "stdout", "stdout"),
        ("stdout html", "value html", "html"),
        ("stdout html", "value", ""),
        ("html markdown", "value html", "html"),
    ],
)
def test_what_two_runs_print_alike_is_checked(
    documented: str, varying: str, unchecked: str
) -> None:
    parts = [Part(name) for name in varying.split()]
    fixes = Fixes(Page(), notebook(), (), {1: "it differs"}, {1: parts}, ())
    assert [n for n in documented.split() if fixes.reason(1, Part(n))] == unchecked.split()


OTHERWISE = ":unchecked: it differs between two runs\n"
SHOWN, GLUED = "displayed = [{'text/plain': '2'}]", "glues = {'n': '2'}"


@pytest.mark.parametrize(
    ("varying", "shown", "after"),
    [
        ("stdout", SHOWN, expected("", options=f":stream: stdout\n{OTHERWISE}") + TWO),
        ("value", SHOWN, STDOUT + expected("", options=f":stream: value\n{OTHERWISE}")),
        ("stdout value", SHOWN, expected("", options=OTHERWISE)),
        ("stdout", GLUED, expected("", options=f":stream: stdout\n{OTHERWISE}") + N_IS_TWO),
        ("value", GLUED, STDOUT),
        ("stdout value", GLUED, expected("", options=f":stream: stdout\n{OTHERWISE}")),
    ],
)
def test_what_varies_stands_apart_from_what_can_be_checked(
    varying: str, shown: str, after: str, tmp_path: Path
) -> None:
    code = cell(f"print(1)\n{shown}")
    differs = Outcome(Kind.UNREPEATABLE, 1, cell=1, parts=(*map(Part, varying.split()),))
    assert changed(put(tmp_path, code), differs).after == FRONT + code + after


def test_what_raises_where_an_output_is_documented_is_left_to_its_author(tmp_path: Path) -> None:
    path = put(tmp_path, cell("raised = {'E': 'm'}"), expected("1"))
    assert change_after(path, Outcome(Kind.UNREPEATABLE, 1, cell=1)) is None


def test_a_page_that_fails_when_it_is_run_again_stays_as_it_is(tmp_path: Path) -> None:
    again = Outcome(Kind.FAILED_WHEN_REPEATED, 7, message="E: m", cell=1)
    refused = changed(put(tmp_path, cell("print(1)")), again).refused
    assert refused == "a cell failed when it was run a second time (line 7, cell 1): E: m"


@pytest.mark.parametrize(
    ("below", "reason"),
    [
        ("# Title\n\nProse.\n", "can't be read (line 10): its fence isn't closed"),
        ("# Title\n\n" + cell("print(2)") + expected("2"), "isn't read as one"),
        ("# Title\n\n```python\nx = 1\n```\n", "can't be read (line 10)"),
        ("# Title\n\n```\nx = 1\n```\n\nProse.\n", "can't be read (line 17)"),
        ("# Title\n\n~~~{code-cell}\nprint(2)\n~~~\n```\n", "isn't read as one"),
    ],
)
def test_a_page_stays_as_it_is_where_an_expectation_swallows_the_rest(
    below: str, reason: str, tmp_path: Path
) -> None:
    unclosed = expected("old").removesuffix("```\n")
    assert reason in changed(put(tmp_path, cell("print(1)"), unclosed, "\n", below)).refused


def test_a_cell_in_a_directive_stops_no_update(tmp_path: Path) -> None:
    in_tip = f"`````{{tip}}\n{cell('print(3)')}`````\n"
    change = changed(put(tmp_path, cell("print(1)"), expected("2"), "\n", in_tip))
    assert change.after == FRONT + cell("print(1)") + expected("1") + "\n" + in_tip


def test_folders_of_this_machine_are_written_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf.py").touch()
    monkeypatch.chdir(tmp_path)
    code = cell("import pathlib, sys\nprint(pathlib.Path('tool.py').resolve())")
    again = cell("import tempfile\nprint(sys.prefix, tempfile.gettempdir() + '/tmp/5')")
    path = put(tmp_path, code, expected("old"), again)
    after = code + expected("<book>/tool.py") + again + expected("<env> <tmp>/tmp/5")
    assert updated(path) == FRONT + after


def test_what_a_filter_replaces_is_written_by_its_name(tmp_path: Path) -> None:
    day = make_filter(r"\d{4}-\d\d-\d\d", "day", "is today")
    code = cell("print('2026-11-27', 0.5)")
    path = put(tmp_path, code, expected("2026-11-26 0.4"), code)
    assert updated(path, day) == FRONT + (code + expected("<day> 0.5")) * 2


def test_sentences_that_say_an_old_number_are_told(tmp_path: Path) -> None:
    prose = "It falls to 0.31,\nabout 31 %, from 16; `0.31`, $0.31$, {printed}`0.31`, 0.77, 0.4.\n"
    code = cell("print(0.4042, 17,\n      0.78)  # not 0.77")
    path = put(tmp_path, code, expected("0.3061 16 0.77"), prose, "```\n0.31\n```\n## 3.16 0.31\n")
    notes = changed(path).notes
    where = "now in cell 1 (line 12)"
    told = [
        (14, "0.31", "0.3061 is 0.4042"),
        (15, "31 %", "0.3061 is 0.4042"),
        (15, "16", "16 is 17"),
    ]
    assert list(notes) == [f"{path}:{n}: still says {a}: {b} {where}" for n, a, b in told]


@pytest.mark.parametrize(
    ("last", "before", "after"),
    [
        ("print(2)", (None, None), [1, 2]),
        ("y = 2", (None, None), [1, 2]),
        ("print(2)", (None, 5), [None, 5]),
        ("print(2)", (3, None), [3, None]),
    ],
)
def test_a_notebook_that_was_never_run_is_saved_as_it_was_run(
    last: str, before: tuple[int | None, ...], after: list[int | None], tmp_path: Path
) -> None:
    cells = (code(s, count=n) for s, n in zip(("x = 1", last), before, strict=True))
    saved = json.loads(changed(stored_in(tmp_path, *cells)).after)
    assert [cell["execution_count"] for cell in saved["cells"]] == after


def test_a_notebook_of_an_old_format_that_was_never_run_is_saved_with_its_counts(
    tmp_path: Path,
) -> None:
    path = tmp_path / "notebook.ipynb"
    old = nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet()])
    old.worksheets[0].cells = [nbformat.v3.new_code_cell(text) for text in ("x = 1", "print(2)")]
    path.write_text(nbformat.v3.writes_json(old), "utf-8")
    saved = json.loads(changed(path).after)
    assert [cell["execution_count"] for cell in saved["cells"]] == [1, 2]


def test_a_glued_value_of_a_notebook_that_varies_is_left_to_its_author(tmp_path: Path) -> None:
    path = stored_in(tmp_path, code("glues = {'x': '2'}", glued({"text/plain": "1"}), count=1))
    differs = Outcome(Kind.UNREPEATABLE, 1, cell=1, parts=(Part.ALL, Part.MAIN, Part.VALUE))
    (saved,) = json.loads(changed(path, differs).after)["cells"]
    assert "drift" not in saved["metadata"]


def test_sentences_of_a_notebook_are_told_by_the_cell_above(tmp_path: Path) -> None:
    said = nbformat.v4.new_markdown_cell("# Title\n\nFirst 0.306,\nthen 12.")
    path = stored_in(tmp_path, code("print(0.4042)", stream("0.3061 of 12\n")), said)
    told = [note.partition(", below cell 1: still says ")[2] for note in changed(path).notes]
    gone = "isn't printed any more in cell 1"
    assert told == [f"0.306: 0.3061 {gone}", f"12: 12 {gone}"]


def test_names_of_this_machine_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "amber-7.example.org")
    path = put(tmp_path, cell("print('run on', 'amb' + 'er-7')"), expected("run on it"))
    (note,) = changed(path).notes
    assert note.endswith("names this machine or its user: amber-7")


PROSE = st.sampled_from(["", "Prose.\n", "[0.25, 0.5]\n", "% comment\n", "# Title\n", "- `a`\n\n"])
NUMBERS = st.lists(st.integers(-30, 30).map(lambda n: n / 10), min_size=1, max_size=4).map(str)
TEXTS = NUMBERS | st.text("ab :`~%[]-,.0\n", max_size=20).filter(lambda text: text.strip())
CLOSED = st.integers(0, 9).map(bool)  # one in ten isn't
CELLS = st.tuples(PROSE, TEXTS, st.none() | TEXTS, st.sampled_from(["```", ":::", "~~~~~"]), CLOSED)


def outside(path: Path) -> list[bytes]:
    """Return the lines of a page that stand in no expectation."""
    loaded = load(path)
    assert loaded
    lines = path.read_bytes().splitlines(keepends=True)
    for each in reversed([e for cell in loaded[0].cells for e in cell.expectations]):
        del lines[each.line - 1 : each.end_line + 1]
    return lines


@settings(max_examples=60, phases=[Phase.generate])
@given(cells=st.lists(CELLS, min_size=1, max_size=4), newline=st.sampled_from(["\n", "\r\n"]))
def test_any_page_is_right_afterwards_and_else_the_same(
    cells: list[tuple[str, str, str | None, str, bool]],
    newline: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    text, swallows = FRONT, False
    for prose, printed, documented, fence, is_closed in cells:
        text += f"{prose}\n" + cell(f"print({printed!r})")
        if documented is not None:
            # A text that would end its fence, or begin with an option, is no expectation.
            text += expected(" " + documented.replace("\n", "\n ").replace("```", "'"), fence=fence)
            text = text if is_closed else text.removesuffix(f"{fence}\n")
            swallows |= not is_closed
        text += "\n"
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_bytes(text.replace("\n", newline).encode())
    ran = run(path)
    before = outside(path)
    change = change_for(path, *ran)
    if change is None:
        assert not ran[2].failed
        return
    if change.refused:  # a fence that isn't closed must be the reason, or what no page can hold
        assert swallows or any(set(printed) & set("`~:") for _, printed, *_ in cells)
        return
    assert not swallows
    path.write_bytes(change.after.encode())
    again = run(path)
    assert {o.kind for o in again[2].outcomes if o.kind.fails} <= {Kind.NOTHING_CHECKED}
    assert change_for(path, *again) is None
    assert outside(path) == before


# Notebooks ----------------------------------------------------------------------------


def test_a_picture_that_is_not_made_any_more_is_told(tmp_path: Path) -> None:
    picture = nbformat.v4.new_output("display_data", {"image/png": "aQ=="})
    path = stored_in(tmp_path, code("print(1)", picture))
    change = changed(path)
    assert "image/png" not in change.after
    assert change.notes == (f"{path}: pictures of cell 1: 1 stored, 0 made now",)


@pytest.mark.parametrize(
    ("code", "printed", "unchecked"),
    [
        ("print(0.5)", "0.5\n", ""),
        ("pass", "", ""),
        ("%pip install x\n\n!uv pip install y", "0.5\n0.5\n", "installs packages"),
        ("!pip install x\nprint(0.7)", "0.5\n0.7\n", ""),
        ("!pip install x && run", "0.5\n", ""),
    ],
)
def test_only_the_drifted_outputs_of_a_notebook_change(
    code: str, printed: str, unchecked: str, tmp_path: Path
) -> None:
    wrong = [stream("0.25\n")]
    drifting = nbformat.v4.new_code_cell(code, outputs=wrong, execution_count=3)
    stored = nbformat.v4.new_notebook(
        metadata={"zebra": 1.0, "kernelspec": {"name": "python3", "display_name": "Mine"}},
        cells=[
            nbformat.v4.new_code_cell("print(0.25)", outputs=wrong),
            nbformat.v4.new_markdown_cell("0.25 and é"),
            drifting,
        ],
    )
    path = tmp_path / "notebook.ipynb"
    path.write_text(f"\ufeff{nbformat.writes(stored)}\n", "utf-8")
    drifting.outputs = [stream(printed)] * bool(printed)
    drifting.metadata |= {"drift": {"unchecked": unchecked}} if unchecked else {}
    assert updated(path) == f"\ufeff{nbformat.writes(stored)}\n"


TIGHT = {"separators": (",", ":")}


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize(
    "form",
    [
        *({"indent": indent, "sort_keys": True} for indent in (0, 1, 2, "\t", None)),
        *({"ensure_ascii": is_ascii, **TIGHT} for is_ascii in (False, True)),
    ],
)
def test_a_notebook_is_written_as_it_was(
    form: dict[str, Any], end: str, tmp_path: Path, *, is_split: bool
) -> None:
    value = {"data": {"text/plain": "0.26 é"}, "metadata": {}, "output_type": "display_data"}
    code = "displayed = [{'text/plain': '0.25 é'}]\nprint(7, 'é')"
    outputs = [stream("7 é\n"), nbformat.from_dict(value)]
    one = nbformat.v4.new_code_cell(code, outputs=outputs)
    metadata = {"colab": {"x": "🙂"}, "widgets": {"a": {"state": {}}}}
    stored = nbformat.v4.new_notebook(cells=[one], metadata=metadata)
    stored = split_lines(stored) if is_split else stored
    text = json.dumps(stored, **{"ensure_ascii": False, **form}) + end
    text = text.replace('"colab"', '"colab" :[ 1E5, 3 ], "other"')
    path = tmp_path / "notebook.ipynb"
    path.write_text(text, "utf-8")
    assert updated(path) == text.replace("0.26", "0.25")


@pytest.mark.parametrize("is_of_colab", [False, True])
def test_what_a_notebook_has_besides_outputs_stays(tmp_path: Path, *, is_of_colab: bool) -> None:
    mime, view = (f"application/vnd.jupyter.widget-{end}+json" for end in ("state", "view"))
    states = {"kept": {}, "old": {"part": "IPY_MODEL_both"}, "both": {}, "shown": {}}
    now = {"unseen": {}, "new": {"part": "IPY_MODEL_in"}, "in": {}}

    def shows(name: str) -> nbformat.NotebookNode:
        return nbformat.v4.new_output("display_data", {view: {"model_id": name}})

    one = code("print(0.25)", stream("0.26\n"), shows("old"), count=7)
    path = tmp_path / "notebook.ipynb"
    drawn = [{view: {"model_id": name}} for name in ("shown", "both")]
    other = code(f"displayed = {drawn}", *map(shows, ("shown", "both")))
    stored = notebook(one, other, widgets={mime: {"version_major": 2, "state": states}})
    if is_of_colab:
        stored.metadata.widgets[mime] = states
    stored.metadata.widgets["version"] = "1.2.0"  # as ipywidgets 6 stored it
    path.write_bytes(nbformat.writes(stored).replace("\n", "\r\n").encode())
    page, executed, *others = run(path)
    executed.metadata.widgets = nbformat.from_dict(
        {mime: {"version_major": 2, "state": now}, "version": "1.2.0"}
    )
    executed.cells[0].outputs = [value("0.25", 1), shows("new")]
    change = change_for(path, page, executed, *others)
    assert change
    assert change.after.count("\r\n") == change.after.count("\n")
    after = nbformat.reads(change.after, as_version=4)
    assert after.cells[0].outputs[0].execution_count == 7
    assert {*after.metadata.widgets[mime]} == {"version_major", "state"}
    assert {*after.metadata.widgets[mime].state} == {"kept", "both", "shown", "new", "in"}


def test_colabs_states_of_widgets_that_are_gone_leave_no_mixture(tmp_path: Path) -> None:
    mime, view = (f"application/vnd.jupyter.widget-{end}+json" for end in ("state", "view"))
    slider = nbformat.v4.new_output("display_data", {view: {"model_id": "a1"}})
    path = stored_in(tmp_path, code("print(1)", slider), widgets={mime: {"a1": {}}})
    after = nbformat.reads(changed(path).after, as_version=4)
    assert after.metadata.widgets[mime] == {"version_major": 2, "version_minor": 0, "state": {}}


# Writing ------------------------------------------------------------------------------


def test_writes_whole_files_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, link = tmp_path / "page.md", tmp_path / "link.md"
    path.write_bytes(b"a\r\n")
    path.chmod(0o640)
    link.symlink_to("page.md")
    assert write([Change(link, "older", "c")]) == 2
    assert "link.md is left as it is: it was changed" in capsys.readouterr().err
    assert write([Change(name, "a\r\n", "b\r\n") for name in (link, path)]) == 0
    assert capsys.readouterr().out.startswith("wrote 2 files; look at `git diff")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left")

    monkeypatch.setattr(Path, "replace", full)
    assert write([Change(path, "b\r\n", "c\r\n")]) == 2
    assert "page.md is left as it is: [Errno 28] No space" in capsys.readouterr().err
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"b\r\n", 0o640)
    assert ({*tmp_path.iterdir()}, link.is_symlink()) == ({path, link}, True)


@pytest.mark.skipif(os.getuid() != 0, reason="root alone gives files away")
@pytest.mark.parametrize("may", [True, False])
def test_a_file_keeps_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, may: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")  # as in a container without the user

    path = put(tmp_path)
    os.chown(path, 1234, 5678)
    if not may:
        monkeypatch.setattr(os, "chown", refuse)
    assert write([Change(path, FRONT, "c\n")]) == 0
    assert (path.stat().st_uid, path.stat().st_gid) == ((1234, 5678) if may else (0, 0))
    assert path.read_text() == "c\n"


def test_what_git_could_not_bring_back_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=no")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True)  # noqa: S607

    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    paths = [put(tmp_path, name=name) for name in ("kept.md", "changed.md", "new.md", "cleaned.md")]
    (tmp_path / "link.md").symlink_to("changed.md")
    paths.append(tmp_path / "link.md")
    assert ["is untracked" in each for each in irreversible(paths)] == [True] * 5
    git("init", "-q")
    git("config", "filter.strip.clean", "head -n 1")
    (tmp_path / ".gitattributes").write_text("cleaned.md filter=strip\n")
    git("add", "kept.md", "changed.md", "cleaned.md", "link.md")
    git("commit", "-q", "-m", "one")
    put(tmp_path, "more", name="changed.md")
    reasons = irreversible(paths)
    assert [Path(reason.split()[0]).name for reason in reasons] == [
        *("changed.md", "new.md", "cleaned.md", "link.md"),
    ]
    assert ["is untracked" in reason for reason in reasons] == [False, True, False, False]
    paths[0].write_bytes(paths[0].read_bytes().replace(b"\n", b"\r\n"))  # as core.autocrlf does
    assert not irreversible(paths[:1])
    monkeypatch.setenv("GIT_DIR", "nowhere")
    assert irreversible(paths[:1]) == [
        f"{paths[0]} can't be read by git (fatal: not a git repository: 'nowhere')"
    ]
    monkeypatch.setenv("PATH", "")
    assert irreversible(paths) == ["there is no git"]
