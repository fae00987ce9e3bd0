"""Run the whole book under settings that move last digits, widths and orders.

On the reference settings *exact* must find nothing. Elsewhere it may, and *portable* must
accept each such difference. The counts go to docs/_data/lanes.json, which a page shows.

    python tools/lanes.py [--record]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from record import write_table

from sphinx_drift.compare.compare import Policy
from sphinx_drift.run_and_judge import POLICY_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
LANES: dict[str, dict[str, str]] = {
    "as it is": {},
    "one thread": {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    "two threads": {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"},
    "no vector instructions": {"ATEN_CPU_CAPABILITY": "default"},
    "AVX2 alone": {"ATEN_CPU_CAPABILITY": "avx2"},
    "MKL compatible": {"MKL_CBWR": "COMPATIBLE"},
    "both of these": {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"},
    "40 columns": {"COLUMNS": "40"},
    "200 columns": {"COLUMNS": "200"},
    "another locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "another hash seed": {"PYTHONHASHSEED": "4242"},
}


def main() -> int:
    """Run every lane; exit 1 if one is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write docs/_data/lanes.json")
    options = parser.parse_args()
    rows: list[list[Any]] = []
    bad = 0
    environment: dict[str, str] = {}
    for name, settings in LANES.items():
        report = _run(settings)
        environment = environment or _environment(report)
        outcomes = [o for page in report["pages"] for o in page["outcomes"]]
        failed = [o for o in outcomes if o["kind"] not in ("verified", "unchecked", "not-compared")]
        alarms = [o for o in failed if not o["rounding"]]
        rows.append(_row(name, settings, report, len(failed), len(alarms)))
        print(f"{name}: {report['summary']}; {len(alarms)} that portable would refuse")
        for outcome in failed:
            for d in outcome["differences"]:
                print(f"    line {outcome['line']}: {d['documented']} -> {d['executed']}")
        bad += bool(alarms) or bool(failed and not settings)
    if options.record:
        columns = ["lane", "verified", "exact refuses", "portable refuses", "settings"]
        write_table("lanes", "nox -s lanes", columns, rows, environment)
    return int(bad > 0)


def _run(settings: dict[str, str]) -> dict[str, Any]:
    """Check the book in a process of its own."""
    command = [sys.executable, "-m", "sphinx_drift", "docs", "--json"]
    # The variable, which would come before an option.
    env = os.environ | {POLICY_VARIABLE: Policy.EXACT.value} | settings
    completed = subprocess.run(  # noqa: S603 - the command is the line above
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=False
    )
    report: dict[str, Any] = json.loads(completed.stdout)
    return report


def _environment(report: dict[str, Any]) -> dict[str, str]:
    """Return what the pages that use torch were run with."""
    environments = [
        page["environment"] for page in report["pages"] if "torch" in page["environment"]
    ]
    return dict(environments[0])


def _row(
    name: str, settings: dict[str, str], report: dict[str, Any], failed: int, alarms: int
) -> list[Any]:
    variables = " ".join(f"{key}={value}" for key, value in settings.items())
    return [name, report["counts"]["verified"], failed, alarms, variables]


if __name__ == "__main__":
    sys.exit(main())
