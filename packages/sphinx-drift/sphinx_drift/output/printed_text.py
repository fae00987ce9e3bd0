"""Read a cell's outputs as a reader sees them: stdout, stderr, and values in every form."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import plain
from sphinx_drift.output.filters import repeatable
from sphinx_drift.output.html_text import ESCAPE_SHOWN, drawn_in, html_text
from sphinx_drift.output.screen import on_screen
from sphinx_drift.output.tracebacks import messages, split_native_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nbformat import NotebookNode

_PLAIN, _SVG = "text/plain", "image/svg+xml"
_PICTURES = ("image/", "video/", "audio/")
_WIDGETS = ("application/javascript", "application/vnd.jupyter.widget")
"""What MyST-NB shows and not the text beside it, whatever that is."""
_PLACE = re.compile(r" \([^()\n]*, line \d+\)$")
"""Where the error of a syntax is."""
_DEFAULT_REPR = re.compile(r"<[\w.]+(?: object| at 0x[0-9a-fA-F]+)+>\s*")
_DESCRIPTION = re.compile(r"<[^<>]*>\s*")


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


OF_VALUES = {Part.ALL, Part.MAIN, Part.VALUE}
"""The parts that document the text of a value."""
MIME_TYPES = {
    Part.HTML: "text/html",
    Part.MARKDOWN: "text/markdown",
    Part.LATEX: "text/latex",
    Part.JSON: "application/json",
}
"""The forms of a value beside its text, in the order in which MyST-NB prefers them."""
FORMS = tuple(MIME_TYPES)
BESIDE = (*FORMS, Part.PICTURE, Part.TRACEBACK)
"""The parts that show the same value in another form than text."""


@dataclass(frozen=True)
class Value:
    """A value as text, what a reader sees of each other form, and what it draws."""

    text: str
    """That of its first other form if its own is a default ``repr``."""
    forms: dict[Part, str]
    unknown: dict[Part, str]
    """What in a form may show more than the text that is read from it, such as a script."""
    pictures: int
    widgets: int
    """How many outputs a script makes, or nobody here can read."""


@dataclass
class Printed:
    """The texts that a cell printed, in order, and how many of its outputs are not text."""

    pieces: list[tuple[Part, str]] = field(default_factory=list)
    error: str = ""
    """``ErrorType: message`` if the cell raised, and the notes that were added to it."""
    pictures: int = 0
    widgets: int = 0
    values: list[Value] = field(default_factory=list)
    glued: dict[Part, list[str]] = field(default_factory=dict)
    """The names of values and of pictures with text that are shown elsewhere."""
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

    def unknown_in(self, part: Part) -> str:
        """Name what may show readers more than the text of a part; empty if nothing may."""
        found = (
            what
            for value in self.values
            for form, what in value.unknown.items()
            if form is part or (part in OF_VALUES and value.text == value.forms.get(form))
        )
        return next(found, "")

    @property
    def drawn(self) -> tuple[int, int]:
        """How many pictures it shows, and how many outputs that a script makes."""
        return self.pictures, self.widgets

    @property
    def parts(self) -> tuple[Part, ...]:
        """The streams that are not empty."""
        streams = (Part.STDOUT, Part.VALUE, Part.STDERR)
        non_empty = {name for name, text in self.pieces if plain(text).strip()}
        if self.native_error:
            non_empty.add(Part.STDERR)
        return tuple(stream for stream in streams if stream in non_empty)


def printed(outputs: Iterable[NotebookNode]) -> Printed:
    """Read the outputs of a cell: the text of each form, and the number of pictures."""
    result = Printed()
    streams: dict[Part, list[str]] = {}
    """What each stream has written since something was displayed."""
    for output in outputs:
        if output.output_type == "stream":
            part = Part.STDERR if output.name == "stderr" else Part.STDOUT
            streams.setdefault(part, []).append(_text(output.text))
            continue
        _end_streams(result, streams)
        if output.output_type == "error":
            _add_error(result, output)
        else:
            _add_data(result, output)
    _end_streams(result, streams)
    result.pieces = [_on_screen(result, *piece) for piece in result.pieces]
    return result


def _end_streams(result: Printed, streams: dict[Part, list[str]]) -> None:
    result.pieces += [(part, "".join(texts)) for part, texts in streams.items()]
    streams.clear()


def _on_screen(result: Printed, part: Part, text: str) -> tuple[Part, str]:
    """Return a stream as a terminal shows it, and keep the error at the end of stderr."""
    if part not in (Part.STDOUT, Part.STDERR):
        return part, text
    text = repeatable(on_screen(text))
    if part is Part.STDERR and not result.error:
        text, result.error = split_native_error(text)
        result.native_error = bool(result.error)
    return part, text


def _add_error(result: Printed, output: NotebookNode) -> None:
    """Add what a cell raised: its type, message and notes, and those in the traceback."""
    result.error = ": ".join(str(part) for part in (output.ename, output.evalue) if part)
    if text := messages(output.get("traceback", ()), str(output.ename)):
        result.pieces.append((Part.TRACEBACK, text))
        # A traceback has it without its colors and, of a syntax error, without its place.
        error = _PLACE.sub("", plain(result.error)).rstrip()
        _, message, notes = f"\n{text}".rpartition(f"\n{error}")
        notes = notes.lstrip(" ")
        if message and notes.startswith(("\n", ":\n")):
            result.error = error + notes


def _add_data(result: Printed, output: NotebookNode) -> None:
    """Add a value, a picture or a widget, which may be glued to be shown elsewhere."""
    glued = output.get("metadata", {}).get("scrapbook", {})
    prefix, name = glued.get("mime_prefix", ""), str(glued.get("name", ""))
    data = {
        mime.removeprefix(prefix): _structured(data) if mime.endswith("json") else _text(data)
        for mime, data in output.data.items()
    }
    pieces: list[tuple[Part, str]] = []
    if drawing := html_text(data.get(_SVG, "")):
        pieces.append((Part.PICTURE, drawing))
        result.draws_text = True
    value = _value(data)
    if _is_description(value, data):
        text = data.get(_PLAIN, "")
        if text and not _DEFAULT_REPR.fullmatch(text):
            pieces.append((Part.PICTURE, text))
    elif value.text:
        result.values.append(value)
        text = _assigned(name, value.text) if prefix else value.text
        pieces += [(Part.VALUE, text), *value.forms.items()]
    result.pieces += pieces
    result.pictures += value.pictures
    result.widgets += value.widgets
    for part, _ in pieces if name else ():
        if part is not Part.PICTURE or drawing:
            result.glued.setdefault(part, []).append(name)


def _is_description(value: Value, data: Mapping[str, str]) -> bool:
    """Whether a text stands beside a picture or widget, and is shown where that can't be."""
    if any(mime.startswith(_WIDGETS) for mime in data):
        return True
    is_picture = any(mime.startswith(_PICTURES) for mime in data)
    return is_picture and not value.forms and bool(_DESCRIPTION.fullmatch(value.text))


