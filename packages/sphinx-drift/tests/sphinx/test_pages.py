"""Pages that must pass and pages that must fail, each in one build of all."""

import platform
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from small_book import TORCH, cell

from conftest import Book, Built
from sphinx_drift.kinds import Kind
from sphinx_drift.report.summary import summary

pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[1] / "pages"
PASSING = sorted(p for p in (PAGES / "pass").rglob("*") if p.suffix in (".md", ".ipynb"))
FAILING = sorted(p for p in (PAGES / "fail").rglob("*") if p.suffix in (".md", ".ipynb", ".rst"))
SLOW = ("timeout.md",)
ELSEWHERE = (
    Kind.ELSEWHERE,  # takes another copy of a package: see test_packages.py
    Kind.COULD_NOT_CHECK,  # takes an error in the comparison: see test_judge.py
    Kind.OUTPUT_LIMIT,  # takes much output: see test_limit.py
    Kind.UNREPEATABLE,  # takes a repetition: see test_command.py
    Kind.FAILED_WHEN_REPEATED,  # so does this: see test_judge.py
)
EXTENSIONS = ["myst_nb", "sphinx_drift", "sphinx_design"]
ENABLED = ["colon_fence"]


def declared(page: Path) -> list[tuple[str, str, list[str]]]:
    """Return the failures that a page names: ``% fails: PLACE KIND``, ``% says: TEXT``."""
    result: list[tuple[str, str, list[str]]] = []
    for line in _comments(page):
        name, _, value = line.partition(": ")
        if name == "% fails":
            location, _, kind = value.rpartition(" ")
            result.append((location, kind, []))
        elif name == "% says":
            result[-1][-1].append(value)
    return result


def _comments(page: Path) -> list[str]:
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        text = re.sub(r'(?m)^\s+"(% .*?)\\n",?$', r"\1", text)
    lines = (line.removeprefix(".. ") for line in text.splitlines())
    return [line for line in lines if line.startswith("% ")]


def name(page: Path) -> str:
    return page.relative_to(PAGES / page.relative_to(PAGES).parts[0]).as_posix()


@pytest.fixture(scope="module")
def failed(make_book: Callable[[], Book]) -> Built:
    """Build all pages that must fail but those that take their time, at once."""
    book = make_book()
    book.copy(PAGES / "fail")
    for slow in SLOW:
        (book.folder / slow).unlink()
    book.configure(extensions=EXTENSIONS, myst_enable_extensions=ENABLED)
    return book.build("-j", "2", builder="html")


@pytest.fixture(scope="module")
def passed(make_book: Callable[[], Book]) -> Built:
    book = make_book()
    book.copy(PAGES / "pass")
    book.configure(extensions=EXTENSIONS, myst_enable_extensions=ENABLED)
    return book.build("-j", "2", "-n", "-W", builder="html")


# Pages that must fail -----------------------------------------------------------------


@pytest.mark.parametrize("page", [p for p in FAILING if p.name not in SLOW], ids=name)
def test_page_fails_as_it_says(page: Path, failed: Built) -> None:
    assert failed.status == 1
    assert_failures(page, failed)


def assert_failures(page: Path, built: Built) -> None:
    """Hold a report against what a page says of itself: no failure more, none less."""
    expected = declared(page)
    assert expected, f"{page.name} names no failure"
    told = [f for f in built.failures if f.file == page.name]
    failures = [f for f in told if f.kind != Kind.OTHER_VARIANT.label]
    assert [(f.location, f.kind) for f in failures] == [
        (location, kind) for location, kind, _ in expected
    ]
    for failure, (_, _, says) in zip(failures, expected, strict=True):
        text = " ".join(failure.text.split())
        assert [words for words in says if words not in text] == [], failure.text


def test_every_kind_of_failure_has_a_page() -> None:
    kinds = {kind for page in FAILING for _, kind, _ in declared(page)}
    assert kinds == {kind.label for kind in Kind if kind.fails and kind not in ELSEWHERE}


def test_reader_sees_what_was_stored_of_a_cell_that_was_not_reached(failed: Built) -> None:
    html = (failed.outdir / "stored-forms.html").read_text("utf-8")
    assert html.index("_exit") < html.index("Not executed") < html.index("stored 0.75")


def test_timeout_names_the_cell_and_harms_no_other_page(make_book: Callable[[], Book]) -> None:
    book = make_book()
    book.copy(PAGES / "fail", *SLOW)
    book.copy(PAGES / "pass", "hidden.md")
    book.configure(drift_timeout=3)
    built = book.build("-j", "2")
    assert built.status == 1
    assert_failures(PAGES / "fail" / "timeout.md", built)
    assert [o.kind for o in built.results["hidden"].outcomes] == [Kind.VERIFIED] * 10


# Pages that must pass -----------------------------------------------------------------


@pytest.mark.parametrize("page", PASSING, ids=name)
def test_page_passes(page: Path, passed: Built) -> None:
    assert passed.status == 0, passed.stderr
    (comment,) = _comments(page)[:1]
    expected = int(comment.removeprefix("% verified: "))
    result = passed.results.get(name(page).rpartition(".")[0])
    kinds = [outcome.kind for outcome in result.outcomes] if result else []
    assert kinds.count(Kind.VERIFIED) == expected
    assert set(kinds) <= {Kind.VERIFIED, Kind.UNCHECKED, Kind.OTHER_VARIANT}


