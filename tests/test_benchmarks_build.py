"""The benchmark of builds: its books, its plan, its record, and what the page makes of it."""

from __future__ import annotations

import html
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import books
import build
import competitors
import measure
import pytest
from notebooks import differences
from recording import Record, merged

from figures.attention_trace import attention_trace
from figures.drawings import build_cost
from figures.drawings import build_cost_trace as trace
from reference.build_cost import figure
from sphinx_drift.source.read_source import load

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def book() -> list[books.Page]:
    return books.documented(books.pages(2))


# The generated books --------------------------------------------------------------------


def test_every_page_prints_ten_tensors(book: list[books.Page]) -> None:
    for page in book:
        printed = [cell.printed for cell in page.cells]
        assert printed[0] == ""
        assert [text.count("tensor(") for text in printed[1:]] == [1] * books.PRINTED
    assert len({cell.printed for page in book for cell in page.cells}) == 2 * books.PRINTED + 1


def test_each_form_of_a_book_has_all_cells_and_outputs(
    book: list[books.Page], tmp_path: Path
) -> None:
    for kind, write in competitors.FORMS.items():
        write(tmp_path / kind, book)
    documented = [cell.printed.rstrip() for cell in book[1].cells if cell.printed]
    loaded = load(tmp_path / "checked" / "page-002.md")
    assert loaded is not None
    assert not loaded[0].problems
    found = [e.text for cell in loaded[0].cells for e in cell.expectations]
    assert [text.rstrip() for text in found] == documented
    stock = (tmp_path / "stock" / "page-002.md").read_text("utf-8")
    assert stock.count("{code-cell}") == books.PRINTED + 1
    assert "{expected-output}" not in stock
    assert stock == (tmp_path / "jupyter-book" / "page-002.md").read_text("utf-8")
    said = json.loads((tmp_path / "notebooks" / "page-002.ipynb").read_text("utf-8"))
    outputs = [output["text"] for cell in said["cells"] for output in cell.get("outputs", ())]
    assert [text.rstrip() for text in outputs] == documented
    script = (tmp_path / "script" / "book.py").read_text("utf-8")
    assert script.count("print(") == 2 * books.PRINTED


def test_a_book_is_done_only_if_all_outputs_are_there(
    book: list[books.Page], tmp_path: Path
) -> None:
    setup = competitors.Setup(tmp_path, None, {"2": book})
    shown = f"<div {competitors.OUTPUT}docutils container'>" * books.PRINTED
    (tmp_path / "html").mkdir()
    assert way("stock-j2").problem(setup, "2", tmp_path, "") == "page-001.html is missing"
    for page in book:
        (tmp_path / "html" / f"{page.name}.html").write_text(shown, "utf-8")
    assert way("stock-j2").problem(setup, "2", tmp_path, "") == ""
    assert way("off").problem(setup, "2", tmp_path, "") == "page-001.html shows 10 outputs"
    assert way("ours").problem(setup, "2", tmp_path, "20 outputs verified") == ""
    assert way("ours").problem(setup, "2", tmp_path, "19 outputs verified") != ""
    assert way("ours").problem(setup, "2", tmp_path, "") != ""
    (tmp_path / "html" / "page-002.html").write_text("nothing", "utf-8")
    assert way("stock-j2").problem(setup, "2", tmp_path, "") == "page-002.html shows 0 outputs"
    assert way("plain").problem(setup, "2", tmp_path, "tensor(" * 19) == "19 tensors printed"
    assert way("nbval").problem(setup, "2", tmp_path, "1 failed, 21 passed") != ""
    assert way("nbmake").problem(setup, "2", tmp_path, "2 passed in 3 s") == ""


def test_each_build_begins_with_nothing_and_is_the_one_that_is_named(
    book: list[books.Page], tmp_path: Path
) -> None:
    setup = competitors.Setup(tmp_path, tmp_path / "jupyter-book", {"2": book}, jobs="3")
    for name, each in competitors.COMPETITORS.items():
        if name != "jupyter":
            words = each.command(setup, "2", tmp_path / "out")
            assert competitors.JOBS not in words
            assert ("3" in words) == (name.partition("-")[0] in {"ours", "twice", "off"})
            if "sphinx" in words:
                assert words[words.index("-d") + 1] == str(tmp_path / "out" / "doctrees")
    assert {way(name).variables["DRIFT_RUNNER"] for name in ("ours", "twice")} == {"fork"}
    with pytest.raises(ValueError, match="--jupyter-book"):
        way("jupyter-book").command(competitors.Setup(tmp_path, None, {}), "2", tmp_path)


