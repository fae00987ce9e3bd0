"""Pages that run ahead of whoever needs them, by this machine's executor or another's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from nbformat import v4
from processes import wait_until

from sphinx_drift.run import host, run
from sphinx_drift.run.host import HOST
from sphinx_drift.run.results import Ending, Request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nbformat import NotebookNode

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


def test_page_that_has_begun_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = begin(tmp_path, NOTE)
    monkeypatch.setenv("LATER", "set")
    assert run.execute(notebook(NOTE), request).failure is None
    assert (tmp_path / "ran").read_text() == "None\n"
    assert run.execute(notebook(NOTE), request).failure is None  # nobody has begun it
    assert (tmp_path / "ran").read_text() == "None\nset\n"


def test_what_is_forked_asks_for_pages_too(tmp_path: Path) -> None:
    request = begin(tmp_path, NOTE)
    reader = os.fork()
    if reader == 0:
        os._exit(int(run.execute(notebook(NOTE), request).failure is not None))
    assert os.waitpid(reader, 0)[1] == 0
    assert (tmp_path / "ran").read_text() == "None\n"


def test_page_that_nobody_asks_for_ends_with_the_next_queue(tmp_path: Path) -> None:
    begin(tmp_path, NOTE)
    wait_until((tmp_path / "ran").exists)
    request = begin(tmp_path, NOTE)
    assert run.execute(notebook(NOTE), request).failure is None
    assert len((tmp_path / "ran").read_text().splitlines()) == 2


class Process:
    """Does here, and step by step, what the process does that runs pages."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pages = folder, host._Pages(folder)  # noqa: SLF001 - it is made of them

    def page(self, source: str) -> host.Page:
        cells = [v4.new_code_cell(source, id="cell")]
        return v4.new_notebook(cells=cells), Request(self.folder), {}

    def ask(self, *request: Any) -> Any:
        answer = self.folder / "ours.answer"
        host._write(answer.with_suffix(".request"), request)  # noqa: SLF001 - as builds do
        while not answer.exists():
            self.pages.serve()
        return host._take(answer)  # noqa: SLF001 - the same


@pytest.fixture
def process(tmp_path: Path) -> Process:
    return Process(tmp_path)


def test_outputs_that_wait_for_sphinx_take_no_memory(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sphinx_drift.run.page.run_page", lambda *page: page)
    assert process.ask("queue", "", [], [process.page("1")]) == ""
    (future,) = process.pages._queued.values()  # noqa: SLF001 - before somebody asks for it
    kept = future.result()
    assert kept.is_file()
    assert process.ask("run", process.page("1")) == process.page("1")
    assert not kept.exists()


def test_page_that_somebody_waits_for_overtakes_the_others(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    others, ended = threading.Event(), []

    def run_page(page: NotebookNode, *_: object) -> bool:
        if page.cells[0].source != "awaited":
            ended.append(others.wait(5))
        return True

    monkeypatch.setattr("sphinx_drift.run.page.run_page", run_page)
    queued = [process.page(source) for source in [*map(str, range(100)), "awaited"]]
    process.ask("queue", "", [], queued)
    assert process.ask("run", queued[-1])
    assert not ended
    others.set()


def test_process_that_fails_ends_and_nobody_waits_for_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    request = begin(tmp_path, NOTE)
    folder = HOST._folder  # noqa: SLF001 - what is unreadable is put there
    (folder / "bad.request").write_bytes(b"no pickle")
    failure = run.execute(notebook("1"), request).failure
    assert failure is not None
    assert "the process that runs pages is gone" in failure.message
    assert "UnpicklingError" in capfd.readouterr().err
    HOST.process.wait(60)
    assert not folder.exists()


EXECUTOR = """
from concurrent.futures import ThreadPoolExecutor

class Named(ThreadPoolExecutor):
    def submit(self, function, notebook, request, environment):
        open("submitted", "a").write(function.__name__ + "\\n")
        return super().submit(function, notebook, request, environment)

def make():
    return Named(2)
"""


def test_book_names_another_executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "machines.py").write_text(EXECUTOR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    request = begin(tmp_path, NOTE, executor="machines:make")
    assert run.execute(notebook(NOTE), request).failure is None
    assert run.execute(notebook(NOTE), request).failure is None
    assert (tmp_path / "submitted").read_text() == "run_page\n" * 2


def fail(*_: object) -> Any:
    raise TimeoutError("no room")


@pytest.mark.parametrize("submit", [fail, lambda *_: ThreadPoolExecutor(1).submit(fail)])
def test_executor_that_raises_is_quoted(submit: Any, process: Process) -> None:
    process.pages._executor = SimpleNamespace(submit=submit)  # type: ignore[assignment]  # noqa: SLF001 - the book's
    process.ask("queue", "", [], [process.page("1")])
    for source in ("1", "2"):
        page, execution = process.ask("run", process.page(source))
        assert page.cells[0].source == source
        assert execution.failure.kind is Ending.RUNNER_FAILED
        assert execution.failure.message == "the executor raised TimeoutError: no room"


@pytest.mark.parametrize("name", ["nothing_such:make", "json:loads", "json"])
def test_executor_that_is_none_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected an executor"):
        begin(tmp_path, "1", executor=name)


def test_folders_that_a_killed_build_has_left_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, ours = (tmp_path / f"drift-{pid}-x" for pid in (ended.pid, os.getpid()))
    for folder in (left, ours):
        folder.mkdir()
    code = "from sphinx_drift.run import host; host._remove_leftovers()"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert ours.exists()
    assert not left.exists()


ELSEWHERE = """
from jupyter_client.provisioning import LocalProvisioner

class Elsewhere(LocalProvisioner):
    \"\"\"Starts kernels by a command that takes them to another machine, as gateways do.\"\"\"

    async def launch_kernel(self, cmd, **options):
        return await super().launch_kernel(["env", "MACHINE=another", *cmd], **options)
"""


def test_kernelspec_names_a_provisioner_of_another_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, kernel = tmp_path / "elsewhere-1.dist-info", tmp_path / "share" / "kernels" / "far"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1\n")
    (package / "entry_points.txt").write_text(
        "[jupyter_client.kernel_provisioners]\nelsewhere = elsewhere:Elsewhere\n"
    )
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    kernel.mkdir(parents=True)
    provisioner = {"provisioner_name": "elsewhere"}
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Far",
        "language": "python",
        "metadata": {"kernel_provisioner": provisioner},
    }
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    page = notebook("import os\nprint(os.environ['MACHINE'])")
    page.metadata["kernelspec"] = {"name": "far", "display_name": "Far"}
    execution = run.execute(page, run.request_for(tmp_path, timeout=60))
    assert execution.failure is None
    assert page.cells[0].outputs[0].text == "another\n"
