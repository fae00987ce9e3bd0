"""From a page and what its cells printed to outcomes, without a kernel."""

from dataclasses import replace
from typing import Any

import pytest
from nbformat import NotebookNode, v4
from notebooks import code, glued, notebook, raised, shown, stream
from reported import kinds

from sphinx_drift import judge_cell
from sphinx_drift.compare.compare import Policy, Waiver
from sphinx_drift.judge import judge_page
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Expectation, Page, PageResult
from sphinx_drift.output.filters import make_filter
from sphinx_drift.output.printed_text import Drawn, Part
from sphinx_drift.repeat import compare_runs
from sphinx_drift.run.results import Execution, Failure
from sphinx_drift.settings import Settings
from sphinx_drift.source.notebook import read_notebook

OK = [("stdout", "good\n")]


def printing(*cells: list[tuple[str, str]]) -> NotebookNode:
    """Return a notebook whose cells have printed these streams, or raised these errors."""
    return notebook(*(code("source", *map(_output, outputs)) for outputs in cells))


def _output(printed: tuple[str, str]) -> NotebookNode:
    name, text = printed
    kind, _, message = text.partition(": ")
    return raised(kind, message) if name == "error" else stream(text, name)


def showing(**data: str) -> NotebookNode:
    return notebook(code("source", shown(**{f"text_{name}": data[name] for name in data})))


def expecting(text: str, **options: object) -> Expectation:
    return Expectation(text, 20, 21, **options)  # type: ignore[arg-type]


def page_of(*cells: tuple[Expectation, ...], tags: frozenset[str] = frozenset()) -> Page:
    return Page(
        tuple(
            Cell(index + 1, index, 10 + index, "source", tags=tags, expectations=expectations)
            for index, expectations in enumerate(cells)
        ),
        complete=True,
    )


def outcomes(
    page: Page, book: NotebookNode, execution: Execution | None = None, **options: object
) -> PageResult:
    everything = Execution(frozenset(range(len(book.cells))))
    return judge_page(page, book, execution or everything, file="page.md", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expectations", "printed", "expected"),
    [
        ([expecting("good")], OK, [Kind.VERIFIED]),
        ([expecting("bad")], OK, [Kind.DRIFT]),
        ([], OK, [Kind.UNDOCUMENTED]),
        ([expecting("")], OK, [Kind.EMPTY]),
        ([expecting("1\n\N{VERTICAL ELLIPSIS}")], [("stdout", "1\n2\n")], [Kind.DRIFT]),
        ([expecting("good")], [], [Kind.NO_OUTPUT]),
        ([expecting("good")], [("stdout", " \n")], [Kind.NO_OUTPUT]),
        ([expecting("", unchecked="timing")], [], [Kind.UNCHECKED, Kind.NOTHING_CHECKED]),
        ([expecting("", unchecked="timing")], OK, [Kind.UNCHECKED, Kind.NOTHING_CHECKED]),
        (
            [expecting("", part=Part.STDERR, unchecked="a download"), expecting("good")],
            OK,
            [Kind.UNCHECKED, Kind.VERIFIED],
        ),
        ([], [], [Kind.NOTHING_CHECKED]),
        ([expecting("good", part=Part.STDOUT)], OK, [Kind.VERIFIED]),
        ([expecting("good", part=Part.MAIN)], OK, [Kind.VERIFIED]),
        ([expecting("good", part=Part.STDERR)], OK, [Kind.NO_OUTPUT, Kind.UNDOCUMENTED]),
        (
            [expecting("good", part=Part.STDOUT)],
            [*OK, ("stderr", "warning")],
            [Kind.VERIFIED, Kind.UNDOCUMENTED],
        ),
        ([expecting("good")], [*OK, ("stderr", "warning")], [Kind.DRIFT]),
        ([], [("error", "E: m")], [Kind.RAISED]),
        ([expecting("E: m", raises="E")], [("error", "E: m")], [Kind.VERIFIED]),
        ([expecting("E: n", raises="E")], [("error", "E: m")], [Kind.DRIFT]),
        ([expecting("E: m", raises="a.b.E")], [("error", "E: m")], [Kind.VERIFIED]),
        ([expecting("a.E: m", raises="a.E")], [("error", "a.E: m")], [Kind.VERIFIED]),
        ([expecting("E: m", raises="F")], [("error", "E: m")], [Kind.NOT_RAISED]),
        ([expecting("E: m", raises="a.")], [("error", "E: m")], [Kind.NOT_RAISED]),
        ([expecting("good", raises="E")], OK, [Kind.NOT_RAISED]),
        ([expecting("", raises="E")], [("error", "E: m")], [Kind.EMPTY]),
        (
            [expecting("good", raises="E", part=Part.STDOUT)],
            [*OK, ("error", "E: m")],
            [Kind.VERIFIED, Kind.UNDOCUMENTED],
        ),
        (
            [expecting("good", raises="E", part=Part.STDOUT), expecting("E: m", part=Part.STDERR)],
            [*OK, ("error", "E: m")],
            [Kind.VERIFIED] * 2,
        ),
        (
            [expecting("E: /run/ipykernel_1/2.py", raises="E")],
            [("error", "E: /run/ipykernel_3/2.py")],
            [Kind.VERIFIED],
        ),
    ],
)
def test_outcomes_of_a_cell(
    expectations: list[Expectation], printed: list[tuple[str, str]], expected: list[Kind]
) -> None:
    assert kinds(outcomes(page_of(tuple(expectations)), printing(printed))) == expected


