"""Pages that run ahead of whoever needs them."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Client
from pathlib import Path

import pytest
from notebooks import notebook
from processes import wait_until

from sphinx_drift.run import run
from sphinx_drift.run.host import HOST
from sphinx_drift.run.pool import Pool, memory_limit
from sphinx_drift.run.results import Request

NOTE = "import os\nwith open('ran', 'a') as ran:\n    print(os.environ.get('LATER'), file=ran)"


@pytest.fixture(autouse=True)
def own_host() -> Iterator[None]:
    HOST.close()
    yield
    HOST.close()


def queue(folder: Path, *cells: str) -> Request:
    request = run.request_for(folder, timeout=60)
    run.queue([(notebook(*cells), request)])
    return request


def test_page_that_has_begun_is_run_again_only_if_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = queue(tmp_path, NOTE)
    monkeypatch.setenv("LATER", "set")
    reader = os.fork()
    if reader == 0:
        os._exit(int(run.execute(notebook(NOTE), request).failure is not None))
    assert os.waitpid(reader, 0)[1] == 0
    assert (tmp_path / "ran").read_text() == "None\n"
    assert run.execute(notebook(NOTE), request).failure is None
    assert (tmp_path / "ran").read_text() == "None\nset\n"


def test_page_that_nobody_asks_for_ends_with_the_next_queue(tmp_path: Path) -> None:
    queue(tmp_path, NOTE)
    wait_until((tmp_path / "ran").exists)
    request = queue(tmp_path, NOTE)
    assert run.execute(notebook(NOTE), request).failure is None
    assert len((tmp_path / "ran").read_text().splitlines()) == 2


def test_page_that_somebody_waits_for_overtakes_the_others(tmp_path: Path) -> None:
    request = run.request_for(tmp_path, timeout=60)
    others = [
        notebook(f"import time\ntime.sleep(60)\nopen('late', 'w'){' ' * n}") for n in range(99)
    ]
    run.queue([(page, request) for page in (*others, notebook("1"))])
    assert run.execute(notebook("1"), request).failure is None
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize(
    ("row", "file"),
    [
        ("0::/slice/box", "slice/memory.max"),
        ("4:memory:/box/of/another/view", "memory/memory.limit_in_bytes"),
    ],
)
def test_no_more_memory_is_counted_on_than_the_container_has(
    row: str, file: str, tmp_path: Path
) -> None:
    (tmp_path / "group").write_text(f"1:cpu,cpuacct:/\n{row}\n")
    (tmp_path / file).parent.mkdir()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / file).write_text("1048576\n")
    assert memory_limit(tmp_path / "group", tmp_path) == 2**20
    assert memory_limit(tmp_path / "none", tmp_path) > 2**20


def test_request_that_fails_says_why_and_others_are_served(tmp_path: Path) -> None:
    with pytest.raises(IndexError, match="out of range"):
        HOST.ask(Pool.queue, "no pages")  # type: ignore[arg-type]
    assert run.execute(notebook("1"), queue(tmp_path, "1")).failure is None


@pytest.mark.parametrize("asked", ["before", "after"])
def test_host_that_is_killed_fails_each_page(asked: str, tmp_path: Path) -> None:
    request = queue(tmp_path, NOTE) if asked == "before" else run.request_for(tmp_path)
    HOST.start()
    HOST.process.kill()
    queue(tmp_path, NOTE)  # fails only when a page is asked for
    failure = run.execute(notebook("1"), request).failure
    assert failure is not None
    assert "the process that runs pages is gone" in failure.message


@pytest.mark.skipif(sys.platform != "linux", reason="sets another process's limit")
def test_who_asks_a_host_without_a_descriptor_waits_for_one(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    request = queue(tmp_path, "1")
    assert run.execute(notebook("1"), request).failure is None
    pid = HOST.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    Client(HOST.address).close()  # takes the descriptor that the host has reserved by now
    raised = threading.Timer(2, resource.prlimit, [pid, resource.RLIMIT_NOFILE, limits])
    raised.start()
    started = time.monotonic()
    assert run.execute(notebook("1"), request).failure is None
    assert time.monotonic() - started > 1


def test_no_more_pages_run_at_once_than_have_descriptors(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    pages = [notebook(f"import time\ntime.sleep(3)\n{n}") for n in range(10)]
    request = run.request_for(tmp_path, timeout=60)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
    try:
        HOST.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    run.queue([(page, request) for page in pages])
    assert [run.execute(page, request).failure for page in pages] == [None] * 10


@pytest.mark.parametrize("message", [b"x" * 40, b"x" * 41, b"", b"x" * 1_000_000])
def test_what_a_stranger_sends_is_not_read(message: bytes, tmp_path: Path) -> None:
    assert run.execute(notebook("1"), queue(tmp_path, "1")).failure is None  # it listens
    with Client(HOST.address) as stranger:
        with contextlib.suppress(ConnectionError):
            stranger.send_bytes(message)
        with pytest.raises((EOFError, ConnectionError)):
            stranger.recv_bytes()
    assert run.execute(notebook("2"), queue(tmp_path, "2")).failure is None
