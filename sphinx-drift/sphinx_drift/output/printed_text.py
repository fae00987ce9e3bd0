"""Read a cell's outputs as a reader sees them: stdout, stderr, and values in every form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from sphinx_drift.output.forms import html_differs, latex_differs, text_differs
from sphinx_drift.output.html_text import html_text, makes_more
from sphinx_drift.output.screen import on_screen
from sphinx_drift.output.tracebacks import messages, split_native_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbformat import NotebookNode

_PICTURES = ("image/", "video/", "audio/")
_WIDGETS = (
    "application/javascript",
    "application/vnd.bokehjs",
    "application/vnd.holoviews",
    "application/vnd.jupyter.widget",
    "application/vnd.plotly",
    "application/vnd.vega",
)
_DEFAULT_REPR = re.compile(r"<[\w.]+(?: object| at 0x[0-9a-fA-F]+)+>\s*")
_DESCRIPTION = re.compile(r"<[^<>]*>\s*")
_DRAWN_IN_HTML = re.compile(
    r"(?:<|lt;)(?:(?:img|image|video|audio|canvas|embed)\b|object\b[^<>]*\bdata\s*=|iframe\b[^<>]*\bsrc\s*=)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
"""No object lies at fewer digits: `at 0x10` is what somebody has written."""
_PATH = re.compile(r"[^\s'\":=,;<>()]+")
"""A path of Linux or macOS: what is just before it, `loss=0.5:` for instance, is no part of it."""
_ROOT = re.compile(r"(?<![\w.])/")
_VARYING = ("ipykernel_", "/site-packages/", "/dist-packages/")
_VARYING_FOLDER = re.compile(r"/(?:.*/)?(ipykernel_\d+|site-packages|dist-packages)/")


class Part(StrEnum):
    """A part of a cell's output; main is stdout and values."""

    ALL = "all"
    MAIN = "main"
    STDOUT = "stdout"
    STDERR = "stderr"
    VALUE = "value"
    HTML = "html"
    LATEX = "latex"
    MARKDOWN = "markdown"
    JSON = "json"
    PICTURE = "picture"
    """The text beside pictures and widgets, which is shown where they can't be, and in SVG."""
    TRACEBACK = "traceback"
    """The types and messages in a traceback as it is shown."""


_Form = tuple[Part, Callable[[str], str], Callable[[str, str], str]]
_FORMS: dict[str, _Form] = {
    "text/markdown": (Part.MARKDOWN, str, text_differs),
    "text/latex": (Part.LATEX, str, latex_differs),
    "text/html": (Part.HTML, html_text, html_differs),
    "application/json": (Part.JSON, str, partial(text_differs, form="JSON")),
}
"""In the order in which they stand in for a text that says nothing."""
FORMS = tuple(part for part, _, _ in _FORMS.values())
BESIDE = (*FORMS, Part.PICTURE, Part.TRACEBACK)
"""The parts that show the same value in another form than text."""


@dataclass(frozen=True)
class Value:
    """A value in text form, and as it is in the other forms that it is shown in."""

    text: str
    forms: tuple[tuple[str, str], ...] = ()
    """The MIME type and source of each other form."""

    def differing(self) -> Iterator[tuple[Part, str]]:
        """Yield each form whose numbers differ from those of the text, with the difference."""
        for mime, source in self.forms:
            stream, _, differs = _FORMS[mime]
            if message := differs(self.text, source):
                yield stream, message


