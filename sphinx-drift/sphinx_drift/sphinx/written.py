"""Which pages have been written as they were last read: for each builder and its folder.

Sphinx goes by the times of sources, so it would leave a page as it is that was read again for its
outputs alone, if the build that read it was ended before it wrote it, or wrote into another folder.
A digest in the folder tells whether it is still as it was left, or has been put back from a copy.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.sphinx.builds import build_of
from sphinx_drift.sphinx.files import replace_text
from sphinx_drift.sphinx.quotations import quoted_by_page
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment


def leave_mark_out(_app: Sphinx, config: Config) -> None:
    """Keep the digest out of e-books, whose builder warns of files that it doesn't know."""
    config.epub_exclude_files = [*config.epub_exclude_files, _MARK_FILE]


def note_written(app: Sphinx, _doctree: nodes.document, docname: str) -> None:
    """Note that a page is about to be written."""
    build_of(app.env).written.add(docname)


def outdated_outputs(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that show something else than they would if they were written now."""
    written, quoted = _load(app), quoted_by_page(env)
    return [name for name in app.env.found_docs if written.get(name) != _now(app, quoted, name)]


def mark_written(app: Sphinx) -> None:
    """Remember that the pages of this build have been written as they are now."""
    written, quoted = _load(app), quoted_by_page(app.env)
    docnames = build_of(app.env).written & app.env.all_docs.keys()
    new = {name: _now(app, quoted, name) for name in docnames}
    pages = {name: what for name, what in {**written, **new}.items() if name in app.env.found_docs}
    if pages == written:
        return
    place, digest = _place(app), _digest(app, quoted)
    place.parent.mkdir(exist_ok=True)
    replace_text(place, json.dumps({"digest": digest, "pages": pages}))
    replace_text(Path(app.outdir, _MARK_FILE), f"{digest}\n")


def _now(app: Sphinx, quoted: Mapping[str, Any], docname: str) -> list[Any]:
    return [app.env.all_docs.get(docname), quoted.get(docname)]


def _load(app: Sphinx) -> dict[str, Any]:
    """Return what was written; nothing if that isn't what stands in the folder."""
    try:
        written = json.loads(_place(app).read_text("utf-8"))
        digest = Path(app.outdir, _MARK_FILE).read_text("utf-8").strip()
        return dict(written["pages"]) if written["digest"] == digest else {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


_MARK_FILE = ".driftinfo"


def _digest(app: Sphinx, quoted: Mapping[str, Any]) -> str:
    """Return a digest of all that pages show: two builds of one source leave the same."""
    state = state_of(app.env)
    shown = {name: run.shown for name, run in state.runs.items()}
    parts = [state.texts, shown, quoted]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _place(app: Sphinx) -> Path:
    output = hashlib.sha256(str(app.outdir).encode()).hexdigest()[:16]
    return Path(app.doctreedir, "drift-written", f"{app.builder.name}-{output}.json")
