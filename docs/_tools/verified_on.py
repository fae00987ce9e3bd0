"""Verify the book on this machine, and write down where, when and with what outcome.

    python docs/_tools/verified_on.py [DEVICE]   # cpu, cuda, cuda:1 or mps; cpu if none is named

A row of `docs/_data/verified.csv`, which a page of the book shows, is added, or replaced where the
machine and its versions are the same.
"""

import csv
import datetime as dt
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "_data" / "verified.csv"
LAST_LINE = re.compile(r"^(?P<outcome>.+) \((?P<environment>torch .+)\)$")


def main() -> int:
    """Run the checker on the book; return its exit status."""
    device = sys.argv[1] if sys.argv[1:] else "cpu"
    run = [sys.executable, "-m", "sphinx_drift", "--keep-going", "docs"]
    variables = os.environ | {"DRIFT_DEVICE": device}
    done = subprocess.run(
        run, cwd=ROOT, env=variables, check=False, stdout=subprocess.PIPE, text=True
    )
    print(done.stdout)
    OUT.write_text(table_with(OUT.read_text("utf-8"), done.stdout, machine(device)), "utf-8")
    return done.returncode


def machine(device: str) -> str:
    """Name the processor or the GPU, and the system."""
    command = [sys.executable, "-m", "selfattn.devices", device]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return f"{found}, {platform.system()}, Python {platform.python_version()}"


def table_with(table: str, report: str, place: str) -> str:
    """Return the table with the outcome that a report ends with, the newest first.

    Raises:
        ValueError: If the report ends otherwise, as it does where nothing was run.

    """
    last = report.rstrip().rpartition("\n")[2]
    if not (found := LAST_LINE.match(last)):
        raise ValueError(f"expected a report that ends with its outcome, got {last!r}")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    head, *rows = csv.reader(table.splitlines())
    row = [today, place, found["environment"], found["outcome"]]
    rows = [row, *(other for other in rows if other[1:3] != row[1:3])]
    return "".join(f"{','.join(map(_quoted, each))}\n" for each in [head, *rows])


def _quoted(cell: str) -> str:
    return f'"{cell}"' if "," in cell else cell


if __name__ == "__main__":
    sys.exit(main())
