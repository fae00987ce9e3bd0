"""The table of devices says what the kept reports say, and the recorder keeps what was verified."""

from __future__ import annotations

import json
import runpy
import sys
from typing import TYPE_CHECKING, Any

import pytest
import small_book
from the_book import EXTENSIONS_ON_PATH, ROOT

from reference.verified_devices import row

if TYPE_CHECKING:
    from pathlib import Path

KEPT = ROOT / "docs" / "_data" / "devices"
ENVIRONMENT = {
    "torch": "7.1.0",
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


CONF = f"""
{EXTENSIONS_ON_PATH}
extensions = ["myst_parser", "reference.verified_devices"]

def setup(app):
    app.connect("env-before-read-docs", lambda app, env, names: print("read:", *sorted(names)))
"""
TABLE = "# Devices\n\n```{verified-devices}\n```\n"
PAGES = {"conf.py": CONF, "index": "---\norphan: true\n---\n\n# Book\n"}
PAGES["devices"] = PAGES["index"].replace("# Book\n", TABLE)


@pytest.fixture(scope="module")
def recorder() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "devices.py"))


def test_what_is_kept_of_a_report(recorder: dict[str, Any]) -> None:
    said = recorder["summarised"](REPORT)
    assert said["environment"] == ENVIRONMENT
    assert said["policies"] == ["portable"]
    assert said["command"] == "nox -s device -- --device cuda --record"
    assert [each["units"] for each in said["accepted"]] == [1.5, 3.25]
    assert said["accepted"][0]["change"] == "0.3061 -> 0.3060"
    assert recorder["file_name"](said["environment"]) == "cuda-a-gpu-7.1.0"


def test_a_row(recorder: dict[str, Any]) -> None:
    device, versions, verified, rounded = row(recorder["summarised"](REPORT))
    assert device == "A GPU (cuda:0)\ndriver 1.2, 9.0\nLinux x86_64"
    assert versions.startswith("7.1.0\nportable\n20")
    assert verified == 7
    assert rounded == "2, furthest 3.2 units"


def test_a_failing_book_is_not_kept(
    recorder: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorder["main"]
    monkeypatch.setitem(run.__globals__, "REPORTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["devices.py", "--device", "cuda", "--record"])

    def told(status: int) -> Any:
        text = json.dumps({**REPORT, "status": status, "summary": "told"})
        return lambda *_, **__: type("Done", (), {"stdout": text, "returncode": status})

    monkeypatch.setattr(run.__globals__["subprocess"], "run", told(1))
    assert run() == 1
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(run.__globals__["subprocess"], "run", told(0))
    assert run() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["cuda-a-gpu-7.1.0.json"]


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_kept_reports_are_of_whole_books(path: Path, recorder: dict[str, Any]) -> None:
    said = json.loads(path.read_text("utf-8"))
    assert path.stem == recorder["file_name"](said["environment"])
    assert said["counts"]["failed"] == said["counts"]["drifted"] == 0
    assert said["counts"]["verified"] > 100
    assert len(said["accepted"]) == said["counts"]["accepted"]
    assert len(row(said)) == 4


def test_the_reference_is_among_them() -> None:
    assert any(path.name.startswith("cpu-") for path in KEPT.iterdir())


def read(folder: Path) -> list[str]:
    """Build a book, and return the pages that were read."""
    said = small_book.build(folder)
    assert said.returncode == 0, said.stderr
    (line,) = (line for line in said.stdout.splitlines() if line.startswith("read:"))
    return line.split()[1:]


def test_another_report_has_its_page_read_again_and_no_other(
    recorder: dict[str, Any], tmp_path: Path
) -> None:
    kept = small_book.write(tmp_path, PAGES) / "_data" / "devices"
    report = recorder["summarised"](REPORT)

    def keep(name: str, device: str) -> None:
        kept.mkdir(parents=True, exist_ok=True)
        said = {**report, "environment": {**ENVIRONMENT, "name": device}}
        (kept / f"{name}.json").write_text(json.dumps(said), "utf-8")

    keep("m", "GPU M")
    assert read(tmp_path) == ["devices", "index"]
    assert read(tmp_path) == []
    for name, device in (("z", "GPU Z"), ("a", "GPU A"), ("z", "GPU Z 2")):  # the last one changed
        keep(name, device)
        assert read(tmp_path) == ["devices"]
        assert device in (tmp_path / "html" / "devices.html").read_text("utf-8")
        assert read(tmp_path) == []
    (kept / "a.json").unlink()
    assert read(tmp_path) == ["devices"]
    assert read(tmp_path) == []


def test_a_book_without_a_report_says_what_makes_one(tmp_path: Path) -> None:
    small_book.write(tmp_path, PAGES)
    said = small_book.build(tmp_path)
    assert said.returncode == 1
    assert "no report is kept; run: nox -s device -- --record" in said.stderr