def test_an_error_that_is_only_printed_was_not_raised() -> None:
    page = page_of((expecting("UsageError: 5", raises="UsageError"),))
    book = printing([("stderr", "UsageError: 5\n")])
    here = frozenset({0})
    for succeeded, kind in ((frozenset(), Kind.VERIFIED), (here, Kind.NOT_RAISED)):
        assert kinds(outcomes(page, book, Execution(here, succeeded=succeeded))) == [kind]
    beside = page_of(
        (expecting("good", part=Part.MAIN), expecting("UsageError: 5", part=Part.STDERR))
    )
    book = printing([*OK, ("stderr", "UsageError: 5\n")])
    assert kinds(outcomes(beside, book, Execution(here, succeeded=here))) == [Kind.VERIFIED] * 2


@pytest.mark.parametrize(
    ("text", "exact", "portable"),
    [
        ("[0.1, 0.3]", Kind.VERIFIED, Kind.VERIFIED),
        ("[0.1, 0.2]", Kind.WAIVER, Kind.VERIFIED),
        ("[0.1, 0.4]", Kind.DRIFT, Kind.DRIFT),
        ("[0.7, 0.2]", Kind.DRIFT, Kind.DRIFT),
    ],
)
def test_waivers(text: str, exact: Kind, portable: Kind) -> None:
    waived = expecting("[0.1, 0.2]", waivers=(Waiver("0.2", "0.3", "known"),))
    unmatched = expecting(text, waivers=(Waiver("7.5", "8.5", "gone"),))
    book = printing([("stdout", text)])
    for policy, expected in ((Policy.EXACT, exact), (Policy.PORTABLE, portable)):
        assert kinds(outcomes(page_of((waived,)), book, policy=policy)) == [expected]
    assert kinds(outcomes(page_of((unmatched,)), book)) == [Kind.WAIVER]


NUMBER = glued({"text/plain": "0.5"})
SHOWN_TOO = glued({"text/plain": "0.5"}, prefix="")
NAMELESS = glued({"text/plain": "0.5"}, prefix="", name="")
DRAWING = glued({"image/svg+xml": "<svg><text>0.5"})
REMOVED = frozenset({"remove-cell"})


@pytest.mark.parametrize(
    ("output", "tags", "expectations", "expected"),
    [
        (NUMBER, (), [expecting("x = 0.5")], Kind.VERIFIED),
        (NUMBER, (), [expecting("x = 0.5", unchecked="a clock")], Kind.QUOTATION),
        (SHOWN_TOO, (), [expecting("0.5")], Kind.VERIFIED),
        (SHOWN_TOO, (), [expecting("0.5", reference_only="a draw")], Kind.QUOTATION),
        (NUMBER, (), [expecting("", part=Part.VALUE, reference_only="a draw")], Kind.QUOTATION),
        (NUMBER, (), [expecting("", part=Part.HTML, unchecked="why")], Kind.QUOTATION),
        # What a removed cell prints is seen nowhere, but for what it glues.
        (NUMBER, REMOVED, [], Kind.UNDOCUMENTED),
        (NAMELESS, REMOVED, [], Kind.NOTHING_CHECKED),
        (DRAWING, (), [], Kind.UNDOCUMENTED),
        (DRAWING, REMOVED, [], Kind.UNDOCUMENTED),
        (DRAWING, {"remove-output"}, [expecting("0.5", part=Part.PICTURE)], Kind.VERIFIED),
        (DRAWING, (), [expecting("", part=Part.PICTURE, unchecked="why")], Kind.QUOTATION),
    ],
)
def test_what_is_glued_is_documented(
    output: NotebookNode, tags: Any, expectations: list[Expectation], expected: Kind
) -> None:
    page, book = page_of(tuple(expectations), tags=frozenset(tags)), notebook(code("x", output))
    for away in (False, True):
        assert kinds(outcomes(page, book, away=away))[0] is expected


