"""Names of this machine alone: the folders of the book, of Python and of the user."""

import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from sphinx_drift.compare.lexer import plain
from sphinx_drift.folders import OF_BOOK, OF_PROJECT, nearest
from sphinx_drift.output.filters import Filter

NAME = "path of this machine"
_COMMON = {"admin", "build", "home", "host", "local", "localhost", "root", "runner", "user"}
"""Names of hosts and users that many texts contain, and that identify nobody."""
_SHARED = ("/usr", "/usr/local")
"""Where systems keep Python, and much else that is the same on every machine."""
_OF_PYTHON = r"(?=/(?:bin|lib\d*)/(?:python|pypy))"


@lru_cache(maxsize=64)
def machine_paths(folder: Path) -> tuple[Filter, ...]:
    """Return filters that name the folders of this machine, for a page that runs in one of them.

    Examples:
        >>> from sphinx_drift.output.filters import apply_filters
        >>> apply_filters("/srv/one/book/tool.py", machine_paths(Path("/srv/one/book")))
        '<book>/tool.py'

    """
    names: dict[Path | None, str] = {
        Path("/tmp"): "<tmp>",  # noqa: S108 - its name alone
        Path(tempfile.gettempdir()): "<tmp>",
        Path.home(): "<home>",
        Path(sys.base_prefix): "<env>",
        Path(sys.prefix): "<env>",
        nearest(folder, OF_PROJECT): "<project>",
        nearest(folder, OF_BOOK) or folder: "<book>",
    }
    roots = {
        str(path): name
        for root, name in names.items()
        if root is not None
        for path in (root, root.resolve())
        if path != Path(path.anchor)
    }
    return tuple(_filter(root, roots[root]) for root in sorted(roots, key=len, reverse=True))


def _filter(root: str, shown: str) -> Filter:
    before, end = r"(?<![\w./>-])", r"(?![\w.-])"
    if root in _SHARED:  # and in no line that begins a script
        before, end = r"(?<![\w./>!-])", _OF_PYTHON
    return Filter(re.compile(f"{before}{re.escape(root)}{end}"), NAME, shown)


def names_in(text: str) -> Iterator[str]:
    """Yield the names of this machine and of its user that a text holds."""
    host, text = socket.gethostname(), plain(text.replace(r"\u001b", "\x1b"))  # of JSON
    for name in dict.fromkeys((host, host.partition(".")[0], Path.home().name)):
        is_telling = len(name) > 2 and name.lower() not in _COMMON  # noqa: PLR2004 - `me`, `pi`
        if is_telling and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            yield name
