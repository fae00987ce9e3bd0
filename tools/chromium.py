"""Where the system's Chromium is, and how it is started so that nothing leaves this machine."""

from __future__ import annotations

import os
import shutil

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def chromium() -> str:
    """Return the browser's path, or say what to install.

    Raises:
        SystemExit: If there is none.

    """
    named = os.environ.get("CHROME_PATH")
    found = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise SystemExit(
            f"no Chromium: none of {', '.join(PROGRAMS)} is on PATH."
            " Install one (Debian: apt-get install chromium), or name it in CHROME_PATH."
        )
    return found
