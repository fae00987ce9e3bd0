"""Pages that run ahead of whoever needs them, by this machine's executor or another's."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from multiprocessing.connection import Client
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nbformat import v4
from processes import wait_until

from sphinx_drift.run import run
from sphinx_drift.run.host import HOST
from sphinx_drift.run.pool import Pool
from sphinx_drift.run.results import Ending, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbformat import NotebookNode

    from sphinx_drift.run.pool import Page


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


def test_page_that_somebody_waits_for_overtakes_the_others(tmp_path: Path) -> None:
    request = run.request_for(tmp_path, timeout=60)
    others = [
        notebook(f"import time\ntime.sleep(5)\nopen('late', 'w'){' ' * n}") for n in range(99)
    ]
    run.begin([(page, request) for page in (*others, notebook("1"))])
    assert run.execute(notebook("1"), request).failure is None
    assert not (tmp_path / "late").exists()


def test_request_that_fails_says_why_and_others_are_served(tmp_path: Path) -> None:
    with pytest.raises(IndexError, match="out of range"):
        HOST.ask(Pool.queue, "", [], "no pages")  # type: ignore[arg-type]
    assert run.execute(notebook("1"), begin(tmp_path, "1")).failure is None


def test_argument_that_is_named_is_sent() -> None:
    with pytest.raises(ValueError, match="nothing_such: expected an executor"):
        HOST.ask(Pool.queue, executor="nothing_such", path=[], pages=[])


@pytest.mark.parametrize("asked", ["before", "after"])
def test_host_that_is_killed_fails_each_page(asked: str, tmp_path: Path) -> None:
    request = begin(tmp_path, NOTE) if asked == "before" else run.request_for(tmp_path)
    HOST.start()
    HOST.process.kill()
    begin(tmp_path, NOTE)  # fails only when a page is asked for
    failure = run.execute(notebook("1"), request).failure
    assert failure is not None
    assert "the process that runs pages is gone" in failure.message


EXECUTORS = """
import os, sys, time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

class Noting:
    def submit(self, function, notebook, request, environment):
        open("submitted", "a").write(function.__name__ + "\\n")
        return super().submit(function, notebook, request, environment)

class Named(Noting, ThreadPoolExecutor):
    pass

class Forking(Noting, ProcessPoolExecutor):
    pass

leaving = lambda: sys.exit("no machine")

class Raising(ThreadPoolExecutor):
    def submit(self, *_):
        raise TimeoutError("no room")

class Failing(ThreadPoolExecutor):
    def submit(self, *_):
        return super().submit(Raising().submit)

class Silent(ThreadPoolExecutor):
    def submit(self, *_):
        return Future()

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
        assert failure.kind is Ending.COULD_NOT_CHECK
        assert failure.message == "the executor: TimeoutError: no room"


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("name", ["nothing_such:make", "json:loads", "json", "machines:leaving"])
def test_executor_that_is_none_is_refused_by_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected an executor"):
        begin(tmp_path, "1", executor=name)


@pytest.mark.usefixtures("machines")
def test_executor_that_ends_no_page_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sphinx_drift.run.pool._GRACE", 0.1)
    waiting = Pool()
    waiting.queue("machines:Silent", [], [])
    page: Page = (notebook("1"), Request(Path(), timeout=1), {})
    failure = waiting.run(page)[1].failure
    assert failure is not None
    assert failure.message == "the executor: TimeoutError: no page has ended for 3.1 seconds"


@pytest.mark.parametrize("message", [b"x" * 40, b"x" * 41, b"", b"x" * 1_000_000])
def test_what_a_stranger_sends_is_not_read(message: bytes, tmp_path: Path) -> None:
    assert run.execute(notebook("1"), begin(tmp_path, "1")).failure is None  # it listens
    with Client(HOST.address) as stranger:
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