@pytest.mark.parametrize(
    ("executed", "expected"), [((), Kind.NOT_EXECUTED), ((0,), Kind.DEAD_KERNEL)]
)
def test_a_failure_in_no_cell_is_no_pass(executed: tuple[int, ...], expected: Kind) -> None:
    execution = Execution(frozenset(executed), Failure(Kind.DEAD_KERNEL, None, "no answer"))
    result = outcomes(page_of((expecting("good"), expecting("good"))), printing(OK), execution)
    assert (kinds(result)[-1], result.outcomes[-1].message) == (expected, "no answer")


@pytest.mark.parametrize(
    ("expectations", "expected"),
    [
        ((), [Kind.NOT_EXECUTED]),
        ((expecting("good"),), [Kind.NOT_EXECUTED]),
        ((expecting("good", unchecked="a cluster"),), [Kind.UNCHECKED, Kind.NOTHING_CHECKED]),
    ],
)
def test_skipped_cell_is_counted_and_its_expectation_fails(
    expectations: tuple[Expectation, ...], expected: list[Kind]
) -> None:
    page = page_of(expectations, tags=frozenset({"skip-execution"}))
    result = outcomes(page, printing([]))
    assert kinds(result) == expected
    assert result.outcomes[0].body_line == (21 if expectations else 0)  # the mark stands there
    stored = replace(page, is_notebook=True)  # its tag is all that its author can say
    assert kinds(outcomes(stored, printing([]))) == [Kind.UNCHECKED, Kind.NOTHING_CHECKED]
    drawn = replace(page.cells[0], expectations=(), drawn=Drawn(1), is_claim=True)
    some = replace(stored, cells=(drawn,), complete=False)
    assert kinds(outcomes(some, printing([]))) == [Kind.UNCHECKED]
    glued = replace(stored, cells=(replace(page.cells[0], glued=("loss",)),))
    assert kinds(outcomes(glued, printing([]))) == [Kind.QUOTATION]


def test_error_in_the_comparison_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(judge_cell, "compare", broken)
    result = outcomes(page_of((expecting("good"),), (expecting("good"),)), printing(OK, OK))
    assert kinds(result) == [Kind.COULD_NOT_CHECK, Kind.COULD_NOT_CHECK]
    assert "RuntimeError: a defect" in result.outcomes[0].message


# Runs that don't repeat ---------------------------------------------------------------


@pytest.mark.parametrize(("name", "told"), [("stderr", "what it writes to stderr"), ("error", "")])
def test_what_is_written_to_a_removed_stderr_is_told(name: str, told: str) -> None:
    raises = "E" * (name == "error")
    (cell,) = page_of((expecting("bad", part=Part.MAIN, raises=raises),)).cells
    page = Page((replace(cell, hidden=frozenset({Part.STDERR})),))
    drift = outcomes(page, printing([*OK, (name, "E: m")])).outcomes[0]
    assert drift.message.startswith(told)
    assert bool(drift.message) is bool(told)


@pytest.mark.parametrize(
    ("printed", "away", "expected"),
    [
        ("0.5", False, Kind.VERIFIED),
        ("0.6", False, Kind.DRIFT),
        ("0.5", True, Kind.NOT_COMPARED),
        ("0.6", True, Kind.NOT_COMPARED),
        ("", True, Kind.NO_OUTPUT),
    ],
)
def test_what_holds_on_the_reference_alone_is_compared_there_exactly(
    printed: str, expected: Kind, *, away: bool
) -> None:
    page = page_of((expecting("0.5", reference_only="a draw"),), (expecting("good"),))
    book = printing([("stdout", printed)], OK)
    for policy in Policy:
        result = outcomes(page, book, policy=policy, away=away)
        assert kinds(result) == [expected, Kind.VERIFIED]
        assert result.outcomes[0].reference_only == "a draw"


def test_what_holds_on_the_reference_alone_is_not_forgiven_as_rounding_there() -> None:
    mark = "\N{INVISIBLE SEPARATOR}float32\N{INVISIBLE SEPARATOR}"
    texts = ("tensor(0.1235)", f"tensor(0.12345001){mark}")
    book, precise = (printing([("stdout", text)]) for text in texts)
    for reason, kind in (("", Kind.VERIFIED), ("a draw", Kind.DRIFT)):
        page = page_of((expecting("tensor(0.1234)", reference_only=reason),))
        assert kinds(outcomes(page, book, policy=Policy.PORTABLE, precise=precise)) == [kind]


def test_runs_are_compared_but_for_what_is_unchecked() -> None:
    page = page_of(
        *((), (), (expecting("", unchecked="timing"),)),
        (expecting("0.5", reference_only="a draw"),),
    )
    printed = ("[0.1, 0.2]", "1 s", "0.5"), ("[0.1, 0.3]", "2 s", "0.6")
    first, second = (printing(OK, *([("stdout", text)] for text in texts)) for texts in printed)
    found = list(compare_runs(page, first, second, Execution(frozenset(range(4)))))
    assert [(o.kind, o.cell) for o in found] == [(Kind.UNREPEATABLE, cell) for cell in (2, 4)]
    assert [(d.documented, d.executed) for d in found[0].verdict.differences] == [("0.2", "0.3")]
    assert found[0].parts == (Part.ALL, Part.MAIN, Part.STDOUT)