def test_a_book_is_built_again_with_a_page_changed_or_with_none(
    book: list[books.Page], tmp_path: Path
) -> None:
    setup = competitors.Setup(tmp_path, None, {"2": book})
    for name, changed in (("off-again", set()), ("off-page", {"page-002.md"})):
        each = way(name)
        source = Path(each.command(setup, "2", tmp_path / "out")[-2])
        before = {path.name: path.read_text("utf-8") for path in source.iterdir()}
        if each.change:
            each.change(setup, "2")
        after = {path.name: path.read_text("utf-8") for path in source.iterdir()}
        assert each.rebuilds
        assert {name for name in after if after[name] != before[name]} == changed
        assert not way(name.replace("again", "themed").replace("page", "themed")).rebuilds
    assert len({*tmp_path.iterdir()}) == 2  # the changed book is nobody else's


def test_what_is_built_again_was_built_before_and_is_not_built_again_after_a_failure(
    book: list[books.Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, bool]] = []

    def run(command: list[str], **_: object) -> measure.Run:
        (tmp_path / "log").touch()
        html = Path(command[-1])
        done.append((html.parent.name, html.exists()))
        html.mkdir(parents=True, exist_ok=True)
        for page in book:
            (html / f"{page.name}.html").write_text("no output", "utf-8")
        return measure.Run(1.0, 1.0, status[0], None, 0)

    monkeypatch.setattr(measure, "run", run)
    status = [0]
    setup = competitors.Setup(tmp_path, None, {"2": book})
    bench = build.Bench(setup, record_of(tmp_path / "cost.json"))
    for what in ("off-themed", "off-themed", "off-again", "off-again"):
        bench.do(("seconds", what, "2"))
    again = "out-off-again-2"
    assert done == [("out", False)] * 2 + [(again, False), (again, True), (again, True)]
    status[0], done[:] = 1, []
    bench.do(("seconds", "off-again", "2"))
    assert done == [(again, True), (again, False), (again, False)]


def way(name: str) -> competitors.Competitor:
    return competitors.COMPETITORS[name]


# The plan -------------------------------------------------------------------------------


def test_every_way_of_the_plan_is_known_and_reported() -> None:
    assert {*build.SECONDS, *build.PEAKS} <= competitors.COMPETITORS.keys()
    assert build.SECONDS.keys() == trace.WAYS.keys()
    assert {book for _, _, book in build.PLAN} == {*trace.BOOKS}
    wanted = {name for bar in trace.BARS for name in (bar.above, bar.below)}
    assert wanted <= build.PLAN.keys()
    assert all(build.PLAN[name] >= build.FEW for name in wanted)  # medians of at least five


def test_a_part_of_the_plan() -> None:
    assert build.planned("ours,off", "1,10") == {
        ("seconds", "ours", "1"): 7,
        ("seconds", "ours", "10"): 7,
        ("peak_bytes", "ours", "10"): 5,
        ("seconds", "off", "1"): 7,
        ("seconds", "off", "10"): 7,
    }


@pytest.mark.parametrize(("only", "chosen"), [("ous", ""), ("", "11")])
def test_what_is_not_in_the_plan_is_refused(only: str, chosen: str) -> None:
    with pytest.raises(ValueError, match=r"ous|11"):
        build.planned(only, chosen)


def test_ways_take_turns_and_the_slow_ones_come_last() -> None:
    quick, slow = ("seconds", "ours", "1"), ("seconds", "stock-j1", "100")
    middle = ("seconds", "off", "10")
    runs = list(build.schedule({slow: 1, middle: 5, quick: 5}))
    assert runs[:4] == [quick, middle, middle, quick]
    assert [runs.count(key) for key in (quick, middle, slow)] == [5, 5, 1]
    assert runs[-1] == slow
    assert list(build.schedule({})) == []


def test_what_is_recorded_is_not_measured_again() -> None:
    a, b = ("seconds", "ours", "1"), ("seconds", "off", "1")
    assert build.remaining({a: 3, b: 2}, [a, b, b]) == {a: 2}


# The record -----------------------------------------------------------------------------

MACHINE = {"processor": "P", "logical_processors": 2, "memory_gib": 8, "system": "Linux x86_64"}
ENVIRONMENT: dict[str, Any] = MACHINE | {
    "python": "3.11.7",
    "jobs": "auto",
    "versions": {"torch": "7.1.0"},
}


def record_of(path: Path) -> Record:
    return Record(path, ENVIRONMENT)


def test_a_record_grows_by_each_run_and_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "cost.json"
    record_of(path).write()
    assert json.loads(path.read_text("utf-8"))["runs"] == []
    record = record_of(path)
    record.add("ours", "10", seconds=1.5)
    assert record_of(path).keys() == [("seconds", "ours", "10")]
    record_of(path).add("ours", "10", of="seconds", failed="it fell over")
    again = record_of(path)
    assert len(again.runs) == 2
    assert again.keys() == [("seconds", "ours", "10")]  # a failed run is no run
    assert [path] == list(tmp_path.iterdir())


