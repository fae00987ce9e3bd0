"""The book itself: where it stands, its pages, its site."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MANUAL = ROOT / "packages/sphinx-drift" / "docs"
SOURCES = {".md", ".py", ".css", ".toml", ".txt", ".bib", ".json", ".svg", ".js", ".html"}
EXTENSIONS_ON_PATH = f"import sys; sys.path.insert(0, {str(DOCS / '_ext')!r})"
"""What the conf.py of a small book begins with that takes the book's own extensions."""
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not any(part.startswith("_") for part in path.relative_to(DOCS).parts)
)


def is_current(site: Path) -> bool:
    """Whether the site was built after every source of it was last changed."""
    sources = [
        path
        for folder in (DOCS, ROOT / "selfattn", MANUAL.parent)
        for path in folder.rglob("*")
        if path.suffix in SOURCES and "_build" not in path.parts
    ]
    newest = max(path.stat().st_mtime for path in sources)
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    return (site / "index.html").exists() and min(p.stat().st_mtime for p in pages) > newest


def current_site(folder: Path) -> Path:
    """Return book and manual as the docs session has built them, or build them into a folder."""
    built = DOCS / "_build" / "html"
    if is_current(built):
        return built
    for source, out in ((DOCS, "html"), (MANUAL, "html/sphinx-drift")):
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(folder / out[5:])]
        subprocess.run([*command, str(source), str(folder / out)], check=True, cwd=ROOT)
    return folder / "html"
