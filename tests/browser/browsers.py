"""Where the system's Chromium is, how it is started, and which pages it is shown."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing leaves this machine
)


def chromium() -> str:
    """Return the browser's path, or say what to install."""
    named = os.environ.get("CHROME_PATH")
    found = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise SystemExit(
            f"no Chromium: none of {', '.join(PROGRAMS)} is on PATH."
            " Install one (Debian: apt-get install chromium), or name it in CHROME_PATH."
        )
    return found


def pages(site: Path) -> list[str]:
    """Return the names of a site's pages, as their addresses have them, without the ending."""
    files = sorted(path.relative_to(site).with_suffix("") for path in site.rglob("*.html"))
    return [path.as_posix() for path in files if not path.parts[0].startswith("_")]