@pytest.mark.parametrize(
    ("tags", "kinds_told"),
    [((), [Kind.FAILED_WHEN_REPEATED] * 2), (("raises-exception",), [Kind.UNREPEATABLE])],
)
def test_a_cell_that_raises_when_it_is_run_again_says_so(
    tags: tuple[str, ...], kinds_told: list[Kind]
) -> None:
    first, second = printing(OK), printing([*OK, ("error", "E: m")])
    told = []
    for reason in ("", "why"):
        page = page_of((expecting("good", unchecked=reason),), tags=frozenset(tags))
        told += [o.kind for o in compare_runs(page, first, second, Execution(frozenset({0})))]
    assert told == kinds_told


def test_runs_of_a_notebook_may_differ_where_it_is_unchecked_and_has_stored_nothing() -> None:
    for tags, number in (((), 1), (IGNORED, 0)):
        page = read_notebook(notebook(code("f()", tags=tags)))
        first, second = (notebook(code("f()", stream(text))) for text in ("1\n", "2\n"))
        assert len([*compare_runs(page, first, second, Execution(frozenset({0})))]) == number


def run_of(number: int, varies: str) -> NotebookNode:
    """Return a run in which what varies has a number, with a value in two forms."""
    names = ("stdout", "stderr", *[name for name in ("error",) if name in varies])
    book = printing([(name, f"E: {number * (name in varies)}") for name in names])
    text, html = (f"x {number * (name in varies)}" for name in ("text", "html"))
    book.cells[0].outputs += showing(plain=text, html=html).cells[0].outputs
    if "beside" in varies:
        book.cells[0].outputs += showing(plain=text).cells[0].outputs
    return book


@pytest.mark.parametrize(
    ("unchecked", "checked", "varies", "expected"),
    [
        ([Part.STDERR], [], "stderr", 0),
        ([Part.STDERR], [], "stdout", 1),
        ([Part.STDERR], [Part.STDOUT], "stdout, stderr", 1),
        ([Part.STDOUT], [Part.STDERR], "stdout", 0),
        ([Part.STDOUT], [], "stderr", 1),
        ([Part.MAIN], [], "stdout, text, html", 0),
        ([Part.MAIN], [], "stderr", 1),
        ([Part.MAIN], [], "stderr that is hidden", 0),
        ([], [], "stdout, html, error of a cell that is removed", 0),
        ([], [Part.STDOUT], "stdout of a cell that is removed", 1),
        ([Part.MAIN], [], "error", 0),
        ([Part.ALL], [], "stdout, stderr, error", 0),
        ([Part.ALL], [Part.STDOUT], "stdout", 1),
        ([Part.STDERR], [Part.MAIN], "error", 1),
        ([Part.HTML], [], "stdout", 1),
        ([Part.HTML], [], "html", 0),
        ([Part.HTML], [], "text, html", 0),
        ([Part.HTML], [Part.VALUE], "text, html", 1),
        ([], [], "html", 1),
        ([], [Part.HTML], "text", 0),
        ([], [Part.HTML], "text beside one without a form", 1),
        ([], [Part.MAIN], "html", 0),
        ([], [Part.MAIN, Part.HTML], "html", 1),
        ([], [Part.STDOUT], "html", 1),
        ([], [Part.MAIN], "html in a notebook", 1),
    ],
)
def test_only_the_part_that_is_unchecked_may_differ_between_runs(
    unchecked: list[Part], checked: list[Part], varies: str, expected: int
) -> None:
    free = (expecting("", part=part, unchecked="timing") for part in unchecked)
    page = page_of((*free, *(expecting("1", part=part) for part in checked)))
    hidden = frozenset({Part.STDERR} if "hidden" in varies else ())
    tags = frozenset({"remove-output"} if "removed" in varies else ())
    cells = (replace(page.cells[0], hidden=hidden, tags=tags, drawn=Drawn()),)
    page = replace(page, cells=cells, is_notebook="notebook" in varies)
    found = [*compare_runs(page, run_of(1, varies), run_of(2, varies), Execution(frozenset({0})))]
    assert [outcome.kind for outcome in found] == [Kind.UNREPEATABLE] * expected


