"""The table of devices says what the kept reports say, and the recorder keeps what was verified."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "_data" / "devices"
ENVIRONMENT = {
    "torch": "2.13.0",
    "system": "Linux",
    "machine": "x86_64",
    "device": "cuda:0",
    "name": "A GPU",
    "driver": "driver 1.2",
    "capability": "9.0",
}
OUTCOME = {
    "kind": "verified",
    "accepted": [
        {"documented": "0.3061", "executed": "0.3060", "units": 1.5},
        {"documented": "0.8210", "executed": "0.8211", "units": 3.25},
    ],
}
REPORT = {
    "status": 0,
    "counts": {"verified": 7, "accepted": 2, "pages": 1},
    "pages": [
        {
            "file": "docs/page.md",
            "policy": "portable",
            "environment": ENVIRONMENT,
            "cells": 3,
            "outcomes": [OUTCOME],
        },
        {"file": "docs/bare.md", "policy": "exact", "environment": {}, "cells": 0, "outcomes": []},
    ],
}


@pytest.fixture(scope="module")
def recorder() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "devices.py"))


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    return runpy.run_path(str(ROOT / "docs" / "_ext" / "verified_devices.py"))["row"]


def test_what_is_kept_of_a_report(recorder: dict[str, Any]) -> None:
    said = recorder["summarised"](REPORT)
    assert said["environment"] == ENVIRONMENT
    assert said["policies"] == ["portable"]
    assert said["command"] == "nox -s device -- --device cuda --record"
    assert [each["units"] for each in said["accepted"]] == [1.5, 3.25]
    assert said["accepted"][0]["change"] == "0.3061 -> 0.3060"
    assert recorder["file_name"](said["environment"]) == "cuda-a-gpu-2.13.0"


def test_a_row(recorder: dict[str, Any], row: Any) -> None:
    device, versions, verified, rounded = row(recorder["summarised"](REPORT))
    assert device == "A GPU (cuda:0)\ndriver 1.2, 9.0\nLinux x86_64"
    assert versions.startswith("2.13.0\nportable\n20")
    assert verified == 7
    assert rounded == "2, furthest 3.2 units"


def test_a_failing_book_is_not_kept(
    recorder: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorder["main"]
    monkeypatch.setitem(run.__globals__, "KEPT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["devices.py", "--device", "cuda", "--record"])

    def told(status: int) -> Any:
        text = json.dumps({**REPORT, "status": status, "summary": "told"})
        return lambda *_, **__: type("Done", (), {"stdout": text, "returncode": status})

    monkeypatch.setattr(run.__globals__["subprocess"], "run", told(1))
    assert run() == 1
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(run.__globals__["subprocess"], "run", told(0))
    assert run() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["cuda-a-gpu-2.13.0.json"]


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_kept_reports_are_of_whole_books(path: Path, recorder: dict[str, Any], row: Any) -> None:
    said = json.loads(path.read_text("utf-8"))
    assert path.stem == recorder["file_name"](said["environment"])
    assert said["counts"]["failed"] == said["counts"]["drifted"] == 0
    assert said["counts"]["verified"] > 100
    assert len(said["accepted"]) == said["counts"]["accepted"]
    assert len(row(said)) == 4


def test_the_reference_is_among_them() -> None:
    assert any(path.name.startswith("cpu-") for path in KEPT.iterdir())
