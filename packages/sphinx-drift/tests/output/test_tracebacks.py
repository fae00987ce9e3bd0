"""Types and messages of errors, in the formats of several versions of IPython and Python."""

import traceback

import pytest

from sphinx_drift.output.tracebacks import messages, split_native_error

RULE = "\x1b[0;31m" + "-" * 75 + "\x1b[0m"
HEAD = "\x1b[0;31mValueError\x1b[0m                Traceback (most recent call last)"
MESSAGE = "\x1b[0;31mValueError\x1b[0m: row 7"
FRAME = "Cell In[1], line 1\n----> 1 fail(7)"
FRAMES = [
    FRAME,
    "File ~/lib/a.py:7, in fail(x)\n      5 \n----> 7 raise",
    "/usr/lib/a.py in fail(x)\n----> 7 raise",
    "pandas/_libs/index.pyx in pandas._libs.index.get_loc()",
    "\x1b[0;36mCell\x1b[0m\x1b[0;32m In[1]\x1b[0m, line 1\n\x1b[0;32m----> 1\x1b[0m fail(7)",
]
COLAB = (
    f"\x1b[0;31m{'-' * 75}\x1b[0;32m\nNOTE: If your import is failing due to a missing\n"
    f"package, install it.\n\nTo view examples, click below.\n\x1b[0;31m{'-' * 75}\x1b[0m\n"
)
OF_SYNTAX = "  Cell In[5], line 1\n    1 +\n       ^\nSyntaxError: invalid 3\n"
PLAIN_HEAD = "Traceback (most recent call last):\n"
PLAIN_FRAME = "  Cell In[1], line 2 in f\n    fail(7)\n"
LINES = ["   indented 5", "----> 7 arrow", "/data/row 8", "File 10 is missing", "----------"]


@pytest.mark.parametrize(
    ("parts", "name", "expected"),
    [
        *(([RULE, HEAD, frame, MESSAGE], "", "ValueError: row 7") for frame in FRAMES),
        # Messages and notes are whole, whatever they look like.
        *(
            ([RULE, *frames, *error], "ValueError", f"ValueError: row 7\n{line}")
            for line in LINES
            for frames in ((HEAD, FRAME), (PLAIN_HEAD, PLAIN_FRAME))
            for error in ((f"{MESSAGE}\n{line}",), (MESSAGE, line))
        ),
        ([], "", ""),
        ([MESSAGE, "a note 5"], "ValueError", "ValueError: row 7\na note 5"),
        ([OF_SYNTAX], "SyntaxError", "SyntaxError: invalid 3"),
        ([HEAD, FRAME, f"{MESSAGE}\n", "", COLAB], "ValueError", "ValueError: row 7"),
        (["Error in f(): row 3"], "ERROR", "Error in f(): row 3"),
        ([HEAD, FRAME, "my.own.ValueError: /row 7"], "", "my.own.ValueError: /row 7"),
        (
            [HEAD, FRAME, MESSAGE, "\nDuring handling:\n", RULE, HEAD, FRAMES[1], MESSAGE],
            "ValueError",
            "ValueError: row 7\nDuring handling:\nValueError: row 7",
        ),
    ],
)
def test_types_and_messages_are_kept_and_frames_are_not(
    parts: list[str], name: str, expected: str
) -> None:
    assert messages(parts, name) == expected


def _raised(error: Exception) -> Exception:
    """Return an error that has a frame."""
    try:
        raise error
    except type(error):
        return error


INNER = ExceptionGroup("inner 2", [ValueError("row 7\nand 8"), _raised(OSError(3))])
OUTER = _raised(ExceptionGroup("outer 1", [INNER, KeyError("k")]))
GROUP = "".join(traceback.format_exception(OUTER))
OF_GROUP = """\
ExceptionGroup: outer 1 (2 sub-exceptions)
ExceptionGroup: inner 2 (2 sub-exceptions)
ValueError: row 7
and 8
OSError: 3
KeyError: 'k'"""


@pytest.mark.parametrize(
    ("text", "rest", "error"),
    [
        ("UsageError: no %x\n", "", "UsageError: no %x"),
        ("w 3\nUsageError: no %x", "w 3\n", "UsageError: no %x"),
        ("UsageError: no %x\nand more\n", "UsageError: no %x\nand more\n", ""),
        ("MyUsageError: no\n", "MyUsageError: no\n", ""),
        ("", "", ""),
        (f"a warning\n{GROUP}", "a warning\n", OF_GROUP),
        # It was caught and printed.
        (f"{GROUP}    loss 0.5\n", f"{GROUP}    loss 0.5\n", ""),
    ],
)
def test_an_error_ends_stderr(text: str, rest: str, error: str) -> None:
    assert split_native_error(text) == (rest, error)
