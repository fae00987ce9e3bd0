"""Pages that run ahead of whoever needs them, by this machine's executor or another's."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from multiprocessing import Pipe
from multiprocessing.connection import Client
from typing import TYPE_CHECKING, Any

import pytest
from nbformat import v4
from processes import wait_until

from sphinx_drift.run import host, run
from sphinx_drift.run.host import HOST
from sphinx_drift.run.results import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Request

NOTE = "import os\nwith open('ran', 'a') as ran:\n    print(os.environ.get('LATER'), file=ran)"


@pytest.fixture(autouse=True)
def own_host() -> Iterator[None]:
    HOST.close()
    yield
    HOST.close()


def notebook(*cells: str) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])


def begin(folder: Path, *cells: str, executor: str = "") -> Request:
    request = run.request_for(folder, timeout=60)
    run.begin([(notebook(*cells), request)], executor)
    return request


def test_page_that_has_begun_is_run_again_only_if_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = begin(tmp_path, NOTE)
    monkeypatch.setenv("LATER", "set")
    reader = os.fork()
    if reader == 0:
        os._exit(int(run.execute(notebook(NOTE), request).failure is not None))
    assert os.waitpid(reader, 0)[1] == 0
    assert (tmp_path / "ran").read_text() == "None\n"
    assert run.execute(notebook(NOTE), request).failure is None
    assert (tmp_path / "ran").read_text() == "None\nset\n"


def test_page_that_nobody_asks_for_ends_with_the_next_queue(tmp_path: Path) -> None:
    begin(tmp_path, NOTE)
    wait_until((tmp_path / "ran").exists)
    request = begin(tmp_path, NOTE)
    assert run.execute(notebook(NOTE), request).failure is None
    assert len((tmp_path / "ran").read_text().splitlines()) == 2


def test_outputs_that_wait_for_sphinx_are_files(tmp_path: Path) -> None:
    request = begin(tmp_path, NOTE)
    folder = HOST._folder  # noqa: SLF001 - what holds them
    wait_until(lambda: [*folder.glob("?" * 16)])
    assert run.execute(notebook(NOTE), request).failure is None
    assert not [*folder.glob("?" * 16)]


def test_page_that_somebody_waits_for_overtakes_the_others(tmp_path: Path) -> None:
    request = run.request_for(tmp_path, timeout=60)
    others = [
        notebook(f"import time\ntime.sleep(5)\nopen('late', 'w'){' ' * n}") for n in range(99)
    ]
    run.begin([(page, request) for page in (*others, notebook("1"))])
    assert run.execute(notebook("1"), request).failure is None
    assert not (tmp_path / "late").exists()


def test_nobody_waits_for_a_request_that_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConnectionError, match="the process that runs pages is gone"):
        HOST.ask("queue", "", [], "no pages")
    assert run.execute(notebook("1"), begin(tmp_path, "1")).failure is None  # others are served
    assert "IndexError" in capfd.readouterr().err  # read once: what is written then would be lost


def test_process_that_ends_while_it_starts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    HOST.start()
    HOST.process.kill()
    HOST.process.wait()
    monkeypatch.setattr(host.time, "sleep", lambda _: pytest.fail("it waits for what is gone"))
    with pytest.raises(ConnectionError, match="is gone"):
        HOST.ask("queue", "", [], [])


def test_process_that_has_ended_is_asked_in_vain(tmp_path: Path) -> None:
    request = begin(tmp_path, NOTE)
    folder = HOST._folder  # noqa: SLF001 - nothing is left of it
    HOST.process.kill()
    failure = run.execute(notebook("1"), request).failure
    begin(tmp_path, NOTE)  # nor does it fail: each page does
    assert failure is not None
    assert "the process that runs pages is gone" in failure.message
    HOST.close()
    assert not folder.exists()


EXECUTORS = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

class Noting:
    def submit(self, function, notebook, request, environment):
        open("submitted", "a").write(function.__name__ + "\\n")
        return super().submit(function, notebook, request, environment)

class Named(Noting, ThreadPoolExecutor):
    pass

class Forking(Noting, ProcessPoolExecutor):
    pass

leaving = lambda: sys.exit("no machine")
slow = lambda: time.sleep(60)

class Raising(ThreadPoolExecutor):
    def submit(self, *_):
        raise TimeoutError("no room")

class Failing(ThreadPoolExecutor):
    def submit(self, *_):
        return super().submit(Raising().submit)

class Late(ThreadPoolExecutor):
    def __init__(self):
        super().__init__()
        leave = os._exit
        os._exit = lambda status: (time.sleep(2), leave(status))

    def submit(self, *_):
        return super().submit(time.sleep, 1)
"""


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "machines.py").write_text(EXECUTORS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("name", ["Named", "Forking"])
def test_book_names_another_executor(name: str, tmp_path: Path) -> None:
    request = begin(tmp_path, NOTE, executor=f"machines:{name}")
    assert run.execute(notebook(NOTE), request).failure is None
    assert run.execute(notebook(NOTE), request).failure is None
    assert (tmp_path / "submitted").read_text() == "run_page\n" * 2


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("name", ["Raising", "Failing"])
def test_executor_that_raises_is_quoted(name: str, tmp_path: Path) -> None:
    request = begin(tmp_path, "1", executor=f"machines:{name}")
    for cell in ("1", "2"):  # begun, and not
        failure = run.execute(notebook(cell), request).failure
        assert failure is not None
        assert failure.kind is Ending.RUNNER_FAILED
        assert failure.message == "the executor raised TimeoutError: no room"


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize(
    "name", ["nothing_such:make", "json:loads", "json", "machines:leaving", "machines:slow"]
)
def test_executor_that_is_none_is_refused_by_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_PATIENCE", 5.0)
    with pytest.raises(ValueError, match=f"{name}: expected an executor"):
        begin(tmp_path, "1", executor=name)


def test_executor_that_ends_no_page_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_GRACE", 1.0)
    monkeypatch.setattr(host, "_BEAT", 0.1)
    (tmp_path / host._KEY).write_bytes(b"")  # noqa: SLF001 - what its process would have
    pages = host._Pages(tmp_path)  # noqa: SLF001 - the process would not be patched
    assert pages._queue("concurrent.futures:Executor", [], []) == ""  # noqa: SLF001 - the same
    monkeypatch.setattr(pages._at_once, "submit", lambda *_: Future())  # noqa: SLF001 - the same
    page: Any = (notebook("1"), run.request_for(tmp_path, timeout=1), {})
    ours, theirs = Pipe()
    with ours, theirs:
        failure = pages._wait_for(ours, page)[1].failure  # noqa: SLF001 - the same
    assert failure.message == "the executor has ended no page for 4.0 seconds"


@pytest.mark.parametrize("message", [b"x" * 40, b"x" * 41, b"", b"x" * 1_000_000])
def test_what_a_stranger_sends_is_not_read(message: bytes, tmp_path: Path) -> None:
    assert run.execute(notebook("1"), begin(tmp_path, "1")).failure is None  # it listens
    with Client(host._address(HOST._folder)) as stranger:  # noqa: SLF001 - as one finds it
        with contextlib.suppress(ConnectionError):
            stranger.send_bytes(message)
        with pytest.raises((EOFError, ConnectionError)):
            stranger.recv_bytes()
    assert run.execute(notebook("2"), begin(tmp_path, "2")).failure is None


@pytest.mark.usefixtures("machines")
def test_process_says_nothing_of_its_end(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    request = begin(tmp_path, "1", executor="machines:Late")
    asking = threading.Thread(target=run.execute, args=[notebook("1"), request])
    asking.start()
    time.sleep(0.3)
    HOST.close()
    asking.join()
    assert capfd.readouterr().err == ""


def test_folders_that_a_killed_build_has_left_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, ours = (tmp_path / f"sphinx-drift-{pid}-x" for pid in (ended.pid, os.getpid()))
    new, foreign = tmp_path / f"{left.name}-new", tmp_path / f"drift-{ended.pid}-thesis"
    for folder in (left, ours, new, foreign):
        folder.mkdir()
        if folder != new:
            os.utime(folder, (1, 1))
    code = "from sphinx_drift.run import host; host._remove_leftovers()"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert [folder.exists() for folder in (left, ours, new, foreign)] == [False, True, True, True]
