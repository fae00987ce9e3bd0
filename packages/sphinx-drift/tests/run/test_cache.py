"""What an earlier run printed is taken only where a run of now would print the same."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, v4
from notebooks import code, notebook, stream

from sphinx_drift.kinds import Kind
from sphinx_drift.probes import Probe, injected
from sphinx_drift.run import cache, run
from sphinx_drift.run.reads import reads, stamp_of, watch_reads
from sphinx_drift.run.results import Execution, Failure, Request

PROBES = [Probe(injected(watch_reads, helper=stamp_of), injected(reads))]


def ran() -> NotebookNode:
    return notebook(code("print(1)", stream("1\n")))


ANSWERS = {"reads": {}, "asked": 7}
EXECUTION = Execution(frozenset({0}), answers=ANSWERS, succeeded=frozenset({0}), seconds=2.0)


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    return run.request_for(tmp_path, probes=PROBES, timeout=30)


def test_a_run_is_found_again_with_markdown_between(request_: Request, tmp_path: Path) -> None:
    raises = replace(request_, raising=[0])
    key = cache.keep(ran(), raises, EXECUTION, tmp_path / "cache")
    again = notebook("print(1)")
    again.cells.insert(0, v4.new_markdown_cell("Prose."))
    found = cache.find(again, replace(raises, raising={1}), tmp_path / "cache")
    assert found is not None
    assert (found.cache_key, found.seconds) == (key, 2.0)
    assert found.executed == found.succeeded == {1}
    assert found.probed == {"asked": 7}
    assert found.since > 0
    assert again.cells[1].outputs[0].text == "1\n"
    assert cache.current(tmp_path / "cache") == {key}


CHANGES: tuple[dict[str, Any], ...] = (
    *({"raising": [0]}, {"timeout": 31}, {"output_limit": 5}, {"variables": {"A": "1"}}),
    *({"before": ()}, {"after": ()}, {"kernel_aliases": {"x": "y"}}, {"folder": Path("elsewhere")}),
)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_no_run_is_found_that_was_run_otherwise(
    request_: Request, tmp_path: Path, changes: dict[str, Any]
) -> None:
    cache.keep(ran(), request_, EXECUTION, tmp_path / "cache")
    assert cache.match(notebook("print(1)"), request_, tmp_path / "cache")
    assert not cache.match(notebook("print(2)"), request_, tmp_path / "cache")
    other = replace(request_, **changes)
    assert not cache.match(notebook("print(1)"), other, tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "value", "counts"),
    [
        *(("DRIFT_DEVICE", "cuda", True), ("DRIFT_RUNNER", "jupyter", True)),
        *(("PYTHONHASHSEED", "1", True), ("OMP_NUM_THREADS", "2", True)),
        *(("COLUMNS", "100", True), ("SOME_NUMBER", "7", True)),
        *(("SHLVL", "9", False), ("SSH_AUTH_SOCK", "/x", False), ("TERM", "dumb", False)),
    ],
)
def test_the_environment_counts_and_a_terminal_s_own_variables_don_t(  # noqa: PLR0913 - columns
    request_: Request,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    *,
    counts: bool,
) -> None:
    cache.keep(ran(), request_, EXECUTION, tmp_path / "cache")
    monkeypatch.setenv(name, value)
    assert bool(cache.match(notebook("print(1)"), request_, tmp_path / "cache")) is not counts
    assert bool(cache.current(tmp_path / "cache")) is not counts


def test_what_is_installed_counts(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cache, "installed", cache.installed.__wrapped__)
    cache.keep(ran(), request_, EXECUTION, tmp_path / "cache")
    (tmp_path / "other-2.dist-info").mkdir()
    assert not cache.match(notebook("print(1)"), request_, tmp_path / "cache")


@pytest.mark.parametrize(
    "changes",
    [
        {"failure": Failure(Kind.RAISED, 0, "ValueError")},
        {"executed": frozenset()},
        {"answers": {}},
        {"answers": {"reads": {"": None}}},
    ],
    ids=str,
)
def test_what_no_later_run_can_be_told_from_isn_t_kept(
    request_: Request, tmp_path: Path, changes: dict[str, Any]
) -> None:
    """And what an earlier run left of the same code goes."""
    cache.keep(ran(), request_, EXECUTION, tmp_path / "cache")
    execution = replace(EXECUTION, **changes)
    assert not cache.keep(ran(), request_, execution, tmp_path / "cache")
    assert not cache.match(notebook("print(1)"), request_, tmp_path / "cache")


def test_another_kernel_has_packages_that_nobody_sees(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = tmp_path / "kernels" / "other"
    kernels.mkdir(parents=True)
    argv = '["/opt/other/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]'
    (kernels / "kernel.json").write_text(
        f'{{"argv": {argv}, "display_name": "x", "language": "other"}}', "utf-8"
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    book = ran()
    book.metadata["kernelspec"] = {"name": "other", "display_name": "x", "language": "other"}
    assert not cache.keep(book, request_, EXECUTION, tmp_path / "cache")


def test_a_broken_cache_has_nothing_and_stops_nothing(request_: Request, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", "utf-8")
    assert cache.keep(ran(), request_, EXECUTION, tmp_path / "cache") == ""
    assert cache.find(ran(), request_, tmp_path / "cache") is None
    assert cache.current(tmp_path / "cache") == set()


# What a page reads -----------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with what pages read, whose name is almost that of installed packages."""
    tmp_path /= "py-packages"
    for name in ("beside.py", "data.db", "data.txt", "folder/old"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("TEXT = 1\n", "utf-8")
    (tmp_path / "link").symlink_to("data.txt")
    return tmp_path


def change(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.write_text("TEXT = 2\n", "utf-8")
    os.utime(path, (1_000_000_000, 1_000_000_000))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import beside", "beside.py"),
        ("open('data.txt').read()", "data.txt"),
        ("open('data.txt', 'a')", "data.txt"),
        ("import os; os.read(os.open('data.txt', 0), 9)", "data.txt"),
        ("import os; os.readlink('link')", "link"),
        ("import os; os.listdir('folder')", "folder/new"),
        ("import glob; glob.glob('folder/*')", "folder/new"),
        ("import os; os.listdir()", "new"),
        ("try: open('later.txt')\nexcept OSError: pass", "later.txt"),
        ("import sys; sys.dont_write_bytecode = False; import beside", "beside.py"),
    ],
)
def test_a_page_runs_again_if_what_it_read_is_another(world: Path, code: str, name: str) -> None:
    request, folder = run.request_for(world, probes=PROBES), world.parent / f"{world.name}-cache"
    book = notebook(code)
    key = cache.keep(book, request, run.execute(book, request), folder)
    assert cache.current(folder) == {key} != {""}
    change(world / name)
    assert cache.current(folder) == set()