@pytest.mark.parametrize(
    ("failure", "kind", "message"),
    [
        (Failure(Kind.RAISED, 1, "E: m"), Kind.FAILED_WHEN_REPEATED, "E: m"),
        (Failure(Kind.TIMEOUT, 1, "3 s"), Kind.TIMEOUT, "run again: 3 s"),
        (None, Kind.FAILED_WHEN_REPEATED, "E: m"),
    ],
)
def test_a_repetition_is_compared_up_to_the_cell_that_fails(
    failure: Failure | None, kind: Kind, message: str
) -> None:
    error = [] if failure else [("error", "E: m")]
    once, again = [("stdout", "1")], [("stdout", "2")]
    first, second = printing(once, [], once), printing(again, error, again)
    varies, failed = compare_runs(page_of((), (), ()), first, second, Execution(failure=failure))
    assert (varies.kind, varies.cell) == (Kind.UNREPEATABLE, 1)
    assert (failed.kind, failed.cell, failed.message) == (kind, 2, message)


def test_a_repetition_that_stops_at_none_of_its_cells_is_reported() -> None:
    stopped, book = Execution(failure=Failure(Kind.DEAD_KERNEL, None, "m")), printing([], [])
    (outcome,) = compare_runs(page_of((), ()), book, book, stopped)
    assert (outcome.kind, outcome.cell, outcome.message) == (Kind.DEAD_KERNEL, 1, "run again: m")


# The policy ---------------------------------------------------------------------------


LINUX = {"torch": "7.1.0", "system": "Linux"}


@pytest.mark.parametrize(
    ("reference", "own", "environment", "same"),
    [
        (LINUX, {}, LINUX, True),
        (LINUX, {}, {**LINUX, "system": "Darwin"}, False),
        (LINUX, {}, {**LINUX, "torch": "7.0.0"}, False),
        (LINUX, {}, {"python": "3.11"}, True),
        (LINUX, {}, {**LINUX, "device": "cuda:0"}, False),
        ({"device": "cuda:0"}, {}, {**LINUX, "device": "cuda:0"}, True),
        ({}, {}, {**LINUX, "device": "cpu"}, True),
        ({}, {}, {"device": "cuda:0"}, False),
        # A notebook's own never frees it from the project's.
        (LINUX, {"system": "other"}, LINUX, True),
        ({"system": "other"}, LINUX, LINUX, True),
        ({}, {"system": "other"}, LINUX, False),
    ],
)
def test_policy_follows_the_reference(
    reference: dict[str, str], own: dict[str, str], environment: dict[str, str], *, same: bool
) -> None:
    for policy in (None, *Policy):
        settings = Settings(policy, reference).of_page({}, reference=own)
        by_itself = Policy.EXACT if same else Policy.PORTABLE
        assert settings.is_reference(environment) is same
        assert settings.policy_on(environment) is (policy or by_itself)


# Other forms ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expectations", "expected"),
    [
        ([expecting("x 1")], [Kind.VERIFIED]),
        ([expecting("x 1"), expecting("x 2", part=Part.HTML)], [Kind.VERIFIED] * 2),
        ([expecting("x 1"), expecting("x 3", part=Part.HTML)], [Kind.VERIFIED, Kind.DRIFT]),
        (
            [expecting("x 1"), expecting("", part=Part.HTML, unchecked="why")],
            [Kind.VERIFIED, Kind.UNCHECKED],
        ),
        ([expecting("x 2", part=Part.HTML)], [Kind.VERIFIED]),
        ([expecting("x 1", part=Part.STDOUT)], [Kind.NO_OUTPUT, Kind.UNDOCUMENTED]),
        ([expecting("x 1", unchecked="why")], [Kind.UNCHECKED, Kind.NOTHING_CHECKED]),
        (
            [expecting("x 1", part=Part.VALUE, unchecked="why")],
            [Kind.UNCHECKED, Kind.NOTHING_CHECKED],
        ),
        ([], [Kind.UNDOCUMENTED]),
    ],
)
def test_a_value_is_documented_in_one_of_its_forms(
    expectations: list[Expectation], expected: list[Kind]
) -> None:
    result = outcomes(page_of(tuple(expectations)), showing(plain="x 1", html="<i>x</i> 2"))
    assert kinds(result) == expected


def test_each_value_has_a_form_that_is_documented() -> None:
    shown = showing(plain="x 1", html="<i>x</i> 2")
    shown.cells[0].outputs += showing(plain="y 3").cells[0].outputs
    page = page_of((expecting("x 2", part=Part.HTML),))
    assert kinds(outcomes(page, shown)) == [Kind.VERIFIED, Kind.UNDOCUMENTED]


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        (Part.HTML, "x 2", Kind.UNCHECKED),
        (Part.HTML, "x 3", Kind.DRIFT),
        (Part.ALL, "x 1", Kind.VERIFIED),
    ],
)
def test_html_that_may_show_more_than_its_text_is_not_called_verified(
    part: Part, text: str, expected: Kind
) -> None:
    book = showing(plain="x 1", html="<b>x</b> 2<script>3</script>")
    result = outcomes(page_of((expecting(text, part=part),)), book)
    outcome = result.outcomes[0]
    assert outcome.kind is expected
    assert outcome.message.startswith("<script>") is (expected is Kind.UNCHECKED)
    assert Kind.NOTHING_CHECKED not in kinds(result)  # its text was compared


