"""What no supported way gives of Sphinx: each use of it stands here.

`tests/test_private_api.py` says of each name what to do when it is no longer what it was.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.console import colorize
from sphinx.util.logging import NAMESPACE, get_node_location, is_suppressed_warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def page_data(env: BuildEnvironment) -> Any:
    """Return what lasts as long as a page is being read, by name: Sphinx 8.2 renamed it."""
    return env.current_document if hasattr(env, "current_document") else env.temp_data


def title_copies(env: BuildEnvironment) -> Iterator[nodes.Node]:
    """Yield the trees into which Sphinx has copied titles of pages."""
    for trees in (env.titles, env.longtitles, env.tocs):
        yield from trees.values()


def doctree_file(app: Sphinx, docname: str) -> Path:
    """Return where Sphinx keeps a page as it was read."""
    return Path(app.doctreedir, f"{docname}.doctree")


def fail_build(app: Sphinx) -> None:
    """Have the build's exit status be 1."""
    app.statuscode = 1


def colors_output() -> bool:
    """Return whether Sphinx may colour what it prints."""
    return colorize("bold", "") != ""


def add_warning_handler(handler: logging.Handler) -> None:
    """Have a handler get each warning of a build."""
    logging.getLogger(NAMESPACE).addHandler(handler)


def silence(module: str) -> None:
    """Show nothing that a module logs."""
    logging.getLogger(f"{NAMESPACE}.{module}").disabled = True


def is_silenced(app: Sphinx, record: logging.LogRecord) -> bool:
    """Return whether a project has its builds not show a warning."""
    kind, subkind = getattr(record, "type", ""), getattr(record, "subtype", "")
    return is_suppressed_warning(kind, subkind, app.config.suppress_warnings)


def location_of(record: logging.LogRecord) -> str:
    """Return the document or the place in a file that a warning names."""
    location = getattr(record, "location", None)
    if isinstance(location, nodes.Node):
        location = get_node_location(location)
    return str(location[0] if isinstance(location, tuple) else location or "")