PROCESS = """
import multiprocessing
process = multiprocessing.get_context(%r).Process(target=int)
process.start()
process.join()
"""
UNSEEN = """
import sys, types
near = types.ModuleType("near")
near.__file__, near.__spec__ = __import__("os").path.abspath("data.txt"), sys.__spec__
sys.modules["near"] = near
"""


@pytest.mark.parametrize(
    "code",
    [
        "!cat data.txt",
        "import subprocess as s; s.run(['true'])",
        "import os; os.system('true')",
        "import os\nif not os.fork(): os._exit(0)",
        "import os\nos.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)",
        PROCESS % "spawn",
        PROCESS % "forkserver",
        UNSEEN,
        "import sqlite3; sqlite3.connect('file:data.db?mode=ro', uri=True)",
        "import socket\ntry: socket.create_connection(('127.0.0.1', 1))\nexcept OSError: pass",
    ],
)
def test_what_is_read_past_python_nobody_sees(world: Path, code: str) -> None:
    request, folder = run.request_for(world, probes=PROBES), world / "cache"
    book = notebook(code)
    execution = run.execute(book, request)
    assert execution.failure is None
    assert not cache.keep(book, request, execution, folder)


def test_what_a_page_writes_is_its_own(world: Path) -> None:
    request, folder = run.request_for(world, probes=PROBES), world / "cache"
    book = notebook(
        "import tempfile\nwith open('own', 'w') as file: file.write('1')",
        "print(open('own').read())\nprint(tempfile.TemporaryFile().read())",
    )
    key = cache.keep(book, request, run.execute(book, request), folder)
    assert key
    change(world / "own")
    assert cache.current(folder) == {key}
