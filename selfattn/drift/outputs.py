"""Take from a cell's outputs the text that a reader sees: stdout, stderr and values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbformat import NotebookNode

__all__ = ["Printed", "Stream", "address", "printed", "without_addresses"]

_PICTURES = ("image/", "video/", "audio/")
_UNSEEN = ("script", "style")
_WIDGETS = (
    "application/javascript",
    "application/vnd.bokehjs",
    "application/vnd.holoviews",
    "application/vnd.jupyter.widget",
    "application/vnd.plotly",
    "application/vnd.vega",
)
_WRAPPER = re.compile(r"<IPython\.core\.display\.\w+ object>\s*")
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


class Stream(StrEnum):
    """Which part of what a cell prints; main is stdout and values."""

    ALL = "all"
    MAIN = "main"
    STDOUT = "stdout"
    STDERR = "stderr"
    VALUE = "value"


@dataclass(frozen=True)
class Printed:
    """What a cell printed, in order, and how much of its output is not text."""

    pieces: tuple[tuple[Stream, str], ...] = ()
    error: str = ""
    """``ErrorType: message`` if the cell raised."""
    pictures: int = 0
    widgets: int = 0

    def select(self, stream: Stream) -> str:
        """Return one part as text; all is stdout and values in order, then stderr.

        What a cell raised comes last, and belongs to *all*, to *main* and to *stderr*.
        """
        main = [text for name, text in self.pieces if name is not Stream.STDERR]
        errors = [text for name, text in self.pieces if name is Stream.STDERR]
        chosen = {
            Stream.ALL: [*main, *errors, self.error],
            Stream.MAIN: [*main, self.error],
            Stream.STDERR: [*errors, self.error],
        }
        alone = [text for name, text in self.pieces if name is stream]
        return _join(chosen.get(stream, alone))

    @property
    def parts(self) -> tuple[Stream, ...]:
        """Which streams have something to read on them."""
        streams = (Stream.STDOUT, Stream.VALUE, Stream.STDERR)
        said = {name for name, text in self.pieces if text.strip()}
        return tuple(stream for stream in streams if stream in said)


def printed(outputs: Iterable[NotebookNode]) -> Printed:
    """Take the text from a cell's outputs; a picture or widget is counted, not read."""
    pieces: list[tuple[Stream, str]] = []
    streams: dict[Stream, int] = {}  # where each stream goes on, until something is displayed
    error = ""
    pictures = widgets = 0
    for output in outputs:
        if output.output_type == "stream":
            name = Stream.STDERR if output.name == "stderr" else Stream.STDOUT
            if (place := streams.setdefault(name, len(pieces))) == len(pieces):
                pieces.append((name, ""))
            pieces[place] = (name, pieces[place][1] + _text(output.text))
            continue
        streams.clear()
        if output.output_type == "error":
            error = f"{output.ename}: {output.evalue}" if output.evalue else str(output.ename)
        elif any(mime.startswith(_WIDGETS) for mime in output.data):
            widgets += 1
        elif any(mime.startswith(_PICTURES) for mime in output.data):
            pictures += 1
        elif value := _value(output.data):
            pieces.append((Stream.VALUE, value))
        else:
            pictures += any(mime != "text/plain" for mime in output.data)
    seen = ((name, text if name is Stream.VALUE else _seen(text)) for name, text in pieces)
    return Printed(tuple(seen), error, pictures, widgets)


def _value(data: NotebookNode) -> str:
    """Return the text of a value: of text that was displayed as such, the text itself."""
    plain = _text(data.get("text/plain", ""))
    if plain and not _WRAPPER.fullmatch(plain):
        return plain
    written = data.get("text/markdown") or data.get("text/latex")
    return _text(written) if written else _Words.of(_text(data.get("text/html", "")))


class _Words(HTMLParser):
    """Takes the words that a reader sees from HTML."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: list[str] = []
        self._hidden = 0

    @classmethod
    def of(cls, html: str) -> str:
        """Return the words of some HTML, apart from its scripts and styles."""
        parser = cls()
        parser.feed(html)
        parser.close()
        return " ".join("".join(parser._seen).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin to hide what is in a script, and keep words of two elements apart."""
        del attrs
        self._hidden += tag in _UNSEEN
        self._seen.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """End what a start tag began."""
        self._hidden -= tag in _UNSEEN
        self._seen.append(" ")

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        if self._hidden <= 0:
            self._seen.append(data)


def _seen(text: str) -> str:
    """Return what is left to see of a stream: notebooks store progress as its last state."""
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(_overwritten(line) for line in text.replace("\r\n", "\n").split("\n"))


def _overwritten(line: str) -> str:
    """Carry out the backspaces and carriage returns of a line."""
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    shown = ""
    for part in "".join(kept).split("\r"):
        shown = part + shown[len(part) :]
    return shown


def _text(data: object) -> str:
    """Return text that older notebooks store as a list of lines."""
    return "".join(data) if isinstance(data, list) else str(data)


def _join(pieces: Iterable[str]) -> str:
    """Put pieces below each other, each on a line of its own."""
    return "".join(piece if piece.endswith("\n") else piece + "\n" for piece in pieces if piece)


def address(text: str) -> str:
    """Return the first memory address in a text, which never prints the same twice.

    Examples:
        >>> bool(address("<function f at 0x7f3a10>")), bool(address("the flag 0x7f"))
        (True, False)

    """
    match = _ADDRESS.search(text)
    return match.group() if match else ""


def without_addresses(text: str) -> str:
    """Return a text with every memory address made the same."""
    return _ADDRESS.sub("at 0x0", text)
