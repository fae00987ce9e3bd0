"""Check the whole book on a device, and keep what was verified there.

The report goes to docs/_data/devices/, a file for each device and PyTorch; the page "On any
device" shows them as a table. A book that fails there is told and not kept.

    python tools/devices.py [--device cuda] [--record]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selfattn.devices import choose

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "docs" / "_data" / "devices"


def main() -> int:
    """Check the book; exit as the check does."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, mps or auto")
    parser.add_argument("--record", action="store_true", help="write it to docs/_data/devices")
    options = parser.parse_args()
    started = time.monotonic()
    command = [sys.executable, "-m", "sphinx_drift", "docs", "--json", "--device", options.device]
    completed = subprocess.run(  # noqa: S603 - the command is the line above
        command, cwd=ROOT, stdout=subprocess.PIPE, check=False
    )
    if not completed.stdout:
        return completed.returncode
    report = json.loads(completed.stdout)
    print(f"{report['summary']}; {time.monotonic() - started:.0f} seconds")
    summary = summarised(report)
    for each in summary["accepted"]:
        print(f"    accepted, {each['units']:.1f} units: {each['page']}: {each['change']}")
    if options.record and not report["status"]:
        REPORTS.mkdir(parents=True, exist_ok=True)
        text = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
        (REPORTS / f"{file_name(summary['environment'])}.json").write_text(text, "utf-8")
    return int(report["status"])


def summarised(report: dict[str, Any]) -> dict[str, Any]:
    """Return what a page tells of a report."""
    pages = [page for page in report["pages"] if page["cells"]]
    with_torch = [page for page in pages if "torch" in page["environment"]]
    environment = dict(with_torch[0]["environment"])
    if environment["device"] == "cpu":
        environment["name"] = choose("cpu").name
    accepted = [
        {
            "page": page["file"],
            "change": f"{each['documented']} -> {each['executed']}",
            "units": each["units"],
        }
        for page in pages
        for outcome in page["outcomes"]
        for each in outcome["accepted"]
    ]
    return {
        "version": 1,
        "command": f"nox -s device -- --device {environment['device'].partition(':')[0]} --record",
        "date": datetime.now(UTC).date().isoformat(),
        "environment": environment,
        "policies": sorted({page["policy"] for page in with_torch}),
        "counts": report["counts"],
        "accepted": accepted,
    }


def file_name(environment: dict[str, str]) -> str:
    """Return a name for a device and a PyTorch: a newer report takes the place of an older one."""
    kind = environment["device"].partition(":")[0]
    words = (kind, environment.get("name", ""), environment["torch"])
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(words).lower()).strip("-")


if __name__ == "__main__":
    sys.exit(main())