@dataclass
class Printed:
    """The texts that a cell printed, in order, and how many of its outputs are not text."""

    pieces: list[tuple[Part, str]] = field(default_factory=list)
    error: str = ""
    """``ErrorType: message`` if the cell raised, and the notes that were added to it."""
    pictures: int = 0
    widgets: int = 0
    values: list[Value] = field(default_factory=list)
    glued: list[str] = field(default_factory=list)
    """The names of values that are shown elsewhere."""
    draws_text: bool = False
    """Whether a picture that it shows has text."""
    native_error: bool = False
    """Whether the error was written to stderr, and is no output of its own."""

    def select(self, stream: Part) -> str:
        """Return one part as text; all is stdout and values in order, then stderr.

        What a cell raised comes last, and belongs to *all*, to *main* and to *stderr*.
        """
        beside = (*BESIDE, Part.STDERR)
        main = [text for name, text in self.pieces if name not in beside]
        errors = [text for name, text in self.pieces if name is Part.STDERR]
        chosen = {
            Part.ALL: [*main, *errors, self.error],
            Part.MAIN: [*main, self.error],
            Part.STDERR: [*errors, self.error],
        }
        alone = [text for name, text in self.pieces if name is stream]
        return _join(chosen.get(stream, alone))

    @property
    def drawn(self) -> tuple[int, int]:
        """How many pictures it shows, and how many outputs that a script makes."""
        return self.pictures, self.widgets

    @property
    def parts(self) -> tuple[Part, ...]:
        """The streams that are not empty."""
        streams = (Part.STDOUT, Part.VALUE, Part.STDERR)
        non_empty = {name for name, text in self.pieces if text.strip()}
        if self.native_error:
            non_empty.add(Part.STDERR)
        return tuple(stream for stream in streams if stream in non_empty)


def printed(outputs: Iterable[NotebookNode]) -> Printed:
    """Read the outputs of a cell: the text of each form, and the number of pictures."""
    reader = _Reader()
    for output in outputs:
        reader.read(output)
    return reader.printed()


class _Reader:
    """Reads one output after another."""

    def __init__(self) -> None:
        self._result = Printed()
        self._streams: dict[Part, int] = {}
        """Where each stream goes on, until something is displayed."""

    def read(self, output: NotebookNode) -> None:
        if output.output_type == "stream":
            self._stream(Part.STDERR if output.name == "stderr" else Part.STDOUT, output)
            return
        self._streams.clear()
        if output.output_type == "error":
            error = f"{output.ename}: {output.evalue}" if output.evalue else str(output.ename)
            text = messages(output.get("traceback", ()))
            if text:
                self._result.pieces.append((Part.TRACEBACK, text))
            _, message, notes = f"\n{text}".rpartition(f"\n{error}")
            self._result.error = error + notes * (bool(message) and notes.startswith(("\n", ":\n")))
        else:
            values = len(self._result.values)
            self._data(*_unglued(output))
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            self._result.glued += [str(name)] * (len(self._result.values) - values) if name else []

    def printed(self) -> Printed:
        self._result.pieces = [self._piece(name, text) for name, text in self._result.pieces]
        return self._result

    def _piece(self, name: Part, text: str) -> tuple[Part, str]:
        """Return a text as a terminal shows it, and keep the error at the end of stderr."""
        if name not in (Part.STDOUT, Part.STDERR):
            return name, text
        text = repeatable(on_screen(text))
        if name is Part.STDERR and not self._result.error:
            text, self._result.error = split_native_error(text)
            self._result.native_error = bool(self._result.error)
        return name, text

    def _stream(self, name: Part, output: NotebookNode) -> None:
        pieces = self._result.pieces
        place = self._streams.setdefault(name, len(pieces))
        if place == len(pieces):
            pieces.append((name, ""))
        pieces[place] = (name, pieces[place][1] + _text(output.text))

    def _data(self, name: str, data: dict[str, str]) -> None:
        """Read a value, which may be glued under a name and shown elsewhere."""
        result = self._result
        text = data.get("text/plain", "")
        texts = {mime: read(data[mime]) for mime, (_, read, _) in _FORMS.items() if data.get(mime)}
        picture = any(mime.startswith(_PICTURES) for mime in data)
        widget = any(mime.startswith(_WIDGETS) for mime in data)
        result.widgets += widget
        result.pictures += picture and not widget
        if drawing := html_text(data.get("image/svg+xml", "")):
            result.pieces.append((Part.PICTURE, drawing))
            result.draws_text = True
        if widget or (picture and _DESCRIPTION.fullmatch(text) and not any(texts.values())):
            if text and not _DEFAULT_REPR.fullmatch(text):
                result.pieces.append((Part.PICTURE, text))
            return
        markdown = data.get("text/markdown", "")
        markup = (data.get("text/html", ""), markdown)  # both are shown with the HTML in them
        unknown = any(
            mime != "text/plain" and mime not in _FORMS and not mime.startswith(_PICTURES)
            for mime in data
        )
        scripted = unknown or any(map(makes_more, markup))
        result.widgets += scripted and not picture
        value = _value(text, data, texts)
        if not value.text:
            result.pictures += not (scripted or picture) and any(m != "text/plain" for m in data)
            return
        result.values.append(value)
        result.pictures += sum(len(_DRAWN_IN_HTML.findall(each)) for each in markup)
        result.pictures += markdown.count("![")
        result.pieces.append((Part.VALUE, _named(name, value.text)))
        result.pieces += [(_FORMS[mime][0], texts[mime]) for mime, _ in value.forms]