def test_passing_build_ends_with_its_summary(passed: Built) -> None:
    verified = sum(int(_comments(page)[0].split()[-1]) for page in PASSING)
    pages = len(PASSING) - 1  # the index has no cells
    assert passed.last.startswith(
        f"{verified} outputs verified on {pages} pages, 2 waived, 4 unchecked, "
    )
    assert "5 pictures not compared, 1 widget not compared (" in passed.last
    assert passed.last == summary([*passed.results.values()])
    assert f"torch {TORCH}, cpu, " in passed.last


def test_waivers_and_reasons_are_listed_and_shown(passed: Built) -> None:
    assert "waived: 5.6183e-11 -> 5.6184e-11 (a softmax tail)" in passed.stdout
    assert "waived: 0.2 -> 0.3 (the second)" in passed.stdout
    html = (passed.outdir / "known.html").read_text("utf-8")
    assert "5.6183e-11 → 5.6184e-11: a softmax tail" in html
    assert 'class="drift-mark drift-unchecked"' in html
    assert "a clock" in html
    assert "an example of what not to run" in html  # a cell that is tagged so


def test_reader_sees_each_output_once_with_its_mark(passed: Built) -> None:
    html = (passed.outdir / "tensors.html").read_text("utf-8")
    assert html.count("0.2961") == 1
    assert html.count('class="drift-mark drift-verified"') == 3
    assert f"torch {TORCH}, cpu, exact" in html
    assert re.search(r'<link [^>]*href="_static/drift-mark\.css', html)
    assert (passed.outdir / "_static" / "drift-mark.css").exists()


def test_reader_sees_what_was_compared(passed: Built) -> None:
    """Of a progress bar its last state, and of a cell that isn't run what the notebook stored."""
    html = (passed.outdir / "variants.html").read_text("utf-8")
    assert re.findall(r"drift-mark drift-(\w+)", html) == ["verified"]
    assert "<b>in HTML" not in html
    html = (passed.outdir / "json.html").read_text("utf-8")
    assert html.count("0.0625") == 2
    assert "core.display.JSON" not in html
    html = (passed.outdir / "forms.html").read_text("utf-8")
    assert html.count("<table id='T_3f2a1'>") == 1  # of two, the other one is shown as text
    assert html.count("0  1  0.25") == 2  # one in a cell
    assert "3 of 3" in html
    assert "1 of 3" not in html
    assert "\b" not in html
    html = (passed.outdir / "stored-forms.html").read_text("utf-8")
    note, stored = html.index("Not executed"), html.index("stored 0.5")
    assert html.index("never run") < note < stored
    assert html.count("Not executed") == 1
    shown = re.findall(
        r'(?s)<div class="output .*?</pre>', (passed.outdir / "links.html").read_text("utf-8")
    )
    assert [("ab" in each, "9999" in each) for each in shown] == [(True, False)] * 3


def test_an_output_that_is_not_shown_has_no_mark(passed: Built, book: Book) -> None:
    html = (passed.outdir / "hidden.html").read_text("utf-8")
    assert html.count('class="drift-mark') == 6
    gluing = 'from myst_nb import glue\nglue("half", 0.5, display=False)'
    stderr = cell("import sys\nprint(1, file=sys.stderr)", ":stream: stderr\n\n1")
    setting = "---\nmystnb: {remove_code_outputs: true}\n---"
    book.write("index.md", "# A", cell(gluing, "half = 0.5"), stderr, cell(f"{setting}\n2", "2"))
    book.configure(nb_output_stderr="remove")
    built = book.build(builder="html")
    assert built.status == 0, built.stderr
    assert 'class="drift-mark' not in (built.outdir / "index.html").read_text("utf-8")


@pytest.mark.parametrize("there", [True, False])
def test_what_holds_on_the_reference_alone(book: Book, *, there: bool) -> None:
    reason = "other systems draw other numbers"
    for name, printed in (("same", "0.5"), ("index", "0.25")):
        drawn = cell(f"print({printed})", f":reference-only: {reason}\n\n0.5")
        book.write(f"{name}.md", f"# {name}", cell("print(1)", "1"), drawn)
    reference = {"python": platform.python_version() if there else "2.7"}
    book.configure(drift_policy="auto", drift_reference=reference)
    built = book.build(builder="html")
    same, other = ((built.outdir / f"{n}.html").read_text("utf-8") for n in ("same", "index"))
    if there:
        assert built.locations == {("index.md:21", "drift")}
        words = f"It holds on the reference environment alone: {reason}."
        assert (words in same, words in other) == (True, False)
        return
    assert built.status == 0
    assert "2 not compared away from the reference environment" in built.last
    for html, printed in ((same, "0.5"), (other, "0.25")):
        assert reason in html
        assert 'class="drift-mark drift-not-compared"' in html
        assert printed in html
