"""What readers take along: every page with cells as a notebook, and all of them in an archive."""

from export.downloads import setup

__all__ = ["setup"]