def test_runs_of_our_code_are_dropped_when_it_changes(tmp_path: Path) -> None:
    record = record_of(tmp_path / "cost.json")
    keys = [("seconds", "ours", "10"), ("seconds", "nbval", "10"), ("save_seconds", "live", "10")]
    record.add("ours", "10", seconds=1.0)
    record.add("nbval", "10", seconds=1.0)
    record.add("live", "10", save_seconds=1.0)
    record.add("ours", "30", seconds=1.0)
    record.forget(keys, fresh=False)
    assert len(record.runs) == 4
    record.commit = "another"
    record.forget(keys, fresh=False)
    assert record.keys() == [("seconds", "nbval", "10"), ("seconds", "ours", "30")]
    assert ["commit" in run for run in record.runs] == [False, True]
    record.forget(keys, fresh=True)
    assert record.keys() == [("seconds", "ours", "30")]


def test_runs_of_two_machines_are_never_mixed() -> None:
    more = ENVIRONMENT | {"versions": {"torch": "7.1.0", "nbval": "1"}}
    assert merged(more, ENVIRONMENT, anew=False) == more
    assert merged(ENVIRONMENT, more, anew=False) == more
    assert merged({}, more, anew=True) == more
    for other in (
        more | {"processor": "Q"},
        more | {"jobs": "1"},
        more | {"versions": {"torch": "2.12.0"}},
    ):
        with pytest.raises(ValueError, match="elsewhere"):
            merged(more | other, ENVIRONMENT, anew=False)


# What is measured -----------------------------------------------------------------------


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="this system has no /proc/PID/smaps_rollup"
)
def test_a_run_is_measured_with_all_that_it_starts_and_leaves(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "hold = 'x = bytearray(80_000_000); x[::1000] = x[::1000]; import time; time.sleep({})'\n"
        "subprocess.Popen([sys.executable, '-c', hold.format(600)], start_new_session=True)\n"
        "subprocess.run([sys.executable, '-c', hold.format(1)])\n"
        "sys.exit(3)\n"
    )
    # In a process of its own: the benchmark ends all that its process has started.
    call = (
        "import sys, os, measure; from pathlib import Path; measure.adopt()\n"
        f"found = measure.run([sys.executable, '-c', {script!r}], folder=Path('.'),"
        " variables=os.environ, log=Path('log'), memory=True)\n"
        "print(found.status, found.left, found.peak_bytes)"
    )
    found = subprocess.run(
        [sys.executable, "-c", call],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "benchmarks")},
        capture_output=True,
        text=True,
        check=True,
    )
    status, left, peak = map(int, found.stdout.split())
    assert (status, left) == (3, 1)
    assert peak > 160_000_000


