"""Where the system's Chromium is, and how it is started so that nothing leaves this machine."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    return installed("Chromium", PROGRAMS, package="chromium", variable="CHROME_PATH")


def installed(browser: str, programs: Sequence[str], *, package: str, variable: str) -> str:
    """Return the path of one of a browser's programs, or of what a variable names.

    Raises:
        SystemExit: If there is none.

    """
    named = os.environ.get(variable)
    program = named or next(filter(None, map(shutil.which, programs)), None)
    if program is None:
        raise SystemExit(
            f"no {browser}: none of {', '.join(programs)} is on PATH."
            f" Install one (Debian: apt-get install {package}), or name it in {variable}."
        )
    return program
