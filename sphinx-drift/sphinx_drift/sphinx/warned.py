"""Which pages Sphinx warned about: the next build reads them again, and so warns again.

Sphinx warns about a page only when it reads or writes it, so with ``-W`` a second build would be
green though nothing was mended.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.sphinx.builds import build_of
from sphinx_drift.sphinx.files import replace_text
from sphinx_drift.sphinx.private_sphinx import (
    add_warning_handler,
    is_silenced,
    location_of,
    page_data,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


class Listener(logging.Handler):
    """Collects the files that warnings name, and the pages that were then being read."""

    def __init__(self, app: Sphinx) -> None:
        super().__init__(logging.WARNING)
        self.app = app
        self.paths: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Note the file of a warning that counts, and the page."""
        if is_silenced(self.app, record):
            return
        env = self.app.env
        name = location_of(record)
        for docname in {name, page_data(env).get("docname", "")} & env.found_docs:
            self.paths.add(str(env.doc2path(docname)))
        if name not in env.found_docs and (match := _LOCATION.fullmatch(name)):
            self.paths.add(match[1])

    def docnames(self) -> set[str]:
        """Return the pages that were read from these files: their own, included, documented."""
        env = self.app.env
        sources = {
            docname: {env.doc2path(docname), *(Path(env.srcdir, name) for name in names)}
            for docname in env.all_docs
            for names in (env.dependencies.get(docname, ()),)
        }
        warned = {Path(env.srcdir, path) for path in self.paths}
        return {docname for docname, paths in sources.items() if paths & warned}


_LOCATION = re.compile(r"(.+?)(?::docstring of .*|:\d*)?")
"""A file, and a place in it: a path may have colons too."""


def listen(app: Sphinx) -> None:
    """Begin to note what this build warns about."""
    build_of(app.env).listener = listener = Listener(app)
    add_warning_handler(listener)


def load_warned(app: Sphinx) -> set[str]:
    """Return the pages that the last build warned about."""
    try:
        return set(json.loads(_place(app).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return set()


def keep_warned(app: Sphinx, _env: BuildEnvironment) -> None:
    """Keep the pages of this build too before Sphinx keeps them as read: it may be ended."""
    _save(app, load_warned(app) | build_of(app.env).listener.docnames())


def save_warned(app: Sphinx, exception: Exception | None) -> None:
    """Keep the pages for the next build: those alone if this one has come to its end."""
    _save(app, build_of(app.env).listener.docnames() | (load_warned(app) if exception else set()))


def _save(app: Sphinx, docnames: set[str]) -> None:
    if docnames or _place(app).exists():
        replace_text(_place(app), json.dumps(sorted(docnames)))


def _place(app: Sphinx) -> Path:
    return Path(app.doctreedir, "drift-warned.json")