def _value(data: Mapping[str, str]) -> Value:
    """Read a value: its text, or that of its first other form if its own says nothing."""
    text, forms = data.get(_PLAIN, ""), _forms(data)
    if data.keys() - {_PLAIN} and (not text.strip() or _DEFAULT_REPR.fullmatch(text)):
        text = next(iter(forms.values()), "")
    markup = {
        Part.HTML: data.get("text/html", ""),
        Part.MARKDOWN: _rendered(data.get("text/markdown", "")),
    }
    drawn = {part: drawn_in(html) for part, html in markup.items()}
    unknown = {part: what for part, (_, what) in drawn.items() if what}
    others = data.keys() - {_PLAIN, *MIME_TYPES.values()}
    has_picture = any(mime.startswith(_PICTURES) for mime in others)
    is_unread = bool(unknown) or any(not mime.startswith(_PICTURES) for mime in others)
    pictures = has_picture + sum(pictures for pictures, _ in drawn.values())
    if not (text or pictures or is_unread):  # HTML without a text, say
        pictures = int(data.keys() != {_PLAIN})
    return Value(text, forms, unknown, pictures, int(is_unread and not has_picture))


def _assigned(name: str, text: str) -> str:
    """Write a glued value as an assignment."""
    return f"{name} ={chr(10) if chr(10) in text.strip() else ' '}{text}"


def _forms(data: Mapping[str, str]) -> dict[Part, str]:
    """Return what a reader sees of each form but text."""
    texts = {part: data.get(mime, "") for part, mime in MIME_TYPES.items()}
    texts[Part.HTML] = html_text(texts[Part.HTML])
    # No form is shown by a terminal: its codes hide none of it.
    shown = {part: text.replace("\x1b", ESCAPE_SHOWN) for part, text in texts.items()}
    return {part: text for part, text in shown.items() if text.strip()}


def _rendered(markdown: str) -> str:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - slow

    return MarkdownIt("commonmark").enable("table").render(markdown) if markdown else ""


def _text(data: object) -> str:
    """Return text that older notebooks store as a list of lines."""
    return "".join(data) if isinstance(data, list) else str(data)


def _structured(data: object) -> str:
    """Return JSON as text, each member on a line of its own; older notebooks store it as text."""
    return (
        data
        if isinstance(data, str)
        else json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True)
    )


def _join(pieces: Iterable[str]) -> str:
    """Join texts, each of which begins on a line of its own."""
    return "".join(piece if piece.endswith("\n") else piece + "\n" for piece in pieces if piece)
