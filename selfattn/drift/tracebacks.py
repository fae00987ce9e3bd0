"""Read what a traceback says of errors, without its frames, which differ between versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["messages", "split_native_error"]

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(r"-{10,}$")
_HEADER = re.compile(r"\s*Traceback \(most recent call last\):?$")
_FRAME = re.compile(
    r"\s*(?:Cell |File |Input |In \[|In  ?\[|<|~|/|[A-Za-z]:\\|\[\.\.\. |\S+\.(?:pyx?|pxi|so)\b)"
)
_ARROW = re.compile(r"(?m)^-+> *\d+ ")
_CARETS = re.compile(r"(?m)^\s*[\^~]+\s*$\n?")

_USAGE = re.compile(r"(?:^|(?<=\n))UsageError: [^\n]*\n?\Z")
_GROUP = "  + Exception Group Traceback (most recent call last):\n"
_MARGIN = re.compile(r"(?P<bars>(?: *[|+])*)[- ]?(?P<text>.*)")
_SEPARATOR = re.compile(r"[-+ ]*(?:-{5,} (?:\d+|\.\.\.) )?-{5,}$")


def messages(traceback: Iterable[str]) -> str:
    r"""Return the types and messages in a traceback as IPython writes it.

    Args:
        traceback: Its parts: headers, frames and messages, each in colours or not.

    Examples:
        >>> frame = "Cell In[1], line 1\n----> 1 1 / 0"
        >>> messages(["KeyError    Traceback (most recent call last)", frame, "KeyError: 3"])
        'KeyError: 3'

    """
    parts = [_message(_ANSI.sub("", part)) for part in traceback]
    types = {part.partition(":")[0] for part in parts}
    headers = ((_HEADER.sub("", part), part) for part in parts)
    # A header repeats the type of the message below it; one that doesn't has something to say.
    return "\n".join(name for name, part in headers if name and (name == part or name not in types))


def _message(part: str) -> str:
    """Return a part that is a message or a header, and of a frame nothing."""
    if _RULE.match(part.strip()):
        return ""
    if not (_FRAME.match(part) or _ARROW.search(part)):
        return part.strip("\n").rstrip()
    # The message of a syntax error stands below its frame, in the same part.
    *_, last = _CARETS.split(part)
    return last.strip() if last != part else ""


def split_native_error(text: str) -> tuple[str, str]:
    r"""Take from what went to stderr the error that IPython writes there and not as an error.

    It does so with a magic that is used wrongly, and with groups of exceptions.

    Returns:
        What else went there, and the error's type and message; of a group, those of its members
        too, each on a line.

    Examples:
        >>> split_native_error("a warning\nUsageError: no magic %x\n")
        ('a warning\n', 'UsageError: no magic %x')

    """
    if usage := _USAGE.search(text):
        return text[: usage.start()], usage[0].rstrip()
    before, group, after = text.partition(_GROUP)
    if not group:
        return text, ""
    return before, "\n".join(_members(after.splitlines()))


def _members(lines: Iterable[str]) -> Iterator[str]:
    """Yield the messages of a group of exceptions, further in for each level."""
    for line in lines:
        match = _MARGIN.match(line)
        bars, text = (match["bars"], match["text"]) if match else ("", line)
        framed = text.startswith("  ") or "Traceback (most recent call last)" in text
        if text.strip() and not framed and not _SEPARATOR.match(line.strip(" |")):
            yield "  " * (len(bars) // 2 - 1) + text.rstrip()