def test_html_of_a_notebook_that_may_show_more_is_unchecked_beside_its_text() -> None:
    for plain, beside in (("x 1", [Kind.VERIFIED]), ("<X object at 0x1>", [])):
        book = showing(plain=plain, html="<b>x</b> 2<script>3</script>")
        found = kinds(outcomes(read_notebook(book), book))
        assert found == [*beside, Kind.UNCHECKED]


@pytest.mark.parametrize("stored", [False, True])
def test_what_varies_in_html_alone_is_filtered_and_counted(*, stored: bool) -> None:
    before, now = (showing(plain="x 1", html=f"<b>x</b> 1 Size: {n}B") for n in (24, 32))
    page = page_of((expecting("x 1"), expecting("x 1 Size: 24B", part=Part.HTML)))
    page = read_notebook(before) if stored else page
    size = make_filter(r"Size: \d+B", "size", "it is the library's")
    assert Kind.DRIFT in kinds(outcomes(page, now))
    result = outcomes(page, now, filters=(size,))
    assert {*kinds(result)} == {Kind.VERIFIED}
    assert result.filter_counts == {"size": 1}


def test_filters_of_what_nothing_documents_are_counted_by_themselves() -> None:
    took = make_filter(r"took \d s", "time", "it is the clock's")
    book = printing([("stdout", "took 5 s")])
    result = outcomes(page_of(()), book, filters=(took,))
    assert (result.filter_counts, result.undocumented_counts) == ({}, {"time": 1})


def test_an_error_of_a_repr_is_reported_as_itself() -> None:
    page = page_of((expecting("A()"),))
    book = printing([("error", "ValueError: row 7")])
    execution = Execution(failure=Failure(Kind.RAISED, 0, "NoneType: None"))
    for result in (outcomes(page, book, execution), outcomes(page, book)):
        assert kinds(result) == [Kind.RAISED]
        assert result.outcomes[0].message == "ValueError: row 7"


# Notebooks as they stand -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("documented", "executed", "expected"),
    [
        ("<A at 0x7f6b9486f0a0> 0.5", "<A at 0x7f19f000> 0.5", [Kind.VERIFIED]),
        ("<A at 0x7f6b9486f0a0> 0.5", "<A at 0x7f19f000> 0.6", [Kind.DRIFT]),
        ("\x1b[0m\n", "\x1b[0m\n", []),
    ],
)
def test_what_a_notebook_stored_is_compared_but_for_addresses(
    documented: str, executed: str, expected: list[Kind]
) -> None:
    once, again = (printing([("stdout", text)]) for text in (documented, executed))
    page = read_notebook(once)
    assert kinds(outcomes(page, again)) == expected
    repeated = list(compare_runs(page, once, again, Execution(frozenset({0}))))
    assert len(repeated) == (Kind.DRIFT in expected)


PICTURE = {"image/png": "i", "text/plain": "<Figure of 1>"}
ONE, DRAWN = stream("1\n"), v4.new_output("display_data", PICTURE)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"plain": "A()", "html": "<i>0.5</i>", "latex": "0.5"}, [Kind.VERIFIED]),
        ({"plain": "0.5", "html": "0.6", "latex": "0.5"}, [Kind.DRIFT]),
        ({"plain": "A()", "html": "0.5", "latex": "0.6"}, [Kind.VERIFIED, Kind.DRIFT]),
        ({"plain": "0.5"}, [Kind.VERIFIED, Kind.NO_OUTPUT]),
        ({"plain": "A()"}, [Kind.DRIFT]),
    ],
)
@pytest.mark.parametrize(
    "beside",
    [
        [],
        showing(plain="7").cells[0].outputs,
        [DRAWN],
        [NUMBER],
        printing(OK).cells[0].outputs,
    ],
)
def test_of_what_was_stored_without_its_text_the_forms_are_compared(
    beside: list[NotebookNode], now: dict[str, str], expected: list[Kind]
) -> None:
    forms = ({"html": "<b>0.5</b>", "latex": "0.5"}, now, {**now, "plain": "A() again"})
    stored, run, again = (showing(**data) for data in forms)
    for book in (stored, run, again):
        book.cells[0].outputs[:0] = beside
    page = read_notebook(stored)
    assert kinds(outcomes(page, run)) == expected
    varies = [*compare_runs(page, run, again, Execution(frozenset({0})))]
    assert bool(varies) == ("html" not in now)


IGNORED, RAISING = ("nbval-ignore-output",), ("raises-exception",)


