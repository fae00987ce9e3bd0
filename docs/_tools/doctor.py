"""Say what is here, what is missing for which task with its remedy, and what a build would use.

It needs nothing but Python, and changes nothing.
"""

import os
import platform
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
OLDEST = (3, 11)
ROOM = 6  # gigabytes that the environments of all sessions take, without CUDA


class Need(NamedTuple):
    """A program of the system: its names, what asks for it, and how it is had."""

    names: tuple[str, ...]
    tasks: str
    remedy: str


NEEDS = (
    Need(("git",), "nox -s release", "apt install git"),
    Need(("chromium",), "nox -s browser, pdf", "apt install chromium fonts-liberation"),
    Need(("firefox-esr", "firefox"), "nox -s browser", "apt install firefox-esr"),
    Need(("java",), "nox -s browser", "apt install default-jre-headless"),
    Need(("nvidia-smi",), "nox -s tests -- -m gpu", "a GPU with CUDA; nothing else needs one"),
)


def lines() -> Iterator[str]:
    """Yield the report."""
    here, oldest = platform.python_version(), ".".join(map(str, OLDEST))
    good = sys.version_info >= OLDEST
    yield f"Python {here}" + ("" if good else f", too old: install {oldest} or newer")
    free = shutil.disk_usage(ROOT).free // 10**9
    yield f"{free} GB free" + ("" if free >= ROOM else f": all sessions take up to {ROOM} GB")
    for need in NEEDS:
        found = next(filter(None, map(shutil.which, need.names)), None)
        yield f"{need.names[0]}: {found or f'missing for {need.tasks}; {need.remedy}'}"
    made = sorted(path.parents[2].name for path in ROOT.glob(".nox/*/bin/python"))
    yield f"sessions installed: {', '.join(made) or 'none; nox -s docs makes the first'}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    reference = project["tool"]["sphinx-drift"]["reference"]
    place = {"system": platform.system(), "machine": platform.machine()}
    alike = all(reference[name] == value for name, value in place.items())
    named = {name: os.environ[name] for name in sorted(os.environ) if name.startswith("DRIFT_")}
    policy = named.get("DRIFT_POLICY") or ("exact" if alike else "portable")
    yield f"a build on this CPU is judged: {policy} ({', '.join(place.values())})"
    for name, value in named.items():
        yield f"{name}={value} is set, and changes builds; unset it if you didn't mean to"


if __name__ == "__main__":
    print("\n".join(lines()))
