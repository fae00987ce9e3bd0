"""Pages that have been asked for before they are read."""

from __future__ import annotations

import os
import resource
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
import small_book
from processes import alive, wait_until

from sphinx_drift.run import fork, fork_client, protocol, scheduler
from sphinx_drift.run.results import Ending, Request
from sphinx_drift.run.run import begin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runners import Pages

NOTE = "import os\nwith open('ran', 'a') as ran:\n    print(os.environ.get('LATER'), file=ran)"


def test_what_pages_have_in_common_travels_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LARGE", "x" * 10_000)

    def size(pages: int) -> int:
        requests = [([f"print({number})"], Request(tmp_path)) for number in range(pages)]
        return len(protocol.pack(fork._message(requests)[0]))  # noqa: SLF001 - what is sent

    assert 99 * 100 < size(100) - size(1) < 99 * 200


def test_page_is_not_run_again_for_a_variable_that_came_after_it_had_begun(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = pages.notebook(NOTE), pages.request()
    fork.queue([([NOTE], pages.request())])
    monkeypatch.setenv("LATER", "set")
    assert fork.run(*arguments).failure is None
    assert (pages.folder / "ran").read_text() == "None\n"
    assert fork.run(*arguments).failure is None  # nobody has begun it
    assert (pages.folder / "ran").read_text() == "None\nset\n"
    fork.forget()


@pytest.fixture
def forking() -> Any:
    """Return a scheduler of two slots, and what makes jobs in a state for it."""
    nothing: Any = None
    result = scheduler.Scheduler(nothing, 2, nothing, nothing)

    def jobs(number: int, **state: Any) -> list[scheduler.Job]:
        new = [scheduler.Job(str(each), {}, nothing) for each in range(number)]
        for job in new:
            vars(job).update(state)
        result.jobs += new
        return new

    return result, jobs


def test_sphinx_has_a_core_once_pages_are_ready_for_it(forking: Any) -> None:
    forking, jobs = forking
    (job,) = jobs(1)
    forking.running = jobs(1)
    assert forking.may_fork(job)  # a core is free
    forking.running += jobs(3, raised=0)
    assert forking.may_fork(job)  # those wait to be told whether to go on
    jobs(3, is_over=True)
    assert not forking.may_fork(job)  # that core is Sphinx's
    forking.running = []
    assert forking.may_fork(job)  # pages go on
    forking.slots = 1
    assert forking.may_fork(job)  # also where there is one core
    forking.running = jobs(1)
    assert not forking.may_fork(job)  # it is in use


@pytest.mark.parametrize("state", [{"raised": 0}, {"is_over": True, "size": 1 << 26}])
def test_pages_wait_for_sphinx_when_much_waits_for_it(forking: Any, state: dict[str, Any]) -> None:
    forking, jobs = forking
    (fetched,), (unfetched,) = jobs(1, is_fetched=True), jobs(1)
    forking.running = jobs(7, **state)
    forking.running = [job for job in forking.running if not job.is_over]
    jobs(1, **state)
    forking.running += [job for job in forking.jobs[-1:] if not job.is_over]
    assert not forking.may_fork(unfetched)  # what a memory holds is bounded
    assert forking.may_fork(fetched)  # Sphinx itself waits for it


def test_pages_that_raised_and_were_not_read_are_few(pages: Pages) -> None:
    code = "import os\nopen(f'{os.getpid()}.ran', 'w').close()\nraise ValueError(%d)"
    sources = [code % number for number in range(30)]
    fork.queue([([cell], pages.request()) for cell in sources])

    def ran() -> int:
        return len([*pages.folder.glob("*.ran")])

    wait_until(lambda: ran() >= 8)
    time.sleep(1)
    assert ran() <= 8 + len(os.sched_getaffinity(0))
    for cell in sources:
        failure = fork.run(pages.notebook(cell), pages.request()).failure
        assert failure
        assert failure.kind is Ending.RAISED
    assert ran() == 30  # none of them twice
    fork.forget()


def test_pages_run_at_a_time_are_no_more_than_descriptors_last_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for most, expected in ((1 << 20, 500), (1024, 116), (256, 20), (64, 1)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        assert scheduler.affordable_slots(500) == expected


# Whose they are ------------------------------------------------------------------------

SLEEP = "import os, time\nopen('begun', 'w').write(str(os.getpid()))\ntime.sleep(1000)"


@contextmanager
def build(pages: Pages, cell: str) -> Iterator[int]:
    """Queue a page in a build of its own: a process that does nothing else."""
    fork_client.fork_server()
    pid = os.fork()
    if pid == 0:
        fork.queue([([cell], pages.request())])
        time.sleep(100)
        os._exit(0)
    yield pid
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_no_build_is_given_what_another_has_queued(pages: Pages) -> None:
    ran = pages.folder / "ran"
    with build(pages, NOTE):
        wait_until(ran.exists)
        assert fork.run(pages.notebook(NOTE), pages.request()).failure is None
        assert len(ran.read_text().splitlines()) == 2  # also while that other one goes on
    assert fork.run(pages.notebook(NOTE), pages.request()).failure is None
    assert len(ran.read_text().splitlines()) == 3


def test_pages_end_with_the_build_that_queued_them(pages: Pages) -> None:
    begun = pages.folder / "begun"
    with build(pages, SLEEP) as pid:
        wait_until(lambda: begun.exists() and begun.read_text() != "")
        assert alive(int(begun.read_text()))
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not alive(int(begun.read_text())))


def test_pages_end_when_their_build_says_that_it_is_over(pages: Pages) -> None:
    begun = pages.folder / "begun"
    fork.queue([([SLEEP], pages.request())])
    wait_until(lambda: begun.exists() and begun.read_text() != "")
    begin([], lambda *_: [])  # the next build in this process
    wait_until(lambda: not alive(int(begun.read_text())))


def test_pages_are_given_to_what_a_build_forks(pages: Pages) -> None:
    fork.queue([([NOTE], pages.request())])
    reader = os.fork()
    if reader == 0:
        failure = fork.run(pages.notebook(NOTE), pages.request()).failure
        os._exit(int(failure is not None))
    assert os.waitpid(reader, 0)[1] == 0
    assert (pages.folder / "ran").read_text() == "None\n"  # it ran once
    fork.forget()


COUNTING = """
from sphinx_drift.run import fork
extensions = ["myst_nb", "sphinx_drift.run"]

def count(*_):
    with open("owners", "a") as file:
        print(len(fork._owners), file=file)

def setup(app):
    app.connect("env-updated", count)
    app.connect("build-finished", count, priority=900)
"""
PAGE = small_book.FRONT + "# A page\n\n```{code-cell} ipython3\nprint(1)\n```\n"


def test_sphinx_drops_what_it_has_queued_when_it_is_finished(tmp_path: Path) -> None:
    small_book.write(tmp_path, {"conf.py": COUNTING, "index": PAGE})
    assert small_book.build(tmp_path, "dummy").returncode == 0
    assert (tmp_path / "owners").read_text() == "1\n0\n"
