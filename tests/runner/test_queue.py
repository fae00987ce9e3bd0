"""Pages that have been asked for before they are read."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from selfattn.runner import fork, helper, wire
from selfattn.runner.results import Request
from selfattn.runner.run import Begun

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import pytest
    from conftest import Pages

NOTE = "import os\nwith open('ran', 'a') as ran:\n    print(os.environ.get('LATER'), file=ran)"


def test_what_pages_have_in_common_travels_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LARGE", "x" * 10_000)

    def size(pages: int) -> int:
        asked = [([f"print({number})"], Request(tmp_path)) for number in range(pages)]
        return len(wire.pack(fork._queued(asked)))  # noqa: SLF001 - what is sent

    assert 99 * 100 < size(100) - size(1) < 99 * 200


def test_page_is_not_run_again_for_a_variable_that_came_after_it_had_begun(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = pages.notebook(NOTE), pages.request()
    connections = fork.queue([([NOTE], pages.request())])
    monkeypatch.setenv("LATER", "set")
    assert fork.run(*asked).failure is None
    assert (pages.folder / "ran").read_text() == "None\n"
    assert fork.run(*asked).failure is None  # nobody has begun it
    assert (pages.folder / "ran").read_text() == "None\nset\n"
    for each in connections:
        assert each.recv(1) == b""
        each.close()


def test_a_build_waits_until_the_helper_has_begun() -> None:
    ours, theirs = socket.socketpair()
    begun = Begun({}, [ours])
    assert begun.waits()
    assert begun.waits()
    theirs.close()
    assert not begun.waits()
    assert ours.fileno() == -1
    assert not begun.waits()


def test_where_nothing_has_begun_nothing_waits() -> None:
    assert not Begun().waits()
    assert not Begun().cells


def test_sphinx_has_a_core_once_pages_are_ready_for_it() -> None:
    nothing: Any = None
    forking = helper.Helper(nothing, 2, nothing, nothing, nothing)

    def jobs(number: int, **state: Any) -> list[helper.Job]:
        made = [helper.Job(f"{state}{each}", {}) for each in range(number)]
        for job in made:
            vars(job).update(state)
            forking.jobs[job.key] = job
        return made

    forking.running = jobs(1)
    assert forking._may_fork()  # noqa: SLF001 - a core is free
    forking.running += jobs(3, raised=0)
    assert forking._may_fork()  # noqa: SLF001 - those wait to be told whether to go on
    jobs(3, over=True)
    assert not forking._may_fork()  # noqa: SLF001 - that core is Sphinx's
    forking.running = []
    assert forking._may_fork()  # noqa: SLF001 - pages go on
    forking.slots = 1
    assert forking._may_fork()  # noqa: SLF001 - also where there is one core
    forking.running = jobs(1)
    assert not forking._may_fork()  # noqa: SLF001 - it is in use
