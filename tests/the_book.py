"""The book itself: where it stands, its pages, and what tells a number in its figures."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXT = DOCS / "_ext"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not any(part.startswith("_") for part in path.relative_to(DOCS).parts)
)
TRACED = re.compile(r'data-trace="([^"]+)"[^>]*>([^<]*)<')
"""A number of a figure: its path in the trace, and how it is written."""
