"""What keeps a copy of the book in a reader's browser: a service worker, and the list of files.

The worker's own text changes with any file of the book, which is how browsers notice a new build.
`book.js` has it registered once somebody reads. A live session's pages have none: they change all
the time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from website.theme import THEME

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WORKER, LIST = "offline.js", "offline.json"
HEAD = re.compile(r"^//.*\n", re.MULTILINE)
LINKED = re.compile(r"""(?:href|src)="(?:\.\./)*((?:_static/|searchindex\.js)[^"#?]*)""")


def files(site: Path, pages: list[str]) -> list[str]:
    """Return the pages of a site that are there, the files that they use, and the fonts."""
    there = [page for page in pages if (site / page).is_file()]
    used = {file for page in there for file in LINKED.findall((site / page).read_text("utf-8"))}
    fonts = {path.relative_to(site).as_posix() for path in site.glob("_static/fonts/*.woff2")}
    return sorted({*there, *fonts, *(file for file in used if (site / file).is_file())})


def digest(data: bytes) -> str:
    """Return a digest as browsers compare it before they take a file."""
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"


def write(site: Path, pages: list[str]) -> None:
    """Write the list of a site's files, and the worker."""
    listed = {name: digest((site / name).read_bytes()) for name in files(site, pages)}
    text = json.dumps(listed, indent=0)
    (site / LIST).write_text(text, "utf-8")
    worker = HEAD.sub("", (THEME / WORKER).read_text("utf-8"))
    (site / WORKER).write_text(worker.replace("@BUILD@", digest(text.encode())), "utf-8")


def write_for_build(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name not in {"html", "dirhtml"}:
        return
    found = [app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
    pages = [page if page.endswith(".html") else f"{page}index.html" for page in found]
    write(Path(app.outdir), [*pages, "genindex.html", "search.html"])


def setup(app: Sphinx) -> None:
    app.connect(
        "build-finished", write_for_build, priority=950
    )  # after all who write or remove files
