"""Which pages have been written as they were last read: for each builder and its folder.

Sphinx goes by the times of sources, so it would leave a page as it is that was read again for its
outputs alone, if the build that read it was ended before it wrote it, or wrote into another folder.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sphinx.application import Sphinx

__all__ = ["mark_written", "outdated_outputs"]


def outdated_outputs(app: Sphinx, quoted: Mapping[str, Any]) -> list[str]:
    """Return the pages that show something else than they would if they were written now.

    Args:
        app: The application.
        quoted: What each page quotes of others.

    """
    written = _load(app)
    return [name for name in app.env.found_docs if written.get(name) != _now(app, quoted, name)]


def mark_written(app: Sphinx, quoted: Mapping[str, Any], docnames: Iterable[str]) -> None:
    """Remember that pages have been written as they are now."""
    written = _load(app)
    new = {name: _now(app, quoted, name) for name in docnames if name in app.env.all_docs}
    kept = {name: what for name, what in {**written, **new}.items() if name in app.env.found_docs}
    if kept == written:
        return
    place = _place(app)
    place.parent.mkdir(exist_ok=True)
    unfinished = place.with_suffix(".new")
    unfinished.write_text(json.dumps(kept), "utf-8")
    unfinished.replace(place)


def _now(app: Sphinx, quoted: Mapping[str, Any], docname: str) -> list[Any]:
    return [app.env.all_docs.get(docname), quoted.get(docname)]


def _load(app: Sphinx) -> dict[str, Any]:
    try:
        written = json.loads(_place(app).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return written if isinstance(written, dict) else {}


def _place(app: Sphinx) -> Path:
    output = hashlib.sha256(str(app.outdir).encode()).hexdigest()[:16]
    return Path(app.doctreedir, "drift-written", f"{app.builder.name}-{output}.json")
