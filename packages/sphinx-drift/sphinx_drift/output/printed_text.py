"""Read a cell's outputs as a reader sees them: stdout, stderr, and values in every form."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.lexer import plain
from sphinx_drift.output.html_text import ESCAPE_SHOWN, drawn_in, html_text
from sphinx_drift.output.screen import joined, on_screen
from sphinx_drift.output.tracebacks import messages, split_native_error

if TYPE_CHECKING:  # a build starts its host without it
    from nbformat import NotebookNode

PLAIN = "text/plain"
_PICTURE_TYPES = ("image/", "video/", "audio/")
_OF_EDITORS = tuple(
    f"application/vnd.{name}."
    for name in ("databricks", "deepnote", "google.colaboratory", "microsoft.datawrangler")
)
"""How the types begin that programs store for themselves beside what a cell displays."""
_INTERACTIVE = ("application/javascript", "application/vnd.jupyter.widget")
"""Types that MyST-NB always shows instead of the text beside them."""
_LOCATION = re.compile(r" \([^()\n]*, line \d+\)$")
"""The file and the line of a syntax error."""
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
"""The forms of a value beside its text, in MyST-NB's order of preference."""
FORMS = tuple(MIME_TYPES)
BESIDE = (*FORMS, Part.PICTURE, Part.TRACEBACK)
"""The parts that *all* leaves out, since most say again what it says."""
_JOINED = {
    Part.ALL: (Part.STDOUT, Part.VALUE, Part.STDERR),
    Part.MAIN: (Part.STDOUT, Part.VALUE),
    Part.STDERR: (Part.STDERR,),
}
"""The parts that make up a text; each such text ends with what the cell raised."""


def included_in(parts: Iterable[Part]) -> set[Part]:
    """Return some parts and what their texts say as well; an error is in its traceback too."""
    included = set(parts)
    for part in _JOINED.keys() & included:
        included |= {*_JOINED[part], Part.TRACEBACK}
    return included


@dataclass(frozen=True)
class Value:
    """A value as a reader sees it."""

    text: str
    """Its text, or that of its first other form if this is empty or a default ``repr``."""
    forms: dict[Part, str]
    """The text that is read from each other form that has any."""
    pictures: int
    """How many its HTML and Markdown show."""
    unknown: dict[Part, str]
    """Whatever may show more than the text of a form, such as a script."""


class Drawn(NamedTuple):
    """How many pictures a cell shows, and how many outputs that a script makes."""

    pictures: int = 0
    widgets: int = 0

    def changes(self, now: "Drawn") -> Iterator[tuple[str, int, int]]:
        """Yield what there are more or fewer of now, with both numbers."""
        for noun, before, after in zip(self._fields, self, now, strict=True):
            if before != after:
                yield noun, before, after


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
    """Whether the error was written to stderr, and not as an output."""

    def select(self, part: Part) -> str:
        """Return one part as text; all is stdout and values in order, then stderr.

        What a cell raised comes last, and belongs to *all*, to *main* and to *stderr*.
        """
        parts = _JOINED.get(part, (part,))
        pieces = [piece for piece in self.pieces if piece[0] in parts]
        pieces.sort(key=lambda piece: piece[0] is Part.STDERR)
        texts = [text for _, text in pieces] + [self.error] * (part in _JOINED)
        return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts if text)

    def unknown_in(self, part: Part) -> str:
        """Name what may show readers more than the text of a part; empty if nothing may."""
        for value in self.values:
            for form, what in value.unknown.items():
                is_text = part in OF_VALUES and value.text == value.forms.get(form)
                if what and (form is part or is_text):
                    return what
        return ""

    def glued_in(self, part: Part) -> list[str]:
        """Name what the text of a part holds and another place shows, which can have no mark."""
        if part in (Part.STDOUT, Part.STDERR, Part.TRACEBACK):
            return []
        return self.glued.get(part if part is Part.PICTURE else Part.VALUE, [])

    @property
    def drawn(self) -> Drawn:
        """What it shows that is no text."""
        return Drawn(self.pictures, self.widgets)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those of stdout, value and stderr that say something."""
        non_empty = {part for part, text in self.pieces if plain(text).strip()}
        if self.native_error:
            non_empty.add(Part.STDERR)
        return tuple(part for part in _JOINED[Part.ALL] if part in non_empty)


def read_outputs(outputs: Iterable["NotebookNode"], *, raised: bool = True) -> Printed:
    """Read the outputs of a cell: the text of each part, and the number of pictures.

    Each stream is one text between two displays, and what a terminal is left showing of it.

    Args:
        outputs: The outputs of the cell, in order.
        raised: Whether it may have raised an error, so that what ends stderr may be one.

    """
    result = Printed()
    for output in joined(outputs):
        if output.output_type == "stream":
            part = Part.STDERR if output.name == "stderr" else Part.STDOUT
            result.pieces.append((part, on_screen(output.text)))
        else:
            (_add_error if output.output_type == "error" else _add_display)(result, output)
    may_be_native = raised and not result.error and result.pieces
    if may_be_native and result.pieces[-1][0] is Part.STDERR:
        text, result.error = split_native_error(result.pieces.pop()[1])
        result.pieces.append((Part.STDERR, text))
        result.native_error = bool(result.error)
    return result


def glue(output: "NotebookNode") -> tuple[str, str]:
    """Return the prefix of a display's types and its name, as it is glued to be shown elsewhere."""
    scrapbook = output.get("metadata", {}).get("scrapbook", {})
    return scrapbook.get("mime_prefix", ""), str(scrapbook.get("name", ""))


