"""Whatever a page does, it fails alone, and nothing of it is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from processes import python, wait_until
from psutil import pid_exists
from runners import Pages, shown
from small_book import FRONT, cell, write

from sphinx_drift.kinds import Kind
from sphinx_drift.probes import injected
from sphinx_drift.run.host import HOST
from sphinx_drift.run.injected import end_at_the_next_cell
from sphinx_drift.run.run import execute, request_for

DEADLY = {
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)": "killed by SIGKILL",
    "import os\nos._exit(3)": "exit status 3",
    "import ctypes\nctypes.string_at(0)": "killed by SIGSEGV",
}


@pytest.mark.parametrize("code", DEADLY)
def test_page_whose_process_dies_fails_with_how_and_where(pages: Pages, code: str) -> None:
    failure = pages.failure("print('fine')", code, "print('never')")
    assert (failure.kind, failure.index) == (Kind.DEAD_KERNEL, 2)
    assert DEADLY[code] in failure.message


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(100)",
        "import ctypes\nctypes.PyDLL(None).sleep(100)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    ],
)
def test_cell_that_takes_too_long_is_stopped(pages: Pages, code: str) -> None:
    notebook, execution = pages.fork("import os\nprint(os.getpid())", code, "2", timeout=2)
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Kind.TIMEOUT, 2)
    assert execution.executed == {1}
    wait_until(lambda: not pid_exists(int(shown(notebook.cells[1]))))


def test_thread_that_a_cell_leaves_can_not_hold_the_page_up(pages: Pages) -> None:
    code = "import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()"
    started = time.monotonic()
    assert pages.fork(code, timeout=50)[1].failure is None
    assert time.monotonic() - started < 90  # it is not waited for


@pytest.mark.parametrize("end", ["", "import os\nos._exit(1)"])
def test_what_a_page_started_ends_with_it(pages: Pages, end: str) -> None:
    started = "import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)"
    notebook, _ = pages.fork(started, *filter(None, [end]))
    wait_until(lambda: not pid_exists(int(shown(notebook.cells[1]))))


@pytest.mark.parametrize("runner", ["fork", "jupyter"])
@pytest.mark.parametrize("end", ["exit", "get_ipython().kernel.do_shutdown(True)"])
def test_a_page_may_end_by_its_last_cell_alone(pages: Pages, end: str, runner: str) -> None:
    before = (injected(end_at_the_next_cell),)
    settings = {"before": before, "variables": {"DRIFT_RUNNER": runner}}
    slow = f"{end}\nimport time\ntime.sleep(0.5)"  # ipykernel's ends after 0.1
    execution = pages.fork("1", slow, **settings)[1]
    assert (execution.failure, bool(execution.answers)) == (None, True)
    execution = pages.fork(end, "1", **settings)[1]
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Kind.DEAD_KERNEL, 2)


@pytest.mark.parametrize("shell", [None, SimpleNamespace(), SimpleNamespace(kernel="xeus")])
def test_a_shell_of_no_ipykernel_is_left_as_it_is(
    shell: SimpleNamespace | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)  # type: ignore[arg-type]
    before = repr(shell)
    end_at_the_next_cell()
    assert repr(shell) == before


@pytest.mark.parametrize("child", ["", "raise ValueError", "os.closerange(3, 64)"])
def test_page_that_forks_goes_on(pages: Pages, child: str) -> None:
    fork = f"import os\npid = os.fork()\nif not pid:\n    {child or 'pass'}\n    os._exit(0)\n"
    fork += "else:\n    for n in range(1000):\n        print(n)"
    _, execution = pages.fork("1", fork, "print('next')", timeout=20)
    assert execution.failure is None or execution.failure.index == 2  # as in any kernel
    assert pages.fork("1")[1].failure is None


CELLS = Path(__file__).with_name("isolation")
DISTURB, LOOK, DRAWS = (
    (CELLS / f"{name}.txt").read_text("utf-8") for name in ("disturb", "look", "draws")
)


def test_page_sees_nothing_of_another(pages: Pages) -> None:
    disturbing, execution = pages.fork(DISTURB, LOOK)
    assert execution.failure is None
    assert shown(disturbing.cells[2]) != "[]\n"  # the page itself sees what it did
    looking, execution = pages.fork(LOOK)
    assert execution.failure is None
    assert shown(looking.cells[1]) == "[]\n"


def test_unseeded_draws_differ_between_pages(pages: Pages) -> None:
    one, other = (shown(pages.fork(DRAWS)[0].cells[1]).splitlines() for _ in range(2))
    assert [pair for pair in zip(one, other, strict=True) if pair[0] == pair[1]] == []


@pytest.mark.parametrize(("mine", "zone"), [("1", "XYZ"), ("2", "UTC")])
def test_environment_of_the_build_is_the_environment_of_the_page(
    mine: str, zone: str, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_OF_MINE", mine)
    monkeypatch.setenv("TZ", f"{zone}+3")
    code = "import os, time\nprint(os.environ.get('ONE_OF_MINE'), time.tzname[0])"
    assert shown(pages.fork(code)[0].cells[1]) == f"{mine} {zone}\n"


def test_error_of_our_own_is_a_failure_of_the_page(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise AttributeError("of ours")

    monkeypatch.setattr(HOST, "ask", fail)
    execution = execute(pages.notebook("1"), request_for(pages.folder, timeout=60))
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Kind.COULD_NOT_CHECK, None)
    assert "AttributeError: of ours" in execution.failure.message


# Builds that are ended -----------------------------------------------------------------

CONF = """extensions = ['myst_nb', 'sphinx_drift']
drift_require = 'all'  # else MyST-NB runs pages without expectations itself
html_theme = 'basic'
"""
SLEEPING = """
import os, subprocess
started = subprocess.Popen(["sleep", "1000"], start_new_session=True)
open({file!r}, "w").write(f"{{os.getppid()}} {{os.getpid()}} {{started.pid}}\\n")
started.wait()
"""


def begin_build(tmp_path: Path, *options: str) -> tuple[subprocess.Popen[str], list[list[int]]]:
    """Begin to build a book whose pages never end.

    Returns:
        The build, and of each page its fork server, its kernel and what that has started.

    """
    files = [tmp_path / f"{name}.started" for name in ("index", "two")]
    front = FRONT.replace("---", "---\norphan: true", 1)
    pages = {
        file.stem: f"{front}# A page\n\n{cell(SLEEPING.format(file=str(file)))}\n" for file in files
    }
    write(tmp_path / "source", {"conf.py": CONF, **pages})
    (tmp_path / "scratch").mkdir()
    build = subprocess.Popen(
        [sys.executable, "-m", "sphinx", "-q", *options, "-b", "dummy", "source", "out"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
    return build, [[int(word) for word in file.read_text().split()] for file in files]


def of_build(tmp_path: Path) -> list[psutil.Process]:
    """Return the processes that a build has started, by its folder for temporary files."""
    scratch = str(tmp_path / "scratch")
    processes = psutil.process_iter(["environ"])
    return [each for each in processes if (each.info["environ"] or {}).get("TMPDIR") == scratch]


@pytest.mark.parametrize(
    ("ended", "number", "readers", "told"),
    [
        ("build", signal.SIGINT, "2", ""),
        ("build", signal.SIGTERM, "2", ""),
        ("build", signal.SIGKILL, "2", ""),
        ("host", signal.SIGKILL, "1", "is gone"),
        ("host", signal.SIGKILL, "2", "is gone"),
        ("fork server", signal.SIGKILL, "1", "killed by SIGKILL"),
    ],
)
def test_build_that_is_ended_or_loses_a_process_leaves_nothing(
    tmp_path: Path, ended: str, number: signal.Signals, readers: str, told: str
) -> None:
    build, of_pages = begin_build(tmp_path, "-j", readers)
    processes = {pid for of_page in of_pages for pid in of_page}
    assert len(processes) == 5  # one fork server, and of each page its kernel and what that started
    server = psutil.Process(of_pages[0][0])
    host = server.parent()
    assert host.ppid() == build.pid
    if number is signal.SIGINT:
        os.killpg(build.pid, number)  # as a terminal does
    else:
        os.kill({"build": build.pid, "host": host.pid, "fork server": server.pid}[ended], number)
    _, errors = build.communicate(timeout=120)
    assert told in errors
    assert build.returncode == 1 or not told
    wait_until(lambda: not any(map(pid_exists, processes)))
    wait_until(lambda: not of_build(tmp_path))
    assert told or not list(tmp_path.joinpath("scratch").glob("sphinx-drift-*"))


FAILING = """
import os, time
main = os.getpid()

def fail(app, doctree, docname):
    if docname == "page9":
        raise RuntimeError("in the main process")

def wait(*_):
    if os.getpid() != main:
        time.sleep(1000)

def setup(app):
    app.connect("doctree-resolved", fail)
    app.connect("html-page-context", wait)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
"""


def test_build_that_ends_by_an_exception_ends_its_workers(tmp_path: Path) -> None:
    """Python waits for its children when it ends: here they write until then."""
    pages = {f"page{n}": "---\norphan: true\n---\n\n# Page\n" for n in range(10)}
    write(tmp_path / "source", {"conf.py": CONF + FAILING, "index": "# Book\n", **pages})
    done = python("-m", "sphinx", "-q", "-j", "3", "source", "out", folder=tmp_path)
    assert done.returncode == 2
    assert "in the main process" in done.stderr
