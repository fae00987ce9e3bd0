"""The book itself: where it stands, its pages, and what tells a number in its figures."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXTENSIONS_ON_PATH = f"import sys; sys.path.insert(0, {str(DOCS / '_ext')!r})"
"""What the conf.py of a small book begins with that takes the book's own extensions."""
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not any(part.startswith("_") for part in path.relative_to(DOCS).parts)
)
TRACED = re.compile(r'data-trace="([^"]+)"[^>]*>([^<]*)<')
"""A number of a figure: its path in the trace, and how it is written."""
