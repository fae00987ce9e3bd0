"""Outputs that are made to take long are read in a time that grows as they do."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

import pytest

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.output.forms import html_differs, latex_differs
from sphinx_drift.output.html_text import html_text
from sphinx_drift.output.printed_text import address, repeatable
from sphinx_drift.output.screen import on_screen
from sphinx_drift.output.tracebacks import messages, split_native_error

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPES: dict[str, tuple[Callable[[str], object], str, str]] = {
    "slashes before a kernel": (repeatable, "/", " ipykernel_1"),
    "slashes in a path": (repeatable, "/", "ipykernel_"),
    "roots in a path": (repeatable, "//a", "ipykernel_"),
    "drives": (repeatable, "C:\\a", "ipykernel_"),
    "addresses": (address, "at 0x7f", ""),
    "cursor down": (on_screen, "\x1b[9999B", "x"),
    "cursor right": (on_screen, "\x1b[9999Cx\n", ""),
    "erased lines": (on_screen, "x\x1b[1K", ""),
    "links": (on_screen, "\x1b]8;;", "\r"),
    "progress": (on_screen, "\r50%", ""),
    "spans": (html_text, "<td colspan=1000 rowspan=1000>1", ""),
    "spans below each other": (html_text, "<tr><td colspan=1000 rowspan=1000>1", ""),
    "hidden tags": (html_text, "<template></title>", ""),
    "numbers in HTML": (lambda text: html_differs(text, text), "1 ", ""),
    "spaces in LaTeX": (lambda text: latex_differs("", text), " ", "x"),
    "headers of tracebacks": (lambda text: messages([text]), " ", "x"),
    "frames": (lambda text: messages([text]), "--> ", ""),
    "groups of errors": (split_native_error, "  + Exception Group", ""),
    "words that all differ": (lambda text: compare(text, text.replace("1", "2")), "a 1 ", ""),
    "one more": (lambda text: compare(text, f"x {text}"), "a 1 ", ""),
    "brackets": (lambda text: compare(text, f"{text}1"), "[(", "1"),
    "quotation marks": (lambda text: compare(text, f"{text}1"), "['", "1"),
    "escapes": (lambda text: compare(text, f"{text}1"), "\x1b]", "1"),
    "elisions": (lambda text: compare(f"x\n{text}", f"y\n{text}"), "⋮ ", "1"),
    "numbers that move each other": (
        lambda text: compare(
            text,
            text.replace(" 9.99", "10.00"),
            policy=Policy.PORTABLE,
            precise=text.replace("9.99", "9.994999885559082"),
        ),
        "a  9.99 ",
        "",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_time_grows_no_faster_than_the_text(name: str) -> None:
    read, piece, end = SHAPES[name]

    def seconds(characters: int) -> float:
        text = piece * (characters // len(piece)) + end
        gc.collect()
        gc.disable()  # what it takes depends on everything else that was tested before
        try:
            start = time.process_time()
            read(text)
            return time.process_time() - start
        finally:
            gc.enable()

    # Eight times the text takes 64 times as long where the work is quadratic; another process
    # may disturb one measurement.
    ratios = (seconds(80_000) / max(seconds(10_000), 0.005) for _ in range(3))
    assert any(ratio < 24 for ratio in ratios)
