"""The page's furniture: the theme, one small style sheet, and what was verified, at the foot."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util.i18n import format_date

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.report.text import describe_environment
from sphinx_drift.sphinx.state import results_of

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from sphinx_drift.compare.outcomes import PageResult


THEME = Path(__file__).parents[1] / "_theme"
SHEETS = [
    THEME / "styles" / f"{name}.css"
    for name in (
        *("fonts", "colours", "base", "chrome", "article", "code", "math", "figures"),
        *("reference", "print"),
    )
]
BUNDLE = "book.css"

# Style sheets that the bundle replaces, and when a page needs one that it does not.
REPLACED = re.compile(
    r"(basic|pygments|theme|copybutton|exercise|sphinx-codeautolink)\.css$"
    r"|styles/|mystnb\."
)
NEEDED = {
    "sphinx-design.min.css": re.compile(r"\bsd-(row|tab|btn|badge|card-title|card-img)"),
    "design-tabs.js": re.compile(r'class="sd-tab'),
}
# Scripts of the inherited themes, and those of Sphinx that only its search page uses.
DROPPED = re.compile(r"scripts/|togglebutton")
SEARCH_ONLY = re.compile(
    r"documentation_options|doctools|sphinx_highlight|searchtools|language_data"
)
# Files that the inherited themes leave among the static ones and no page refers to.
UNUSED = (
    "basic.css", "file.png", "images", "locales", "minus.png", "plus.png", "pygments.css",
    "sbt-webpack-macros.html", "scripts", "styles", "vendor", "webpack-macros.html",
)  # fmt: skip

# What others write into pages and a screen reader stumbles over.
MENDED = (
    ('<th class="head"><p></p></th>', "<td></td>"),  # the corner of a table heads nothing
    ('<summary aria-label="Toggle hidden content">', "<summary>"),  # it says something else
    (' role="doc-biblioentry"', ""),  # a role for lists, on something that is none
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
)


def bundle(sheets: list[Path]) -> str:
    """Join style sheets, without comments and spare space."""
    text = "\n".join(sheet.read_text("utf-8") for sheet in sheets)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    return re.sub(r" ?([{};,]) ?", r"\1", text).replace(";}", "}").strip() + "\n"


def write_bundle(app: Sphinx) -> None:
    """Write the theme's one style sheet where Sphinx looks for static files."""
    if app.builder.format != "html" or app.builder.name == "epub":
        return
    app.add_js_file("book.js", loading_method="defer")
    folder = app.outdir / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / BUNDLE).write_text(bundle(SHEETS), "utf-8")


def furnish(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Leave a page the files it needs, and tell its readers what was verified."""
    if app.builder.name == "epub":
        return
    body = context.get("body", "")
    searching = templatename == "search.html"
    context["css_files"] = [
        sheet for sheet in context["css_files"] if wanted_sheet(_name(sheet), body)
    ]
    scripts = [
        s for s in context["script_files"] if wanted_script(_name(s), body, searching=searching)
    ]
    for script in scripts:
        if _name(script) and not {"async", "defer"} & set(script.attributes):
            script.attributes["defer"] = "defer"
    context["script_files"] = scripts
    for found, put in MENDED:
        body = body.replace(found, put)
    if body:
        context["body"] = keep_whole(body)
    context["verified_foot"] = _foot(app, pagename)


# A browser may end a line behind any hyphen; `--stderr` and the subject of a title are one word.
WHOLE = (
    (re.compile(r'<span class="pre">(?=[^<]{1,32}</span>)(?=[^<]*-)'), '<span class="pre nowrap">'),
    (re.compile(r"(<h1>[^<]*?)(self-attention)"), r'\1<span class="nowrap">\2</span>'),
)


def keep_whole(body: str) -> str:
    """Keep short words together that have a hyphen."""
    for found, put in WHOLE:
        body = found.sub(put, body)
    return body


def _name(asset: Any) -> str:
    return str(getattr(asset, "filename", asset) or "")


def wanted_sheet(name: str, body: str) -> bool:
    """Whether a page needs a style sheet."""
    if name.endswith(BUNDLE):
        return True
    needed = next((p for end, p in NEEDED.items() if name.endswith(end)), None)
    return bool(needed.search(body)) if needed else not REPLACED.search(name)


def wanted_script(name: str, body: str, *, searching: bool) -> bool:
    """Whether a page needs a script."""
    if not name or DROPPED.search(name):
        return False
    if SEARCH_ONLY.search(name):
        return searching
    needed = next((p for end, p in NEEDED.items() if name.endswith(end)), None)
    return needed is None or bool(needed.search(body))


def _foot(app: Sphinx, pagename: str) -> Markup:
    """Say how many of a page's outputs were verified, when, at which commit, on what."""
    page = results_of(app.env).get(pagename)
    verified, total = share(page) if page else (0, 0)
    if page is None or not total:
        return Markup()
    told = [f"{counted(verified, total)} verified", _when(app, pagename), _commit()]
    return Markup("{} ({}).").format(" ".join(filter(None, told)), describe_environment([page]))


def share(page: PageResult) -> tuple[int, int]:
    """Return how many outputs of a page were verified, and how many there are."""
    outcomes = [o for o in page.outcomes if o.body_line or o.kind.fails]
    compared = page.policy is not Policy.STRUCTURE
    return sum(o.kind is Kind.VERIFIED and compared for o in outcomes), len(outcomes)


def counted(verified: int, total: int) -> str:
    """Begin a sentence about so many outputs, whose end is "verified"."""
    if total == 1:
        return f"The one output on this page was{'' if verified else ' not'}"
    if verified == total:
        return f"All {total} outputs on this page were"
    return f"{verified} of the {total} outputs on this page were"


def _when(app: Sphinx, pagename: str) -> str:
    data = NbMetadataCollector.get_exec_data(app.env, pagename)
    if not data:
        return ""
    return f"on {day_of(data['mtime'], app.config.language)}"


def day_of(seconds: float, language: str) -> str:
    """Name a day in the book's language, whatever that of the machine is."""
    return format_date("%-d %B %Y", date=datetime.fromtimestamp(seconds, UTC), language=language)


@cache
def _commit() -> str:
    """Name the commit that the book was built from, and say if files were changed since."""
    try:
        commit, changed = (
            subprocess.run(  # noqa: S603 - its words are the two below
                ["git", *words],  # noqa: S607 - the git that made the checkout
                cwd=THEME,
                check=True,
                capture_output=True,
                text=True,
                timeout=20,
            ).stdout.strip()
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.SubprocessError):
        commit, changed = os.environ.get("SELFATTN_COMMIT", "")[:10], ""
    if not commit:
        return ""
    return f"at commit {commit}{' with later changes' if changed else ''}"


def prune(app: Sphinx, exception: Exception | None) -> None:
    """Remove what the inherited themes copied and no page refers to."""
    if exception or app.builder.name not in {"html", "dirhtml", "singlehtml"}:
        return
    for name in UNUSED:
        path = app.outdir / "_static" / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set the extension up."""
    app.setup_extension("sidebar")
    app.add_html_theme("selfattn", str(THEME))
    app.connect("builder-inited", write_bundle)
    app.connect("html-page-context", furnish, priority=900)  # after all who add files
    app.connect("build-finished", prune, priority=900)  # the theme writes a style sheet there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
