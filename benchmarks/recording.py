"""The file of what was measured: every run, on what, when and with which commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from competitors import COMPETITORS, ROOT

from selfattn.devices import choose

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

FILE = ROOT / "docs" / "_data" / "cost.json"
PACKAGES = (
    *("torch", "sphinx", "myst-nb", "sphinx-book-theme", "ipykernel"),
    *("nbval", "nbmake", "pytest-xdist", "sphinx-autobuild"),
)
THEIRS = ("jupyter-book", "sphinx", "myst-nb")
GIBIBYTE = 2**30

Key = tuple[str, str, str]
"""What was measured (`seconds`, `peak_bytes`, `save_seconds`), of which competitor and book."""


class Record:
    """The runs in a file, which is written anew after each."""

    def __init__(self, path: Path, environment: dict[str, Any]) -> None:
        self.path = path
        self.environment = environment
        self.commit = commit()
        self.runs: list[dict[str, Any]] = []
        self.differences: dict[str, Any] = {}
        if path.exists():
            self._read(json.loads(path.read_text("utf-8")))

    def _read(self, stored: dict[str, Any]) -> None:
        self.runs, self.differences = stored["runs"], stored["differences"]
        self.environment = merged(stored["environment"], self.environment, anew=not self.runs)

    def keys(self) -> list[Key]:
        """Return what each run measured, leaving out the failed ones."""
        return [key(run) for run in self.runs if "failed" not in run]

    def forget(self, keys: Collection[Key], *, fresh: bool) -> None:
        """Drop earlier runs: those of other commits where our code ran, or all (`fresh`)."""

        def stays(run: dict[str, Any]) -> bool:
            if key(run) not in keys:
                return True
            return not fresh and run.get("commit") in {None, self.commit}

        self.runs = [run for run in self.runs if stays(run)]

    def add(self, what: str, book: str, **measured: float | str) -> None:
        """Add a run, and write the file."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        run: dict[str, Any] = {"what": what, "book": book, **measured}
        if what not in COMPETITORS or COMPETITORS[what].ours:
            run["commit"] = self.commit  # another one may take another time
        self.runs.append({**run, "at": now})
        self.write()

    def write(self) -> None:
        """Write the file at once, so that a benchmark that is interrupted keeps what it has."""
        report = {
            "command": "nox -s bench",
            "environment": self.environment,
            "differences": self.differences,
        }
        head = json.dumps(report, indent=1).removesuffix("\n}")
        ranked = sorted(self.runs, key=lambda run: (run["what"], len(run["book"]), run["book"]))
        lines = ",\n  ".join(json.dumps(run) for run in ranked)
        text = f'{head},\n "runs": [\n  {lines}\n ]\n}}\n'
        scratch = self.path.with_suffix(".part")
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(self.path)


def merged(stored: dict[str, Any], now: dict[str, Any], *, anew: bool) -> dict[str, Any]:
    """Return the environment of all runs, which may name more packages than is known now.

    Raises:
        ValueError: If they were measured on something else.

    """
    if anew:
        return now
    shared = {name: stored["versions"].get(name, v) for name, v in now["versions"].items()}
    if (stored | {"versions": shared}) != now:
        raise ValueError(
            "the file was measured elsewhere, or with other versions or jobs, and runs can't be "
            "added: give --out another file, or delete this one"
        )
    return now | {"versions": stored["versions"] | now["versions"]}


def key(run: dict[str, Any]) -> Key:
    """Return what a run measured, or would have measured had it not failed."""
    return run.get("of") or _measured(run), run["what"], run["book"]


def _measured(run: dict[str, Any]) -> str:
    return next(name for name in ("seconds", "peak_bytes", "save_seconds") if name in run)


def commit() -> str:
    """Return the commit that is measured, with a plus if there is more in the folder."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD").strip()
        changed = _git("status", "--porcelain", "--", "selfattn", "docs", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    others = [line for line in changed.splitlines() if not line.endswith("docs/_data/cost.json")]
    return f"{head}+" if others else head


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(  # noqa: S603 - written above
        command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def environment(jupyter_book: Path | None, jobs: str) -> dict[str, Any]:
    """Say on what, how, and with which versions, things are measured."""
    versions = {name: version(name) for name in PACKAGES}
    if jupyter_book:
        versions |= _theirs(jupyter_book.with_name("python"))
    return {
        "processor": choose("cpu").name,
        "logical_processors": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIBIBYTE),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "jobs": jobs,
        "versions": versions,
    }


def _theirs(python: Path) -> dict[str, str]:
    """Return the versions in Jupyter Book's own environment."""
    script = f"from importlib.metadata import version; print(*map(version, {THEIRS!r}))"
    completed = subprocess.run(  # noqa: S603 - written above
        [python, "-c", script], check=True, capture_output=True, encoding="utf-8"
    )
    book, *others = completed.stdout.split()
    within = {f"jupyter-book's {name}": v for name, v in zip(THEIRS[1:], others, strict=True)}
    return {"jupyter-book": book} | within
