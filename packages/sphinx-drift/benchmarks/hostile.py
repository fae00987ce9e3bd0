"""Time how long hostile outputs take to read, at three sizes, each in another process.

Run it from the project's root as ``nox -s hostile``.
"""

import multiprocessing
import multiprocessing.connection
import resource
import sys
import time
from collections.abc import Callable

from nbformat import v4

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.output.filters import DEFAULTS, apply_filters
from sphinx_drift.output.html_text import html_text
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.output.screen import on_screen
from sphinx_drift.output.tracebacks import messages, split_native_error
from sphinx_drift.source.markdown import config_without_book, find_opening, read_markdown
from sphinx_drift.source.notebook import read_notebook


def _filtered(text: str) -> object:
    return apply_filters(text, DEFAULTS)


def _longer(text: str) -> object:
    return compare(text, f"{text}1")


def _printed(text: str, form: str = "html") -> object:
    data = {"text/plain": "x", f"text/{form}": text}
    return read_outputs([v4.new_output("display_data", data)])


def _printed_streams(text: str) -> object:
    pieces = enumerate(text[i : i + 9] for i in range(0, len(text), 9))
    names = ("stdout", "stderr")
    return read_outputs(
        [v4.new_output("stream", name=names[n % 2], text=piece) for n, piece in pieces]
    )


def _rounded(text: str, documented: str, executed: str, precise: str = "") -> object:
    """Compare a text in which a number is another one, with its digits at full precision if any."""
    in_full = text.replace(documented, precise) if precise else None
    executed = text.replace(documented, executed)
    return compare(text, executed, policy=Policy.PORTABLE, precise=in_full)


def _periods(text: str) -> object:
    count = len(text) // 8
    left = " ".join(f"w{n % 99} ," for n in range(count))
    return compare(left, ", " + " ".join(f"w{n % 98} ;" for n in range(count)))


def _page(text: str) -> object:
    return read_markdown(f"~~~md\n{text}~~~\n", config_without_book())


def _cell(text: str) -> object:
    return read_notebook(v4.new_notebook(cells=[v4.new_code_cell(f"x{text}")]))


def _nested(text: str) -> str:
    depth = len(text) // 12
    return f"{'[' * depth}{text}{']' * depth}"


SHAPES: dict[str, tuple[Callable[[str], object], str, str]] = {
    "slashes before a kernel": (_filtered, "/", " ipykernel_1"),
    "slashes in a path": (_filtered, "/", "ipykernel_"),
    "roots in a path": (_filtered, "//a", "ipykernel_"),
    "addresses": (_filtered, "at 0x7f", ""),
    "addresses in color": (_filtered, "\x1b[1mat 0x7f19f0a1\x1b[0m ", ""),
    "digits of one number": (_filtered, "9", ""),
    "dots in a time": (_filtered, "1..", ""),
    "times after a time": (_filtered, " 2min", ""),
    "marks before a fence": (find_opening, "1. ", "x"),
    "erased lines": (on_screen, "x\x1b[2K", ""),
    "lines erased and written back": (on_screen, "xx\x1b[2K\bx", ""),
    "colours that end where the line begins": (on_screen, "\x1b[39m\r\x1b[49m\r", ""),
    "links": (on_screen, "\x1b]8;;", "\r"),
    "progress": (on_screen, "\r50%", ""),
    "hidden tags": (html_text, "<template></title>", ""),
    "headers of tracebacks": (lambda text: messages([text]), " ", "x"),
    "frames": (lambda text: messages([text]), "--> ", ""),
    "groups of errors": (split_native_error, "  + Exception Group", ""),
    "words that all differ": (lambda text: compare(text, text.replace("1", "2")), "a 1 ", ""),
    "one more": (lambda text: compare(text, f"x {text}"), "a 1 ", ""),
    "brackets": (_longer, "[(", "1"),
    "numbers in many brackets": (
        lambda text: _rounded(_nested(text), "78", "79", "79"),
        "0.12345678, ",
        "1",
    ),
    "quotation marks": (_longer, "['", "1"),
    "escapes": (_longer, "\x1b]", "1"),
    "numbers that move each other": (
        lambda text: _rounded(text, " 9.99", "10.00", " 9.994999885559082"),
        "a  9.99 ",
        "",
    ),
    "comments without an end": (html_text, "<!--x>", ""),
    "comments alone": (html_text, "<!--", ""),
    "marked sections": (html_text, "<![CDATA[x>", ""),
    "unknown sections": (html_text, "<![x ", "]>"),
    "tags without an end": (html_text, "<a b='", ""),
    "end tags without an end": (html_text, "</", ""),
    "instructions": (html_text, "<?", ""),
    "declarations": (html_text, "<!x", ""),
    "tags in a script": (html_text, "<script></a ", ""),
    "references": (html_text, "&#1", ""),
    "many tags": (html_text, "x<b>", ""),
    "many tags in a cell": (lambda text: html_text(f"<td>{text}"), "x<b>", ""),
    "frames in frames": (html_text, "<iframe srcdoc='", "x"),
    "lists": (html_text, "<ul><li>", "x"),
    "drawings": (html_text, "<svg>", "x"),
    "frames with scripts": (_printed, "<iframe srcdoc='&lt;a onx=", "'>"),
    "frames that load": (_printed, "<iframe src ", ""),
    "escaped objects": (_printed, "lt;object ", ""),
    "lists in Markdown": (lambda text: _printed(text, "markdown"), "1. *a\n", ""),
    "brackets in Markdown": (lambda text: _printed(text, "markdown"), "[](", ""),
    "periods that differ": (_periods, "w ", ""),
    "rows moved": (lambda text: compare(text, f"b\n{text}b\n"), "a 1\n", ""),
    "accepted beside wide": (lambda text: _rounded(text, "0.5", "0.6"), "[0.5] ", ""),
    "one number": (_longer, "9", ""),
    "exponents": (_longer, "1e", ""),
    "grad_fn": (_longer, "grad_fn=<", ""),
    "devices": (_longer, ",   device=", ""),
    "white space": (_longer, " ", "x"),
    "colours": (on_screen, "\x1b[1m", "\rx"),
    "tabs": (_longer, "\t", "x"),
    "rows of a fence": (_page, "```{code-cell}\n", ""),
    "lines of a cell": (_cell, "\n", "x y"),
    "many streams": (_printed_streams, "ab", ""),
}
"""Each with what reads it, what is repeated, and what ends it."""

SIZES = (10_000, 100_000, 1_000_000)
LIMIT = 60
"""Seconds of a processor after which a text is given up."""


def main(names: list[str]) -> None:
    """Print a table of seconds."""
    print(f"{'shape':32}" + "".join(f"{size:>11,}" for size in SIZES) + "   last growth")
    for name in names or SHAPES:
        times = [_seconds(name, size) for size in SIZES]
        growth = times[-1] / max(times[-2], 0.001)
        print(
            f"{name:32}" + "".join(f"{seconds:11.3f}" for seconds in times) + f"{growth:11.1f}",
            flush=True,
        )


def _seconds(name: str, size: int) -> float:
    """Return how long a text takes; infinity if longer than the limit."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_read, args=(name, size, writer))
    process.start()
    writer.close()
    try:
        seconds: float = reader.recv()
    except EOFError:
        seconds = float("inf")
    process.join()
    return seconds


def _read(name: str, size: int, writer: multiprocessing.connection.Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    read, piece, end = SHAPES[name]
    text = piece * (size // len(piece)) + end
    start = time.process_time()
    read(text)
    writer.send(time.process_time() - start)


if __name__ == "__main__":
    main(sys.argv[1:])
