"""Filters replace what varies, and never a number that they do not name."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from case_tables import rows

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.output.filters import DEFAULTS, apply_filters, filters_in, make_filter
from sphinx_drift.output.machine import machine_paths, names_in
from sphinx_drift.report.summary import unused_filters

CASES = Path(__file__).with_name("filters.txt")


@pytest.mark.parametrize(("pattern", "text", "result"), rows(CASES, "What a filter replaces"))
def test_a_filter_replaces_what_it_names(pattern: str, text: str, result: str) -> None:
    counts: Counter[str] = Counter()
    assert apply_filters(text, [make_filter(pattern, "it", "why")], counts) == (result or text)
    assert counts["it"] == result.count("<it>")


@pytest.mark.parametrize("pattern", rows(CASES, "What names no number"))
def test_a_pattern_that_matches_any_number_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="stands for too much"):
        make_filter(pattern, "it", "why")


@pytest.mark.parametrize(("text", "result"), rows(CASES, "What varies by itself"))
def test_what_varies_by_itself(text: str, result: str) -> None:
    assert apply_filters(text, DEFAULTS) == (result or text)


def test_a_filter_that_replaces_nothing_is_told() -> None:
    filters = [
        make_filter(pattern, name, "why") for pattern, name in ((r"\d ms", "a"), (r"\d s", "b"))
    ]
    counts: Counter[str] = Counter()
    assert apply_filters("5 s, 0.5 ms", filters, counts) == "<b>, 0.5 ms"
    told = unused_filters(filters, [PageResult("page.md", cells=1, filter_counts=counts)])
    assert told.startswith("nothing was filtered as a;")
    later = {"a": 1}  # a page may document it one day
    result = PageResult("page.md", cells=1, filter_counts=counts, undocumented_counts=later)
    assert not unused_filters(filters, [result])
    for kind in (Kind.RAISED, Kind.TIMEOUT):  # what is below may need it
        stopped = PageResult("page.md", (Outcome(kind, 1),), cells=1, filter_counts=counts)
        assert not unused_filters(filters, [stopped])
    assert not unused_filters(
        filters, [PageResult("page.md", cells=1, left_out="nb_execution_mode")]
    )


@pytest.mark.parametrize(
    "parts",
    [("(", "n", "r"), ("x?", "n", "r"), ("", "n", "r"), ("a", "n", "")],
)
def test_a_filter_that_nothing_could_follow_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"filter is|regular|empty"):
        filters_in([parts], "filters")


def test_a_host_is_named_by_its_own_name_alone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "box7.example.org")
    assert [*names_in("on box7, not on box77")] == ["box7"]
    assert [*names_in(r"on \u001b[35mbox7.example.org\u001b[0m")] == ["box7.example.org", "box7"]


def test_a_path_is_named_whatever_its_color(tmp_path: Path) -> None:
    """As rich writes one: its name in another color than its folder."""
    paths = (f"\x1b[35m{folder}/\x1b[0m\x1b[95ma.py\x1b[0m" for folder in (tmp_path, "<book>"))
    text, result = paths
    assert apply_filters(text, machine_paths(tmp_path)) == result


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local"])
def test_a_folder_of_the_system_is_only_named_where_it_holds_python(
    prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.base_prefix", prefix)
    lines = "\n".join(f"{prefix}/{path}" for path in ("lib/python3.11/json", "bin/python3"))
    others = f"{prefix} {prefix}/bin/env {prefix}/share/dict/words #!{prefix}/bin/python3"
    filtered = apply_filters(f"{lines}\n{others}", machine_paths(tmp_path))
    assert filtered == f"<env>/lib/python3.11/json\n<env>/bin/python3\n{others}"


def test_the_line_that_begins_a_script_names_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", "/srv/env")
    assert apply_filters("#!/srv/env/bin/python", machine_paths(tmp_path)) == "#!<env>/bin/python"
