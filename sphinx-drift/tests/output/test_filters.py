"""Filters replace what varies, and never a number that they do not name."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_drift.output.filters import DEFAULTS, filtered, filters_in, make


@pytest.mark.parametrize(
    ("pattern", "text", "result"),
    [
        (r"\d{4}-\d\d-\d\d", "on 2026-11-23, 0.5", "on <it>, 0.5"),
        (r"\d+ ms", "took 5 ms", "took <it>"),
        (r" in \d+ ms", "done in 5 ms", "done<it>"),
        # A part of a number or of a word is not what it names.
        (r"\d{4}-\d\d-\d\d", "2026-11-2305", None),
        (r"\d\d", "0.3061 1234", None),
        (r"\d+ ms", "1.5 ms, 1,5 ms", None),
        (r"\d+", "1.5e3", None),
        (r"0x[0-9a-f]+", "0x7fzz", None),
        # What names anything names no number.
        (r".+", "loss 0.3061", None),
        (r"loss.*", "loss 0.3061", None),
        (r"loss \S+", "loss 0.3061", None),
        (r"loss [^,]*", "loss 0.3061, 2", None),
        (r"at \d+:\d+.*", "at 10:30 it is 0.5", None),
        (r"(?s:at \d+.+)", "at 10\nloss 0.5", None),
        (r"run .{4}", "run 4711", None),
        (r"run \d.{3}", "run 4711", None),
        (r"(?<=run ).{4}(?= ok)", "run 4711 ok", None),
        (r"(?<=run )\d{4}(?= ok)", "run 4711 ok", "run <it> ok"),
        (r"[ -~]+", "loss 4.78 done", None),
        (r"loss [.-z]+", "loss 4.78", None),
        (r"in [*-~]+ ms", "in 4.78 ms", None),
        # A sign, a point and an exponent are parts of a number, and so is what is none.
        (r"mean on \D+", "mean on gpu: -4.78", "<it>-4.78"),
        (r"cpu[^0-9]+", "cpu: -.5", "<it>-.5"),
        (r"cpu:\W+\d+", "cpu: -5", None),
        (r"\D+", "-4.78", None),
        (r"\d+ ms", "1e-5 ms", None),
        (r"\d+ ms", "-5 ms", None),
        (r"-?\d+ ms", "1-5 ms, -5 ms", "1<it>, <it>"),
        (r"[-+]?\d\.?\d*(?:e[-+]\d+)? ms", "-1.5e-05 ms", "<it>"),
        (r"loss .+", "loss nan", None),
        (r"loss [^,]+", "loss -inf, 2", None),
        (r"loss \w+", "loss nan, loss low", "loss nan, <it>"),
        (r"loss (?:nan|[\d.]+)", "loss nan, loss 0.5", "<it>, <it>"),
        (r"on \w+", "on nancy", "<it>"),
        (r"(?i)took \d+ ms", "Took 5 ms, 1E5", "<it>, 1E5"),
        (r"(?is)took.\d+ ms", "TOOK\n5 ms, took 1e5 ms", "<it>, took 1e5 ms"),
        (r"(?x) took\ \d+ \ ms", "took 5 ms", "<it>"),
    ],
)
def test_a_filter_replaces_what_it_names(pattern: str, text: str, result: str | None) -> None:
    counts: Counter[str] = Counter()
    assert filtered(text, [make(pattern, "it", "why")], counts) == (result or text)
    assert counts == ({"it": result.count("<it>")} if result else {})


@given(
    st.text("ab 01.,-<>", max_size=12), st.sampled_from([r"[a-z ]*.", r"a.b", r"\S+ ", r"[^<]+"])
)
def test_no_wildcard_swallows_a_digit(text: str, pattern: str) -> None:
    after = filtered(text, [make(pattern, "n", "why")])
    assert re.findall(r"\d", after) == re.findall(r"\d", text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("<f at 0x7f19f0a1>", "<f at 0x0>"),
        ("the flag at 0x10", "the flag at 0x10"),
        ("<DisplayHandle display_id=" + "0a" * 16 + ">", "<DisplayHandle display_id=0>"),
        ("/tmp/tmpk3_ab12z/data.csv", "/tmp/tmp/data.csv"),  # noqa: S108 - no such file is used
        (
            "CPU times: user 1.2 ms, sys: 3 µs, total: 1.3 ms\nWall time: 1min 3s\n4",
            "<time>\n4",
        ),
        (
            "1.23 µs ± 4.5 ns per loop (mean ± std. dev. of 7 runs, 1,000,000 loops each)\n0.5",
            "<time>\n0.5",
        ),
        (
            (
                "CPU times: user 1.2 s, sys: 3 µs, total: 1.3 s\nWall time: 1 s\n"
                "Compiler : 123 ms\nParser   : 456 ms\n4"
            ),
            "<time>\n4",
        ),
        (
            (
                "The slowest run took 14.95 times longer than the fastest. "
                "This could mean that an intermediate result is being cached.\n"
                "1min 23s ± 14.5 ms per loop (mean ± std. dev. of 10 runs, 1,000,000 loops each)\n"
                "Compiler time: 0.12 s\n0.5"
            ),
            "<time>\n0.5",
        ),
        ("The slowest run took 14.95 times longer", "The slowest run took 14.95 times longer"),
        (f"Date:{' ' * 16}Mon, 23 Nov 2026   Prob: 0.5", f"Date:{' ' * 16}<time>   Prob: 0.5"),
        (f"Time:{' ' * 24}08:15:00   AIC: 22.0", f"Time:{' ' * 24}<time>   AIC: 22.0"),
        (
            "Date: | Mon, 23 Nov 2026 | Prob (F-statistic): | 0.5",
            "Date: | <time> | Prob (F-statistic): | 0.5",
        ),
        ("Time: | 08:15:00 | AIC: | 22.0", "Time: | <time> | AIC: | 22.0"),
        (
            r"\textbf{Date:}             & Mon, 23 Nov 2026 & \textbf{  AIC: } &  2 \\",
            r"\textbf{Date:}             & <time> & \textbf{  AIC: } &  2 \\",
        ),
        (
            r"\textbf{Time:}             &     08:15:00     & \textbf{  AIC: } &  2 \\",
            r"\textbf{Time:}             &     <time>     & \textbf{  AIC: } &  2 \\",
        ),
        *[
            (computed, computed)
            for computed in (
                "Easter Date: Sun, 05 Apr 2026",
                "Date: Sun, 05 Apr 2026   1 egg",
                "Arrival Time:            13:45:00   2",
                "Time:            13:45:00",
                "Wall time: 3 h",
                "Date: | Sun, 05 Apr 2026 | Easter",
                "First Date: | Sun, 05 Apr 2026 | AIC: | 2",
                r"\textbf{Date:} & Sun, 05 Apr 2026 & Easter",
            )
        ],
    ],
)
def test_what_varies_by_itself(text: str, result: str) -> None:
    assert filtered(text, DEFAULTS) == result


@pytest.mark.parametrize(
    "parts",
    [
        ("(", "n", "r"),
        ("x?", "n", "r"),
        ("", "n", "r"),
        ("a", "n", ""),
        (re.compile("a"), "n", "r"),
    ],
)
def test_a_filter_that_nothing_could_follow_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"filter is|regular|empty|expected string"):
        filters_in([parts], "filters")
