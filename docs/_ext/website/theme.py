"""The theme: one small style sheet, and the files that a page needs, no others."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


THEME = Path(__file__).parents[2] / "_theme"
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
    r"(basic|pygments|theme|copybutton|exercise|sphinx-codeautolink|drift-mark)\.css$"
    r"|styles/|mystnb\."
)
NEEDED = {
    "sphinx-design.min.css": re.compile(r"\bsd-(row|tab|btn|badge|card-title|card-img)"),
    "design-tabs.js": re.compile(r'class="sd-tab'),
    "numbers.css": re.compile(r'id="numbers"'),
    "numbers.js": re.compile(r'id="numbers"'),
}
# Scripts of the inherited themes, and those of Sphinx's own search, which the book's replaces.
DROPPED = re.compile(
    r"scripts/|togglebutton"
    r"|documentation_options|doctools|sphinx_highlight|searchtools|language_data"
)
# Files that the inherited themes leave among the static ones and no page refers to.
UNUSED = (
    "basic.css", "drift-mark.css", "file.png", "images", "locales", "minus.png", "plus.png",
    "pygments.css", "sbt-webpack-macros.html", "scripts", "styles", "vendor", "webpack-macros.html",
)  # fmt: skip

# What others write into pages, and a screen reader stumbles over or HTML does not allow.
MENDED = (
    (r'<th class="head"><p></p></th>', "<td></td>"),  # the corner of a table heads nothing
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),  # it says something else
    (r'<p class="(collapsed|expanded)\b[^>]*>(.*?)</p>', r'<span class="\1">\2</span>'),
    (r' role="doc-biblioentry"', ""),  # a role for lists, on something that is none
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    (  # a link within a heading is read as a part of its name
        r'(<h([1-6])>(?:(?!</h).)*)(<a class="headerlink".*?</a>)(</h[1-6]>)',
        r'<div class="heading h\2">\1\4\3</div>',
    ),
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
    """Leave a page the files it needs, and mend what others write into it."""
    if app.builder.name == "epub":
        return
    body = context.get("body", "")
    context["css_files"] = [
        sheet for sheet in context["css_files"] if wanted_sheet(_name(sheet), body)
    ]
    scripts = [s for s in context["script_files"] if wanted_script(_name(s), body)]
    for script in scripts:
        if _name(script) and not {"async", "defer"} & set(script.attributes):
            script.attributes["defer"] = "defer"
    context["script_files"] = scripts
    for old, new in MENDED:
        body = re.sub(old, new, body, flags=re.DOTALL)
    if body:
        context["body"] = keep_whole(body)


# A browser may end a line behind any hyphen; `--stderr` and the subject of a title are one word.
WHOLE = (
    (re.compile(r'<span class="pre">(?=[^<]{1,32}</span>)(?=[^<]*-)'), '<span class="pre nowrap">'),
    (re.compile(r"(<h1>[^<]*?)(self-attention)"), r'\1<span class="nowrap">\2</span>'),
)


def keep_whole(body: str) -> str:
    """Keep short words together that have a hyphen."""
    for pattern, new in WHOLE:
        body = pattern.sub(new, body)
    return body


def _name(asset: Any) -> str:
    return str(getattr(asset, "filename", asset) or "")


def wanted_sheet(name: str, body: str) -> bool:
    """Whether a page needs a style sheet."""
    if name.endswith(BUNDLE):
        return True
    needed = next((p for end, p in NEEDED.items() if name.endswith(end)), None)
    return bool(needed.search(body)) if needed else not REPLACED.search(name)


def wanted_script(name: str, body: str) -> bool:
    """Whether a page needs a script."""
    if not name or DROPPED.search(name):
        return False
    needed = next((p for end, p in NEEDED.items() if name.endswith(end)), None)
    return needed is None or bool(needed.search(body))


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


def setup(app: Sphinx) -> None:
    app.add_html_theme("selfattn", str(THEME))
    app.connect("builder-inited", write_bundle)
    app.connect("html-page-context", furnish, priority=900)  # after all who add files
    app.connect("build-finished", prune, priority=900)  # the theme writes a style sheet there