def _unglued(output: NotebookNode) -> tuple[str, dict[str, str]]:
    """Return the data of an output, and its name if it is glued to be shown elsewhere."""
    glued = output.get("metadata", {}).get("scrapbook", {})
    prefix = glued.get("mime_prefix", "")
    data = {
        mime.removeprefix(prefix): _structured(data) if mime.endswith("json") else _text(data)
        for mime, data in output.data.items()
    }
    return (str(glued.get("name", "")) if prefix else ""), data


def _named(name: str, text: str) -> str:
    """Write a glued value as an assignment."""
    return f"{name} ={chr(10) if chr(10) in text.strip() else ' '}{text}" if name else text


def _value(text: str, data: dict[str, str], texts: dict[str, str]) -> Value:
    """Return a value; if its text is a default ``repr``, take the text of another form."""
    if text and not _DEFAULT_REPR.fullmatch(text):
        return Value(text, tuple((mime, data[mime]) for mime in texts if texts[mime]))
    for preferred, instead in texts.items():
        if instead:
            return Value(instead, tuple((mime, data[mime]) for mime in texts if mime != preferred))
    return Value("" if set(data) - {"text/plain"} else text)


def _text(data: object) -> str:
    """Return text that older notebooks store as a list of lines."""
    return "".join(data) if isinstance(data, list) else str(data)


def _structured(data: object) -> str:
    """Return JSON as text, each member on a line of its own; older notebooks store it as text."""
    return data if isinstance(data, str) else json.dumps(data, indent=2, ensure_ascii=False)


def repeatable(text: str) -> str:
    """Replace the temporary folder of a kernel's cells, and where Python's packages lie.

    Examples:
        >>> repeatable("/run/ipykernel_315/12.py:1: UserWarning: w")
        'ipykernel/12.py:1: UserWarning: w'
        >>> repeatable("/home/me/venv/lib/python3.11/site-packages/pandas/a.py:1: UserWarning: w")
        'site-packages/pandas/a.py:1: UserWarning: w'

    """
    varies = any(each in text for each in _VARYING)
    return _PATH.sub(lambda match: _without_folder(match[0]), text) if varies else text


def _without_folder(path: str) -> str:
    # If no match begins at the root, none begins further on: to try each place is quadratic.
    root = _ROOT.search(path) if any(each in path for each in _VARYING) else None
    folder = root and _VARYING_FOLDER.match(path, root.start())
    if not folder:
        return path
    name = folder[1].partition("_")[0] if folder[1].startswith("ipykernel") else folder[1]
    return f"{path[: folder.start()]}{name}/{path[folder.end() :]}"


def _join(pieces: Iterable[str]) -> str:
    """Join texts, each of which begins on a line of its own."""
    return "".join(piece if piece.endswith("\n") else piece + "\n" for piece in pieces if piece)


def address(text: str) -> str:
    """Return the first memory address in a text, which never prints the same twice.

    Examples:
        >>> bool(address("<function f at 0x7f3a10>")), bool(address("the flag 0x7f"))
        (True, False)

    """
    match = _ADDRESS.search(text)
    return match.group() if match else ""
