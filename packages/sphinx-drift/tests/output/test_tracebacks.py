"""Types and messages of errors, in the formats of several versions of IPython and Python."""

from __future__ import annotations

import traceback

import pytest

from sphinx_drift.output.tracebacks import messages, split_native_error

RULE = "\x1b[0;31m" + "-" * 75 + "\x1b[0m"
HEAD = "\x1b[0;31mValueError\x1b[0m                Traceback (most recent call last)"
MESSAGE = "\x1b[0;31mValueError\x1b[0m: row 7"
FRAMES = [
    "Cell In[1], line 1\n----> 1 fail(7)",
    "File ~/lib/a.py:7, in fail(x)\n      5 \n----> 7 raise",
    "/usr/lib/a.py in fail(x)\n----> 7 raise",
    "pandas/_libs/index.pyx in pandas._libs.index.get_loc()",
    "\x1b[0;36mCell\x1b[0m\x1b[0;32m In[1]\x1b[0m, line 1\n\x1b[0;32m----> 1\x1b[0m fail(7)",
]
OF_SYNTAX = "  Cell In[5], line 1\n    1 +\n       ^\nSyntaxError: invalid 3\n"


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_are_left_out(frame: str) -> None:
    assert messages([RULE, HEAD, frame, MESSAGE]) == "ValueError: row 7"


@pytest.mark.parametrize(
    "line", ["   indented 5", "----> 7 arrow", "/data/row 8", "File 10 is missing", "----------"]
)
def test_messages_and_notes_are_whole_whatever_they_look_like(line: str) -> None:
    plain = "Traceback (most recent call last):\n"
    for head, frame in ((HEAD, FRAMES[0]), (plain, "  Cell In[1], line 2 in f\n    fail(7)\n")):
        whole = f"ValueError: row 7\n{line}"
        assert messages([RULE, head, frame, f"{MESSAGE}\n{line}"], "ValueError") == whole
        assert messages([RULE, head, frame, MESSAGE, line], "ValueError") == whole


@pytest.mark.parametrize(
    ("parts", "name", "expected"),
    [
        ([], "", ""),
        ([MESSAGE, "a note 5"], "ValueError", "ValueError: row 7\na note 5"),
        ([OF_SYNTAX], "SyntaxError", "SyntaxError: invalid 3"),
        (["Error in f(): row 3"], "ERROR", "Error in f(): row 3"),
        ([HEAD, FRAMES[0], "my.own.ValueError: /row 7"], "", "my.own.ValueError: /row 7"),
        (
            [HEAD, FRAMES[0], MESSAGE, "\nDuring handling:\n", RULE, HEAD, FRAMES[1], MESSAGE],
            "ValueError",
            "ValueError: row 7\nDuring handling:\nValueError: row 7",
        ),
    ],
)
def test_types_and_messages_are_kept(parts: list[str], name: str, expected: str) -> None:
    assert messages(parts, name) == expected


def test_a_group_that_python_writes_is_read_without_its_frames() -> None:
    inner = ExceptionGroup("inner 2", [ValueError("row 7\nand 8"), _raised(OSError(3))])
    outer = _raised(ExceptionGroup("outer 1", [inner, KeyError("k")]))
    text = "".join(traceback.format_exception(outer))
    before, error = split_native_error(f"a warning\n{text}")
    assert before == "a warning\n"
    assert error == (
        "ExceptionGroup: outer 1 (2 sub-exceptions)\n"
        "ExceptionGroup: inner 2 (2 sub-exceptions)\n"
        "ValueError: row 7\n"
        "and 8\n"
        "OSError: 3\n"
        "KeyError: 'k'"
    )
    caught = f"{text}    loss 0.5\n"
    assert split_native_error(caught) == (caught, "")


def _raised(error: Exception) -> Exception:
    """Return an error that has a frame."""
    try:
        raise error
    except type(error):
        return error


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("UsageError: no %x\n", ("", "UsageError: no %x")),
        ("w 3\nUsageError: no %x", ("w 3\n", "UsageError: no %x")),
        ("UsageError: no %x\nand more\n", ("UsageError: no %x\nand more\n", "")),
        ("MyUsageError: no\n", ("MyUsageError: no\n", "")),
        ("", ("", "")),
    ],
)
def test_usage_errors_end_stderr(text: str, split: tuple[str, str]) -> None:
    assert split_native_error(text) == split
