"""The command that builds looks for waste rarely, and what Sphinx forks of it not at all."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest
import small_book

if TYPE_CHECKING:
    from pathlib import Path

READERS = 2
PAGES = 7  # of fewer, Sphinx forks no readers

CONF = """
import gc, json, os, pathlib

def note(app, name, _):
    told = {"process": os.getpid(), "frozen": gc.get_freeze_count(), "often": gc.get_threshold()[0]}
    pathlib.Path(app.srcdir, f"{name}.json").write_text(json.dumps(told))

def setup(app):
    app.connect("source-read", note)
    app.connect("build-finished", lambda app, _: note(app, "builder", None))
"""


def read(folder: Path, module: str, readers: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what the build and what its readers tell of their garbage collector."""
    names = [f"page-{number}" for number in range(PAGES)]
    files = {name: f":orphan:\n\n{name}\n======\n" for name in ("index", *names)}
    source = small_book.write(
        folder, {"conf.py": CONF} | {f"{name}.rst": text for name, text in files.items()}
    )
    # No page has a cell: no fork server need be started.
    result = small_book.build(
        folder, "dummy", "-j", str(readers), module=module, DRIFT_RUNNER="jupyter"
    )
    assert result.returncode == 0, result.stderr
    first, *others = (
        json.loads((source / f"{name}.json").read_text()) for name in ("builder", *files)
    )
    forked = [other for other in others if other["process"] != first["process"]]
    assert len(forked) == (len(files) if readers > 1 else 0)
    return first, others


def test_what_a_build_keeps_is_looked_at_rarely(tmp_path: Path) -> None:
    build, pages = read(tmp_path, "sphinx_drift.run", readers=1)
    for process in (build, *pages):
        assert process["often"] > 10 * gc.get_threshold()[0]  # which differs between Pythons
        assert process["frozen"] == 0


def test_what_readers_inherit_is_left_alone(tmp_path: Path) -> None:
    build, pages = read(tmp_path, "sphinx_drift.run", READERS)
    assert build["frozen"] == 0
    for process in pages:
        assert process["frozen"] > 0
        assert process["often"] == build["often"]


@pytest.mark.parametrize("readers", [1, READERS])
def test_sphinx_alone_does_neither(readers: int, tmp_path: Path) -> None:
    build, pages = read(tmp_path, "sphinx", readers)
    for process in (build, *pages):
        assert process["frozen"] == 0
        assert process["often"] <= gc.get_threshold()[0]
