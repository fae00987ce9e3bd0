"""Read the errors of a traceback without its frames, which differ between versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import ESCAPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ESCAPE = re.compile(ESCAPE)
_RULE = re.compile(r"-{10,}")
_HEADER = re.compile(r"(?P<name>[^\n]*)Traceback \(most recent call last\):?")
_FRAME = re.compile(
    r"\s*(?:Cell |File |Input |In \[|In  ?\[|<|~|/|[A-Za-z]:\\|\[\.\.\. |\S+\.(?:pyx?|pxi|so)\b)"
    r"|(?![\w.]+(?::|$))(?s:.*^-+> *\d+ )",
    re.MULTILINE,
)
_BELOW_FRAME = re.compile(r"(?ms)^\S.*")

_USAGE = re.compile(r"(?:^|(?<=\n))UsageError: [^\n]*\n?\Z")
_GROUP = "  + Exception Group Traceback (most recent call last):\n"
_OF_MEMBER = re.compile(r"(?m)^(?: +\| )?(?!\s|(?:Exception Group )?Traceback \(most recent )(.+)$")
"""A line of a group, or of a member, that isn't indented, as frames are."""


def messages(traceback: Iterable[str]) -> str:
    r"""Return the types, messages and notes in a traceback as IPython writes it.

    Args:
        traceback: Its parts: headers, frames and messages, each in colours or not.

    Examples:
        >>> frame = "Cell In[1], line 1\n----> 1 1 / 0"
        >>> messages(["KeyError    Traceback (most recent call last)", frame, "KeyError: 3"])
        'KeyError: 3'

    """
    parts = (_ESCAPE.sub("", part).strip("\n").rstrip() for part in traceback)
    texts = (text for error in _sections(parts) for text in _without_frames(*error))
    return "\n".join(filter(None, texts))


def _sections(parts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield for each error the type that its header names, and the parts below that header."""
    name, section = "", list[str]()
    for part in parts:
        if header := _HEADER.fullmatch(part):
            yield name, section
            name, section = header["name"].strip(), []
        elif not _RULE.fullmatch(part):
            section.append(part)
    yield name, section


def _without_frames(name: str, section: Sequence[str]) -> Iterator[str]:
    """Yield a message and everything below it unchanged: frames come before their message."""
    begins_message = re.compile(rf"(?:[\w.]*\.)?{re.escape(name)}(?::|\Z)").match
    first = next((i for i, part in enumerate(section) if name and begins_message(part)), None)
    if first is not None:
        yield from section[first:]
        return
    # The header of another kernel, or an error of syntax, whose message ends the part of a frame.
    first = next((i for i, part in enumerate(section) if _below_frame(part)), len(section))
    texts = [*map(_below_frame, section[first : first + 1]), *section[first + 1 :]]
    if name and not any(map(begins_message, texts)):
        yield name
    yield from texts


def _below_frame(part: str) -> str:
    """Return the part without its frame: all of it, nothing, or the text below the frame."""
    if not _FRAME.match(part):
        return part
    below = _BELOW_FRAME.search(part) if part.startswith("  ") else None
    return below[0] if below else ""


def split_native_error(text: str) -> tuple[str, str]:
    r"""Separate the error that IPython writes to stderr from the rest of it.

    It does so with a magic that is used wrongly, and with groups of exceptions.

    Returns:
        What else went there, and the error's type and message; of a group, each line that isn't
        indented, its members' too.

    Examples:
        >>> split_native_error("a warning\nUsageError: no magic %x\n")
        ('a warning\n', 'UsageError: no magic %x')

    """
    if usage := _USAGE.search(text):
        return text[: usage.start()], usage[0].rstrip()
    before, group, after = text.partition(_GROUP)
    if not group:
        return text, ""
    return before, "\n".join(_OF_MEMBER.findall(after))