@pytest.mark.parametrize(
    ("count", "stored", "tags", "output", "expected"),
    [
        (None, [DRAWN], (), ONE, Kind.UNDOCUMENTED),
        (None, [DRAWN], IGNORED, ONE, Kind.NO_EXPECTATION),
        (None, [], (), ONE, Kind.NO_EXPECTATION),
        (0, [], (), ONE, Kind.NO_EXPECTATION),
        # A run left it without output, or with a warning that nobody is shown.
        (2, [], (), ONE, Kind.UNDOCUMENTED),
        (3, [], IGNORED, ONE, Kind.NO_EXPECTATION),
        (3, [], RAISING, ONE, Kind.UNDOCUMENTED),
        (3, [stream("w\n", "stderr")], (), ONE, Kind.UNDOCUMENTED),
        (3, [], RAISING, raised("E", "m"), Kind.RAISED),
        (None, [], RAISING, raised("E", "m"), Kind.NO_EXPECTATION),
    ],
)
def test_an_output_beside_what_a_run_has_stored_is_a_failure(
    count: int | None,
    stored: list[NotebookNode],
    tags: tuple[str, ...],
    output: NotebookNode,
    expected: Kind,
) -> None:
    run = notebook(code("source", *stored, count=count, tags=tags))
    page = read_notebook(run)
    run.cells[0].outputs.append(output)
    assert kinds(outcomes(page, run))[-1:] == [expected]


@pytest.mark.parametrize(
    ("kernel", "expected"), [("python3", Kind.NO_EXPECTATION), ("xpython", Kind.UNDOCUMENTED)]
)
def test_only_a_kernel_that_counts_from_zero_says_so_of_a_cell_that_was_run(
    kernel: str, expected: Kind
) -> None:
    run = notebook(code("print(1)", count=0), kernelspec={"name": kernel, "display_name": kernel})
    page = read_notebook(run)
    run.cells[0].outputs = [stream("1\n")]
    assert kinds(outcomes(page, run)) == [expected]


@pytest.mark.parametrize(
    ("source", "outputs", "silent"),
    [
        ("x = 1", [], 1),
        ("# Your code:\n    # here\n", [], 0),
        ("log()", [stream("w\n", "stderr")], 0),
        ("draw()", [DRAWN], 0),
    ],
)
def test_a_cell_is_silent_if_it_could_print_and_does_not(
    source: str, outputs: list[NotebookNode], silent: int
) -> None:
    run = notebook(code(source, *outputs, count=1))
    assert outcomes(read_notebook(run), run).silent == silent


@pytest.mark.parametrize(
    ("source", "stored", "expected"),
    [
        ("f = 1\n?f\n", shown(text_plain="Type: int"), Kind.UNCHECKED),
        ("np.mean??", shown(text_plain="Type: int"), Kind.UNCHECKED),
        ("f?", stream("Type: int"), Kind.NO_OUTPUT),
        ("'f?'", shown(text_plain="Type: int"), Kind.NO_OUTPUT),
    ],
)
def test_help_that_a_program_stored_is_unchecked(
    source: str, stored: NotebookNode, expected: Kind
) -> None:
    for tags, kind in (((), expected), (IGNORED, Kind.UNCHECKED)):
        run = notebook(code(source, stored, count=1, tags=tags))
        page = read_notebook(run)
        run.cells[0].outputs = []
        assert kinds(outcomes(page, run)) == [kind]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([], Kind.NOT_RAISED),
        ([stream("1\n")], Kind.NOT_RAISED),
        ([raised("E", "m")], Kind.VERIFIED),
        ([raised("F", "m")], Kind.NOT_RAISED),
    ],
)
def test_an_error_that_a_notebook_stored_is_checked_but_where_it_is_ignored(
    now: list[NotebookNode], expected: Kind
) -> None:
    for tags, kind in (((), expected), (IGNORED, Kind.UNCHECKED)):
        run = notebook(code("f()", raised("E", "m"), count=1, tags=(*tags, *RAISING)))
        page = read_notebook(run)
        run.cells[0].outputs = now
        assert kinds(outcomes(page, run))[0] == kind


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ((*IGNORED, *RAISING), []),
        (RAISING, [Kind.DRIFT, Kind.RAISED]),
        (IGNORED, [Kind.RAISED]),
    ],
)
def test_what_a_notebook_leaves_unchecked_may_raise_if_its_cell_may(
    tags: tuple[str, ...], expected: list[Kind]
) -> None:
    run = notebook(code("f()", ONE, count=1, tags=tags))
    page = read_notebook(run)
    run.cells[0].outputs = [raised("E", "m")]
    assert [kind for kind in kinds(outcomes(page, run)) if kind.fails] == expected