def test_outputs_are_compared_whole(tmp_path: Path) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    for name, outputs in (("a", [stream]), ("b", [stream | {"name": "stderr"}, stream])):
        cells = [
            {"cell_type": "markdown", "source": name},
            {"cell_type": "code", "outputs": outputs},
            {"cell_type": "code", "outputs": [stream]},
        ]
        folder = tmp_path / name / "sub"
        folder.mkdir(parents=True)
        (folder / "page.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    same = differences(tmp_path / "a", tmp_path / "a")
    assert same == {"outputs": 2, "differ": 0, "where": []}
    found = differences(tmp_path / "a", tmp_path / "b")
    assert found == {"outputs": 3, "differ": 2, "where": ["sub/page.ipynb cell 0"] * 2}
    (tmp_path / "b" / "more.ipynb").write_text('{"cells": []}', "utf-8")
    with pytest.raises(ValueError, match="more"):
        differences(tmp_path / "a", tmp_path / "b")
    with pytest.raises(ValueError, match="other notebooks"):
        differences(tmp_path / "none", tmp_path / "none")


# The page -------------------------------------------------------------------------------


def recorded(tmp_path: Path, **numbers: list[float]) -> trace.BuildCost:
    """Return a record with the numbers of `seconds`, by way and book."""
    record = record_of(tmp_path / "some.json")
    for name, found in numbers.items():
        what, _, book = name.partition("_")
        for number in found:
            record.add(what, book, seconds=number)
    record.write()
    return trace.read(record.path.read_text("utf-8"))


def test_medians_and_ratios(tmp_path: Path) -> None:
    cost = recorded(tmp_path, ours_10=[1.5, 9.0, 1.3], off_10=[1.0, 1.0, 1.2])
    assert cost.number("seconds.ours.10") == 1.5
    bars = {row[0]: row[1:] for row in trace.bar_rows(cost)}
    assert bars["10 pages, checked ÷ nothing executed"] == ["1.4", "1.50 over", "3/3"]
    unmeasured = bars["30 pages, checked ÷ nothing executed"]
    assert unmeasured == ["1.3", trace.NOTHING, "0/0"]
    assert bars[trace.DIFFERING] == ["0", trace.NOTHING, "0/0"]
    times = {row[0]: row[1:] for row in trace.time_rows(cost)}
    nothing = trace.NOTHING
    assert times["executed and checked"] == [nothing, "1.50\n(3)", *[nothing] * 5]
    assert len(times) == 2


def test_a_ratio_is_judged_before_it_is_rounded(tmp_path: Path) -> None:
    cost = recorded(tmp_path, ours_10=[1.4001], off_10=[1.0], twice_10=[1.5])
    verdicts = {row[0]: row[2] for row in trace.bar_rows(cost)}
    assert verdicts["10 pages, checked ÷ nothing executed"] == "1.40 over"
    assert verdicts["10 pages, `--twice` ÷ once"] == "1.07 ✓"


def test_what_takes_a_moment_is_enough_whatever_the_ratio(tmp_path: Path) -> None:
    name = "this book, nothing changed, checked ÷ nothing executed"
    for seconds, verdict in ((2.9, "1.45 ✓"), (3.1, "1.55 over")):
        again = {"ours-again_this": [seconds], "off-again_this": [2.0]}
        folder = tmp_path / verdict
        folder.mkdir()
        rows = {row[0]: row[1:] for row in trace.bar_rows(recorded(folder, **again))}
        assert rows[name] == ["1.25, or 3 s", verdict, "1/1"]


def test_differences_between_the_runners_are_no_success(tmp_path: Path) -> None:
    record = record_of(tmp_path / "cost.json")
    for differ, verdict in ((0, "0 ✓"), (1, "1 over")):
        record.differences = {"outputs": 141, "differ": differ, "where": []}
        record.write()
        row = trace.bar_rows(trace.read(record.path.read_text("utf-8")))[-1]
        assert row == [f"{trace.DIFFERING}, of 141", "0", verdict, "1/1"]


def test_failed_runs_are_shown(tmp_path: Path) -> None:
    record = record_of(tmp_path / "cost.json")
    record.add("stock-j2", "10", of="seconds", failed="a kernel died")
    record.add("stock-j2", "10", seconds=11.04)
    found = trace.time_rows(trace.read(record.path.read_text("utf-8")))
    assert found[0][2] == "11.0\n(1, 1 failed)"


def test_the_role_writes_medians_and_ratios(tmp_path: Path) -> None:
    cost = recorded(tmp_path, ours_10=[1.5], off_10=[12.0])
    assert figure(cost, "seconds.ours.10") == "1.50 s"
    assert figure(cost, "seconds.off.10") == "12.0 s"
    assert figure(cost, "seconds.off.10 / seconds.ours.10") == "8.00"
    for text in ("seconds.ours.30", "ours", "minutes.ours.10"):
        with pytest.raises((KeyError, ValueError)):
            figure(cost, text)


def test_numbers_at_the_end_of_curves_do_not_overlap() -> None:
    placed = build_cost.spread([100.0, 98.0, 40.0, 102.0])
    assert placed == [40.0, 72.0, 87.0, 102.0]
    assert build_cost.spread([]) == []


def test_the_figure_shows_what_is_recorded() -> None:
    cost = trace.build_cost()
    picture = build_cost.DRAWINGS["build-cost"].draw(attention_trace())
    drawn = re.findall(r'data-trace="([^"]+)"[^>]*>([^<]*)<', picture.render("id", "t", "d"))
    for path, text in drawn:
        assert html.unescape(text) == f"{trace.seconds(cost.number(path))} s"
    ended = [way for way in build_cost.CURVES if ("seconds", way, "100") in cost.runs]
    assert sorted(path for path, _ in drawn) == sorted(f"seconds.{way}.100" for way in ended)


def test_what_the_page_says_of_its_figure() -> None:
    cost = trace.build_cost()
    for book in trace.SIZES:
        found = [cost.median(("seconds", way, book)) for way in ("off", "ours", "stock-j2")]
        if None not in found:
            assert found == sorted(found, key=lambda number: number or math.nan)


def test_the_record_of_the_book_is_whole() -> None:
    cost = trace.build_cost()
    said = json.loads(trace.FILE.read_text("utf-8"))
    assert {"processor", "logical_processors", "python", "versions"} <= cost.environment.keys()
    for run in said["runs"]:
        assert run.get("commit", "none") or run["what"] in competitors.COMPETITORS
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:+]+", run["at"])
        assert "failed" in run or any(run.get(measured, 0) > 0 for measured in trace.UNITS)