def as_stored(
    outputs: Iterable["NotebookNode"], stored_as: Iterable[frozenset[str]]
) -> Iterator["NotebookNode"]:
    """Yield a cell's outputs, without the text of each display that was stored without it.

    It has other forms alone, such as HTML: whatever its text is, no reader sees it.
    """
    displays = iter(stored_as)
    for output in outputs:
        stored = next(displays, frozenset()) if "data" in output else frozenset()
        text = glue(output)[0] + PLAIN
        if stored and text not in stored and stored & output.data.keys():
            data = {mime: content for mime, content in output.data.items() if mime != text}
            yield type(output)(output, data=data)
        else:
            yield output


def _add_error(result: Printed, output: "NotebookNode") -> None:
    """Add what a cell raised: its type, message and notes, and those in the traceback."""
    result.error = ": ".join(str(part) for part in (output.ename, output.evalue) if part)
    if text := messages(output.get("traceback", ()), str(output.ename)):
        result.pieces.append((Part.TRACEBACK, text))
        # A traceback has it without its colors and, of a syntax error, without its line.
        error = _LOCATION.sub("", plain(result.error)).rstrip()
        _, message, notes = f"\n{text}".rpartition(f"\n{error}")
        notes = notes.lstrip(" ")
        if message and notes.startswith(("\n", ":\n")):
            result.error = error + notes


def _add_display(result: Printed, output: "NotebookNode") -> None:
    """Add what a cell displays, or glues to be shown elsewhere: a value, a picture, a widget."""
    prefix, name = glue(output)
    data = {mime.removeprefix(prefix): _as_text(content) for mime, content in output.data.items()}
    value = _value(data)
    of_editors = {mime for mime in data if mime.startswith(_OF_EDITORS)}
    others = data.keys() - {PLAIN, *MIME_TYPES.values()}
    if data.keys() > of_editors:  # a reader is shown the other types
        others -= of_editors
    has_image = any(mime.startswith(_PICTURE_TYPES) for mime in others)
    # A video of YouTube has a picture only where it was loaded, and nobody sees it.
    has_picture = has_image and not value.unknown[Part.HTML]
    result.pictures += has_picture + value.pictures
    result.widgets += not has_picture and bool(others or any(value.unknown.values()))

    drawing = html_text(data.get("image/svg+xml", ""))
    result.draws_text |= bool(drawing)
    pieces = [(Part.PICTURE, drawing)] if drawing else []
    if _stands_in(data, is_figure=has_image and not value.forms):
        text = data.get(PLAIN, "")
        if text and not _DEFAULT_REPR.fullmatch(text):  # a default `repr` says nothing
            pieces.append((Part.PICTURE, text))
    elif value.text:
        result.values.append(value)
        space = "\n" if "\n" in value.text.strip() else " "
        text = f"{name} ={space}{value.text}" if prefix else value.text
        pieces += [(Part.VALUE, text), *value.forms.items()]
    result.pieces += pieces
    for part, _ in pieces if name else ():
        if part is not Part.PICTURE or drawing:
            result.glued.setdefault(part, []).append(name)


def _stands_in(data: Mapping[str, str], *, is_figure: bool) -> bool:
    """Whether a display's text is shown only where its picture or widget can't be."""
    describes = is_figure and _DESCRIPTION.fullmatch(data.get(PLAIN, ""))
    return bool(describes) or any(mime.startswith(_INTERACTIVE) for mime in data)


def _as_text(content: object) -> str:
    """Return what an output holds as text, JSON with sorted keys, as notebooks store it."""
    if isinstance(content, str):
        return content
    return json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)


def _value(data: Mapping[str, str]) -> Value:
    """Read a value: its text, that of each other form, and what these may show besides."""
    texts = {part: data.get(mime, "") for part, mime in MIME_TYPES.items()}
    html, markdown = drawn_in(texts[Part.HTML]), drawn_in(_rendered(texts[Part.MARKDOWN]))
    texts[Part.HTML] = html_text(texts[Part.HTML])
    # No form is shown by a terminal: its codes hide none of it.
    shown = {part: text.replace("\x1b", ESCAPE_SHOWN) for part, text in texts.items()}
    forms = {part: text for part, text in shown.items() if text.strip()}
    text = data.get(PLAIN, "")
    if data.keys() - {PLAIN} and (not text.strip() or _DEFAULT_REPR.fullmatch(text)):
        text = next(iter(forms.values()), "")
    unknown = {Part.HTML: html.unknown, Part.MARKDOWN: markdown.unknown}
    return Value(text, forms, html.pictures + markdown.pictures, unknown)


def _rendered(markdown: str) -> str:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - slow

    return MarkdownIt("commonmark").enable("table").render(markdown) if markdown else ""