def test_a_skipped_cell_of_which_a_notebook_has_a_picture_alone_is_counted() -> None:
    tags = (*IGNORED, "skip-execution")
    run = notebook(code("f()", shown(image_png="i"), count=1, tags=tags))
    assert kinds(outcomes(read_notebook(run), run)) == [Kind.UNCHECKED]


SILENT, DRAWING_CELL = code("import os", count=1), code("draw()", DRAWN, count=1)
UNCOMPARED = code("print(1)", ONE, count=2, tags=IGNORED)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([DRAWING_CELL], []),
        ([SILENT], []),
        ([SILENT, UNCOMPARED], [Kind.UNCHECKED, Kind.NOTHING_CHECKED]),
    ],
)
def test_a_complete_notebook_may_be_silent_or_draw_but_not_be_unchecked(
    cells: list[NotebookNode], expected: list[Kind]
) -> None:
    run = notebook(*cells)
    assert kinds(outcomes(replace(read_notebook(run), complete=True), run)) == expected


def test_a_complete_page_may_draw_or_hold_on_the_reference_alone_but_not_be_unchecked() -> None:
    assert not kinds(outcomes(page_of(()), notebook(DRAWING_CELL)))
    draw = page_of((expecting("0.5", reference_only="a draw"),))
    assert kinds(outcomes(draw, printing(OK), away=True)) == [Kind.NOT_COMPARED]
    unchecked, run = page_of((expecting("", unchecked="a clock"),)), notebook(code("x", DRAWN, ONE))
    assert kinds(outcomes(unchecked, run)) == [Kind.UNCHECKED, Kind.NOTHING_CHECKED]


@pytest.mark.parametrize(
    ("tags", "expected"), [((), Kind.RAISED), (("remove-output",), Kind.NO_EXPECTATION)]
)
def test_an_error_of_a_complete_page_that_no_reader_is_shown_needs_no_expectation(
    tags: tuple[str, ...], expected: Kind
) -> None:
    run = notebook(code("fail()", raised("E", "m"), tags=(*RAISING, *tags)))
    silent = notebook(code("fail()", tags=(*RAISING, *tags)))
    page = replace(read_notebook(silent), complete=True)
    assert kinds(outcomes(page, run))[0] is expected


@pytest.mark.parametrize("is_complete", [False, True])
def test_a_notebook_without_any_output_though_its_cells_were_run_fails_once(
    *, is_complete: bool
) -> None:
    run = notebook(*(code(f"print({number})", count=number) for number in (1, 2, 3)))
    page = replace(read_notebook(run), complete=is_complete)
    for each in run.cells[:2]:
        each.outputs = [stream("1\n")]
    found = outcomes(page, run, Execution(frozenset({0, 1, 2})))
    assert kinds(found) == [Kind.UNDOCUMENTED] * (1 + is_complete)
    assert found.outcomes[0].message.startswith(
        "on stdout" if is_complete else "cells 1, 2 print or draw"
    )


GROUP = "  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: many (1)\n"


@pytest.mark.parametrize("text", ["UsageError: no magic\n", GROUP])
def test_an_error_on_hidden_stderr_fails_unless_it_is_only_printed(text: str) -> None:
    result, here = printing([]), frozenset({0})
    page = read_notebook(result)
    result.cells[0].outputs = printing([("stderr", text)]).cells[0].outputs
    for succeeded, expected in ((frozenset(), [Kind.RAISED]), (here, [])):
        execution = Execution(here, succeeded=succeeded)
        assert kinds(outcomes(page, result, execution, errors_fail=True)) == expected


@pytest.mark.parametrize(
    "data",
    [
        {"image/png": "i"},
        {
            "application/vnd.plotly.v1+json": {"y": [1, 2]},
            "text/html": "<div></div><script>x</script>",
        },
        {"application/geo+json": {"a": 5}, "text/plain": "<IPython.display.GeoJSON object>"},
    ],
)
def test_what_is_drawn_is_drawn_again_but_in_a_cell_never_run(data: dict[str, Any]) -> None:
    drawn = v4.new_output("display_data", data)
    result = notebook("draw()", "print(1)")
    stripped = read_notebook(result)
    result.cells[0].execution_count = 1
    half = read_notebook(result)
    result.cells[0].outputs.append(drawn)
    assert Kind.PICTURE not in kinds(outcomes(stripped, result))
    assert Kind.PICTURE in kinds(outcomes(replace(stripped, complete=True), result))
    assert Kind.PICTURE in kinds(outcomes(half, result))
    whole = read_notebook(result)
    assert Kind.PICTURE not in kinds(outcomes(whole, result))
    result.cells[0].metadata.tags = [*IGNORED]
    ignored = read_notebook(result)
    result.cells[0].outputs.clear()
    assert Kind.PICTURE in kinds(outcomes(whole, result))
    assert Kind.PICTURE not in kinds(outcomes(ignored, result))
