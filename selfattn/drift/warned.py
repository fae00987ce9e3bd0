"""Which pages Sphinx warned about: the next build reads them again, and so warns again.

Sphinx warns about a page only when it reads or writes it, so with ``-W`` a second build would be
green though nothing was mended.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.logging import NAMESPACE, get_node_location, is_suppressed_warning

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["listen", "load_warned", "save_warned"]


class _Listener(logging.Handler):
    """Collects the pages that warnings name."""

    def __init__(self, app: Sphinx) -> None:
        super().__init__(logging.WARNING)
        self.app = app
        self.docnames: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Note the page of a warning that counts."""
        kind, subkind = getattr(record, "type", ""), getattr(record, "subtype", "")
        if is_suppressed_warning(kind, subkind, self.app.config.suppress_warnings):
            return
        if docname := self._docname(getattr(record, "location", None)):
            self.docnames.add(docname)

    def _docname(self, location: object) -> str | None:
        """Return the page of a location: a page and a line, a node, or a file and a line."""
        if isinstance(location, tuple):
            return str(location[0])
        if isinstance(location, nodes.Node):
            location = get_node_location(location)
        path = str(location or "").partition(":")[0]
        return path if path in self.app.env.all_docs else self.app.env.path2doc(path)


def listen(app: Sphinx) -> None:
    """Begin to note what this build warns about."""
    logging.getLogger(NAMESPACE).addHandler(_Listener(app))


def load_warned(app: Sphinx) -> set[str]:
    """Return the pages that the last build warned about."""
    try:
        return set(json.loads(_place(app).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return set()


def save_warned(app: Sphinx, _exception: Exception | None) -> None:
    """Keep the pages for the next build, however this one ends."""
    listeners = [h for h in logging.getLogger(NAMESPACE).handlers if isinstance(h, _Listener)]
    docnames = set().union(*(each.docnames for each in listeners if each.app is app))
    if docnames or _place(app).exists():
        _place(app).write_text(json.dumps(sorted(docnames)), "utf-8")


def _place(app: Sphinx) -> Path:
    return Path(app.doctreedir, "drift-warned.json")
