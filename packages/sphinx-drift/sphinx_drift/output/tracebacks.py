"""Read the errors of a traceback without its frames, which differ between versions."""

import re
from collections.abc import Iterable
from itertools import takewhile

from sphinx_drift.compare.lexer import ESCAPE

_HEADER = re.compile(r"(?m)^(?:-{10,}\n)?(\w*) *Traceback \(most recent call last\):?$")
_OF_COLAB = re.compile(r"(?s)\n+-{10,}\nNOTE: If your import is failing .*?\n-{10,}(?=\n|$)")
"""What Colab adds below an import that fails."""
_GROUP = "  + Exception Group Traceback (most recent call last):"
_OF_GROUP = re.compile(r" +[|+]")
_OF_MEMBER = re.compile(r" +\| (?!\s|(?:Exception Group )?Traceback \(most recent )(.+)")
"""A line of a group, or of a member, that isn't indented, as frames are."""


def messages(traceback: Iterable[str], name: str = "") -> str:
    r"""Return the types, messages and notes in a traceback as IPython writes it.

    Args:
        traceback: Its parts: headers, frames and messages, each in colors or not.
        name: The type of its last error, which the header of some kernels lacks.

    Returns:
        The text from each error's type on. Where that isn't found, nothing is left out.

    Examples:
        >>> frame = "Cell In[1], line 1\n----> 1 1 / 0"
        >>> messages(["KeyError    Traceback (most recent call last)", frame, "KeyError: 3"])
        'KeyError: 3'

    """
    parts = (ESCAPE.sub("", part).strip("\n").rstrip() for part in traceback)
    before, *sections = _HEADER.split(_OF_COLAB.sub("", "\n".join(parts)))
    errors = [_from_type(before, name)]
    for of_header, section in zip(sections[::2], sections[1::2], strict=True):
        errors.append(_from_type(section, of_header or name))
    return "\n".join(filter(None, errors))


def _from_type(text: str, name: str) -> str:
    """Return a text from the line on that begins with the type of an error."""
    begins = re.search(rf"(?m)^(?:[\w.]+\.)?{re.escape(name)}(?=:|$)", text) if name else None
    return text[begins.start() if begins else 0 :].strip("\n")


def split_native_error(text: str) -> tuple[str, str]:
    r"""Separate the error that IPython writes to the end of stderr from the rest of it.

    It does so with a magic that is used wrongly, and with groups of exceptions.

    Returns:
        What else went there, and the error's type and message; of a group, each line that isn't
        indented, its members' too.

    Examples:
        >>> split_native_error("a warning\nUsageError: no magic %x\n")
        ('a warning\n', 'UsageError: no magic %x')

    """
    lines = text.removesuffix("\n").split("\n")
    count = len([*takewhile(_OF_GROUP.match, reversed(lines))])
    if count and lines[-count] == _GROUP:
        errors = [match[1] for match in map(_OF_MEMBER.match, lines[-count:]) if match]
    elif lines[-1].startswith("UsageError: "):
        count, errors = 1, lines[-1:]
    else:
        return text, ""
    return "".join(f"{line}\n" for line in lines[:-count]), "\n".join(errors)
