"""Whatever a page does, it fails alone, and nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import small_book
from processes import alive, wait_until

from sphinx_drift.run import choice, fork, fork_client, obstacles, run
from sphinx_drift.run.results import Ending
from sphinx_drift.run.transcript import CannotForkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runners import Pages

DEADLY = {
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)": "killed by SIGKILL",
    "import os\nos._exit(3)": "exit status 3",
    "import ctypes\nctypes.string_at(0)": "killed by SIGSEGV",
    "import os\nos.abort()": "killed by SIGABRT",
    "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)": "killed by SIGTERM",
}


@pytest.mark.parametrize("code", DEADLY)
def test_page_whose_process_dies_fails_with_how_and_where(pages: Pages, code: str) -> None:
    _, execution = pages.fork("print('fine')", code, "print('never')")
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Ending.DEAD_KERNEL, 2)
    assert DEADLY[code] in execution.failure.message
    assert 1 in execution.executed
    assert pages.fork("1")[1].failure is None  # others go on


def test_crash_in_compiled_code_tells_its_stack(pages: Pages) -> None:
    _, execution = pages.fork("import ctypes\nctypes.string_at(0)")
    assert execution.failure is not None
    assert "string_at" in execution.failure.message


def test_page_that_runs_out_of_memory_fails_alone(pages: Pages, shown: Any) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))"
    notebook, execution = pages.fork(limit, "held = bytearray(2**33)")
    assert execution.failure is not None
    assert execution.failure.index == 2
    assert shown(notebook.cells[2]) == "MemoryError: \n"
    assert pages.fork("len(bytearray(2**20))")[1].failure is None


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(100)",
        "import subprocess\nsubprocess.run(['sleep', '100'])",
        "import asyncio\nawait asyncio.sleep(100)",
        "import ctypes\nctypes.PyDLL(None).sleep(100)",
    ],
)
def test_cell_that_takes_too_long_is_stopped(pages: Pages, code: str) -> None:
    _, execution = pages.fork("1", code, "2", timeout=1)
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Ending.TIMEOUT, 2)


def hang() -> None:
    """Never return: as the module for devices of a book might."""
    import time  # noqa: PLC0415 - this is sent to the page

    time.sleep(100)


@pytest.mark.parametrize("runner", ["fork", "stock"])
def test_what_runs_before_the_first_cell_has_the_time_of_a_cell(pages: Pages, runner: str) -> None:
    started = time.monotonic()
    _, execution = getattr(pages, runner)("1", before=(hang,), timeout=2)
    assert time.monotonic() - started < 90
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Ending.TIMEOUT, -1)
    assert "2 seconds" in execution.failure.message
    assert execution.executed == set()


def test_task_that_a_cell_leaves_can_not_hold_the_page_up(pages: Pages) -> None:
    leaves = (
        "import asyncio, time\nasync def block():\n    time.sleep(100)\n"
        "task = asyncio.create_task(block())"
    )
    _, execution = pages.fork(leaves, timeout=1)
    assert execution.failure is not None
    assert execution.failure.kind is Ending.TIMEOUT
    later = "import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()"
    assert pages.fork(later, timeout=50)[1].failure is None


def test_each_cell_has_the_time_for_itself(pages: Pages) -> None:
    assert pages.fork(*["import time\ntime.sleep(0.8)"] * 3, timeout=2)[1].failure is None


def test_what_a_page_started_ends_with_it(pages: Pages, shown: Any) -> None:
    started = "import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)"
    notebook, _ = pages.fork(started)
    wait_until(lambda: not alive(int(shown(notebook.cells[1]))))
    notebook, _ = pages.fork(started, "import os\nos._exit(1)")
    wait_until(lambda: not alive(int(shown(notebook.cells[1]))))


def test_page_that_exits_in_the_middle_fails(pages: Pages) -> None:
    assert pages.fork("exit")[1].failure is None
    _, execution = pages.fork("exit", "1")
    assert execution.failure is not None
    assert execution.failure.kind is Ending.DEAD_KERNEL


# What a page writes where it should not ------------------------------------------------


JUNK = [b"y" * 1000, b"\0" * 1000, b"\0\0\0\2{}", b"\0\0\0\2[]", b"\0\0\0\1{"]


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.usefixtures("own_server")
def test_page_that_writes_to_any_descriptor_fails_alone(pages: Pages, junk: bytes) -> None:
    code = (
        "import os\nfor fd in range(3, 64):\n    try:\n"
        f"        os.write(fd, {junk!r})\n    except OSError:\n        pass"
    )
    _, execution = pages.fork("1", code, "2")
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Ending.DEAD_KERNEL, 2)
    assert "descriptor" in execution.failure.message
    assert pages.fork("1")[1].failure is None  # by the same server


@pytest.mark.usefixtures("own_server")
@pytest.mark.parametrize(
    "child",
    [
        "",  # goes on to the end of the cell
        "for n in range(1000):\n        sys.stderr.flush()\n        display(n)",
        "raise ValueError",
        "os._exit(0)",
        "os.closerange(3, 64)",
    ],
)
@pytest.mark.parametrize("fork", ["os.fork()", "ctypes.PyDLL(None).fork()"])
def test_page_that_forks_goes_on_alone(pages: Pages, shown: Any, fork: str, child: str) -> None:
    fork_in_cell = f"import ctypes, os, sys\npid = {fork}\nif not pid:\n    pass\n    {child}\n"
    fork_in_cell += "else:\n    for n in range(1000):\n        print(n)"
    wait = "_, status = os.waitpid(pid, 0)\nprint('ended', status)"
    notebook, execution = pages.fork(fork_in_cell, wait, "print('next')")
    assert execution.failure is None
    assert shown(notebook.cells[1]) == "".join(f"{n}\n" for n in range(1000))
    assert shown(notebook.cells[2]) == "ended 0\n"
    assert shown(notebook.cells[3]) == "next\n"
    assert pages.fork("1")[1].failure is None


# Where it can't be done ----------------------------------------------------------------


@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have a fork server for this test alone, and warn again of what was warned of once."""
    monkeypatch.setattr(fork_client, "_servers", {})
    run._warn_once.cache_clear()  # noqa: SLF001 - what is said once a build is wanted in each test
    yield
    fork_client.close()


def executed(pages: Pages, *cells: str) -> Any:
    return run.execute(pages.notebook(*cells), run.request_for(pages.folder, timeout=60))


@pytest.mark.usefixtures("own_server")
def test_fork_server_that_is_killed_leaves_the_page_to_the_stock_kernel(
    pages: Pages, caplog: pytest.LogCaptureFixture
) -> None:
    kill = "import os, signal\nparent = open(f'/proc/{os.getppid()}/cmdline').read()\n"
    kill += "if 'run.fork_server' in parent:\n"
    kill += "    os.kill(os.getppid(), signal.SIGKILL)\n    import time\n    time.sleep(100)"
    assert executed(pages, kill, "2").failure is None
    assert "Jupyter kernels" in caplog.text
    assert "gone" in caplog.text
    assert executed(pages, "3").failure is None  # the same for all pages after it


@pytest.mark.usefixtures("own_server")
def test_what_pages_started_ends_with_a_fork_server_that_is_killed(pages: Pages) -> None:
    code = (
        "import os, signal, subprocess, time\n"
        "started = [subprocess.Popen(['sleep', '1000'], start_new_session=new).pid "
        "for new in (False, True)]\n"
        "with open('told', 'w') as told:\n    print(os.getpid(), *started, file=told)\n"
        "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(100)"
    )
    with pytest.raises(CannotForkError, match="gone"):
        pages.fork(code)
    processes = [*map(int, (pages.folder / "told").read_text().split())]
    assert len(processes) == 3
    wait_until(lambda: not any(map(alive, processes)))


@pytest.mark.usefixtures("own_server")
def test_fork_server_ends_when_its_guard_is_killed(pages: Pages) -> None:
    guard = fork_client.fork_server().process  # type: ignore[attr-defined] # it is our own
    notebook, _ = pages.fork("import os\nos.getppid()")
    child = int(notebook.cells[1].outputs[0].data["text/plain"])
    assert child != guard.pid
    guard.kill()
    wait_until(lambda: not alive(child))


@pytest.mark.usefixtures("own_server")
def test_fork_server_with_two_threads_refuses(
    pages: Pages, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = pages.folder / "busy_module.py"
    busy.write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True)"
        ".start()\n"
    )
    monkeypatch.setattr(fork_client, "_preloaded", ("busy_module",))
    monkeypatch.setenv("PYTHONPATH", str(pages.folder), prepend=os.pathsep)
    with pytest.raises(CannotForkError, match=r"\b2 threads\b"):
        pages.fork("1")
    assert executed(pages, "1").failure is None
    assert "2 threads" in caplog.text


RENAMED = {
    "before it forks": "from IPython.core import debugger\ndel debugger.InterruptiblePdb",
    "when it prints": "from ipykernel.iostream import OutStream\ndel OutStream.set_parent",
    "in a cell": "from ipykernel.kernelbase import Kernel\ndel Kernel.init_metadata",
    "as it starts": "from ipykernel.zmqshell import ZMQInteractiveShell as Shell\n"
    "Shell.init_environment = None",
}


@pytest.mark.usefixtures("own_server")
@pytest.mark.parametrize("where", RENAMED)
def test_other_ipython_that_lacks_a_name_is_left_to_the_stock_kernel(
    pages: Pages,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    shown: Any,
    where: str,
) -> None:
    (pages.folder / "renaming.py").write_text(RENAMED[where] + "\n")
    monkeypatch.setattr(fork_client, "_preloaded", ("renaming",))
    monkeypatch.setenv("PYTHONPATH", str(pages.folder), prepend=os.pathsep)
    notebook = pages.notebook("print('once')", "2")
    assert run.execute(notebook, run.request_for(pages.folder, timeout=60)).failure is None
    assert shown(notebook.cells[1]) == "once\n"
    assert len(caplog.records) == 1
    assert "made a kernel: " in caplog.text
    assert "Error: " in caplog.text


@pytest.mark.usefixtures("own_server")
def test_waiting_threads_sleep_whatever_the_language() -> None:
    """In a Turkish locale libgomp takes "PASSIVE" for another word than "passive"."""
    process = fork_client.fork_server().process  # type: ignore[attr-defined] # it is our own
    place = Path(f"/proc/{process.pid}/environ")
    wait_until(place.read_bytes)  # it is empty until the system has laid it out
    assert b"OMP_WAIT_POLICY=passive" in place.read_bytes().split(b"\0")


@pytest.mark.usefixtures("own_server")
def test_module_that_says_something_is_left_to_the_pages(
    pages: Pages, monkeypatch: pytest.MonkeyPatch, shown: Any
) -> None:
    (pages.folder / "loud_module.py").write_text("print('loud')\n")
    monkeypatch.setattr(fork_client, "_preloaded", ("loud_module", "json"))
    monkeypatch.setenv("PYTHONPATH", str(pages.folder), prepend=os.pathsep)
    notebook, _ = pages.fork("import loud_module")
    assert shown(notebook.cells[1]) == "loud\n"


@pytest.mark.usefixtures("own_server")
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("broken_module", "RuntimeError: broken"),
        ("hanging_module", "RuntimeError: not for ever"),
        ("nothing_such.sub", "ModuleNotFoundError: "),
    ],
)
def test_module_that_raises_is_left_to_the_pages(
    pages: Pages, monkeypatch: pytest.MonkeyPatch, name: str, error: str
) -> None:
    (pages.folder / "broken_module.py").write_text("raise RuntimeError('broken')\n")
    hanging = "import time\ntime.sleep(10)\nraise RuntimeError('not for ever')\n"
    (pages.folder / "hanging_module.py").write_text(hanging)
    monkeypatch.setattr(fork_client, "_preloaded", (name, "json"))
    monkeypatch.setattr(fork_client, "_LONGEST_IMPORT", 1)
    monkeypatch.setenv("PYTHONPATH", str(pages.folder), prepend=os.pathsep)
    started = time.monotonic()
    pages.fork("1")
    assert time.monotonic() - started < 9  # one that hangs is given up
    _, execution = pages.fork(f"import {name}")
    assert execution.failure is not None
    assert error in execution.failure.message


def test_page_of_another_kernel_is_left_to_it(pages: Pages) -> None:
    notebook = pages.notebook("1")
    notebook.metadata.kernelspec = {"name": "nothing-such", "display_name": "x"}
    with pytest.raises(CannotForkError, match="'nothing-such'"):
        fork.run(notebook, pages.request())


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return what installs the specification of a kernel, for this test alone."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    obstacles.kernel_obstacle.cache_clear()  # what is found out once is wanted anew

    def install(name: str, python: str | Path, text: str = "") -> None:
        argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": name, "language": "python"}
        folder = tmp_path / "jupyter" / "kernels" / name
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(text or json.dumps(spec))

    yield install
    obstacles.kernel_obstacle.cache_clear()  # the same


@pytest.mark.usefixtures("own_server")
def test_kernel_whose_interpreter_is_gone_fails_the_page_and_says_so(
    pages: Pages, kernels: Callable[..., None]
) -> None:
    kernels("gone", pages.folder / "old" / "bin" / "python")
    notebook = pages.notebook("1")
    notebook.metadata.kernelspec = {"name": "gone", "display_name": "x"}
    execution = run.execute(notebook, run.request_for(pages.folder, timeout=60))
    assert execution.failure is not None
    assert execution.failure.index == -1
    assert "no kernel: FileNotFoundError" in execution.failure.message
    assert "old/bin/python" in execution.failure.message


def test_kernel_that_can_not_be_read_is_left_to_jupyter(
    pages: Pages, kernels: Callable[..., None]
) -> None:
    kernels("broken", sys.executable, text="{")
    notebook = pages.notebook("1")
    notebook.metadata.kernelspec = {"name": "broken", "display_name": "x"}
    with pytest.raises(CannotForkError, match="'broken'"):
        fork.run(notebook, pages.request())


def test_kernel_of_another_virtual_environment_is_run_in_that(
    pages: Pages, kernels: Callable[..., None], shown: Any
) -> None:
    """Both environments link to the same interpreter, as those of one Python do."""
    other = pages.folder / "other"
    (other / "bin").mkdir(parents=True)
    (other / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    python = other / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    ours = Path(sys.executable)
    kernels("other", python)
    kernels("ours", ours.with_name(f"python3.{sys.version_info.minor}"))
    packages = f"lib/python3.{sys.version_info.minor}/site-packages"
    (other / packages).parent.mkdir(parents=True)
    (other / packages).symlink_to(Path(sys.prefix) / packages)
    for name, prefix in (("other", str(other)), ("ours", sys.prefix)):
        notebook = pages.notebook("import sys\nprint(sys.prefix)")
        notebook.metadata.kernelspec = {"name": name, "display_name": "x"}
        assert run.execute(notebook, run.request_for(pages.folder, timeout=60)).failure is None
        assert shown(notebook.cells[1]) == f"{prefix}\n"
    fork.run(notebook, pages.request())  # of ours, without Jupyter
    notebook.metadata.kernelspec.name = "other"
    with pytest.raises(CannotForkError, match="'other'"):
        fork.run(notebook, pages.request())


@pytest.mark.parametrize("table", [None, "python3", []])
def test_metadata_that_is_no_table_is_taken_for_none(pages: Pages, table: Any) -> None:
    notebook = pages.notebook("1")
    notebook.metadata["kernelspec"] = notebook.metadata["language_info"] = table
    assert run.execute(notebook, run.request_for(pages.folder, timeout=60)).failure is None


def test_error_of_our_own_is_a_failure_of_the_page(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AttributeError("of ours")

    monkeypatch.setattr(fork, "run", fail)
    execution = executed(pages, "1")
    assert (execution.failure.kind, execution.failure.index) == (Ending.RUNNER_FAILED, -1)
    assert "AttributeError: of ours" in execution.failure.message


def test_personal_settings_are_left_to_the_stock_kernel(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = pages.folder / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir()
    settings.write_text("c = get_config()\n")
    monkeypatch.setenv("IPYTHONDIR", str(pages.folder))
    obstacles.obstacle.cache_clear()
    try:
        with pytest.raises(CannotForkError, match=r"ipython_kernel_config\.py"):
            pages.fork("1")
    finally:
        monkeypatch.undo()
        obstacles.obstacle.cache_clear()


@pytest.mark.parametrize(
    "command",
    [("sphinx_drift", "index.md"), ("sphinx_drift.run", "-b", "html", ".", "out")],
    ids=["drift", "book"],
)
def test_system_without_forks_is_left_to_the_stock_kernel(
    pages: Pages, command: tuple[str, ...]
) -> None:
    """With the names gone that Windows doesn't have: a patched `sys.platform` proves nothing."""
    page = "```{code-cell}\nprint(open('conf.py').read())\n```\n"
    conf = "extensions = ['myst_nb', 'sphinx_drift']"
    (pages.folder / "conf.py").write_text(f"{conf}\n")
    (pages.folder / "index.md").write_text(
        f"---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# A page\n\n{page}\n"
        f"```{{expected-output}}\n{conf}\n```\n"
    )
    missing = Path(__file__).with_name("without_forks")
    environment = {**os.environ, "PYTHONPATH": str(missing), "CI": "", "DRIFT_RUNNER": ""}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=pages.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1 output verified on 1 page" in done.stdout
    assert done.stderr.count("Jupyter kernels") == 1
    assert "on linux" in done.stderr


@pytest.mark.parametrize(
    ("value", "ci", "expected"),
    [
        ("", "", "fork"),
        ("fork", "1", "fork"),
        ("jupyter", "1", "jupyter"),
        ("off", "", "off"),
        ("off", "true", ValueError),
        ("Fork", "", ValueError),
        ("no", "", ValueError),
    ],
)
def test_runner_is_chosen_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, ci: str, expected: str | type[ValueError]
) -> None:
    monkeypatch.setenv("DRIFT_RUNNER", value)
    monkeypatch.setenv("CI", ci)
    if isinstance(expected, str):
        assert choice.chosen() == expected
        return
    with pytest.raises(expected, match="DRIFT_RUNNER"):
        choice.chosen()


@pytest.mark.parametrize("value", ["off", "nothing-such"])
def test_command_refuses_to_verify_nothing(pages: Pages, value: str) -> None:
    (pages.folder / "page.md").write_text("# Prose\n")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx_drift", str(pages.folder)],
        env={**os.environ, "DRIFT_RUNNER": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "DRIFT_RUNNER" in done.stderr


# Builds that are ended -----------------------------------------------------------------

SLEEPING = """---
file_format: mystnb
kernelspec:
  name: python3
---

# A page

```{{code-cell}} ipython3
import os, subprocess
started = subprocess.Popen(["sleep", "1000"])
open({told!r}, "w").write(f"{{os.getppid()}} {{os.getpid()}} {{started.pid}}\\n")
started.wait()
```
"""


def of_build(scratch: Path) -> list[str]:
    """Return the processes that a build has started, by its folder for temporary files."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"TMPDIR={scratch}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(folder.name)
    return pids


def sockets(of: int | None = None) -> set[str]:
    """Return the sockets that there are, or those that a process listens at."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    there = {line.split()[6] for line in lines if "@sphinx-drift-" in line}
    if of is None:
        return there
    targets = " ".join(str(end.readlink()) for end in Path(f"/proc/{of}/fd").iterdir())
    return {inode for inode in there if f"[{inode}]" in targets}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_build_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    book, scratch = tmp_path / "book", tmp_path / "scratch"
    for folder in (book, scratch):
        folder.mkdir()
    extensions = "extensions = ['myst_nb', 'sphinx_drift.run']"
    conf = f"{extensions}\nsuppress_warnings = ['toc.not_included']\n"
    (book / "conf.py").write_text(conf)
    for name in ("index", "two"):
        pid_file = str(tmp_path / f"{name}.told")
        (book / f"{name}.md").write_text(SLEEPING.format(told=pid_file))
    build = subprocess.Popen(
        [sys.executable, "-m", "sphinx", "-q", "-j", "2", "-b", "dummy", book, tmp_path / "out"],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    files = [tmp_path / f"{name}.told" for name in ("index", "two")]
    wait_until(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
    processes = {int(word) for file in files for word in file.read_text().split()}
    assert len(processes) == 5  # one fork server, and of each page its child and what that started
    assert all(map(alive, processes))
    listening = sockets(int(files[0].read_text().split()[0]))
    assert listening
    if number is signal.SIGINT:
        os.killpg(build.pid, number)  # as a terminal does
    else:
        build.send_signal(number)
    build.wait(60)
    wait_until(lambda: not any(map(alive, processes)))
    assert not sockets() & listening
    wait_until(lambda: not of_build(scratch))
    if number is not signal.SIGKILL:  # then Sphinx's own are left
        assert not [path for path in scratch.rglob("*") if "sphinx-err" not in path.name]


def test_interrupted_build_waits_for_no_page_and_warns_of_nothing(tmp_path: Path) -> None:
    """Pages whose text is what it was are run in threads, which an exit waits for."""
    code = "import time\nfrom pathlib import Path\nPath('ran').touch()\n"
    code += "while Path('hold').exists():\n    time.sleep(0.05)\nprint(1)"
    conf = "extensions = ['myst_nb', 'sphinx_drift']\nhtml_theme = 'basic'\n"
    page = small_book.FRONT + "# A page\n\n" + small_book.cell(code, "1")
    source = small_book.write(tmp_path, {"conf.py": conf, "index": page})
    assert small_book.build(tmp_path).returncode == 0
    (source / "ran").unlink()
    (source / "hold").touch()
    build = subprocess.Popen(
        [sys.executable, "-m", "sphinx", "-q", "-d", "doctrees", "source", "html"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until((source / "ran").exists)
    build.send_signal(signal.SIGINT)
    printed, _ = build.communicate(timeout=60)
    assert "Interrupted" in printed
    assert "Jupyter" not in printed
    assert "Traceback" not in printed


def test_build_that_is_over_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("extensions = ['myst_nb', 'sphinx_drift.run']\n")
    file = tmp_path / "told"
    page = SLEEPING.format(told=str(file)).replace("started.wait()", "print('over')")
    (tmp_path / "index.md").write_text(page)
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "dummy", tmp_path, tmp_path / "out"],
        check=True,
    )
    wait_until(lambda: not any(alive(int(word)) for word in file.read_text().split()))


WRITING = """
import os, time
extensions = []

def wait(app, name, *_):
    if name != "index":
        with open({told!r}, "w") as told:
            print(os.getpid(), os.getppid(), file=told)
        time.sleep(1000)

def setup(app):
    app.connect("html-page-context", wait)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_worker_of_sphinx_ends_with_it(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "told"
    conf = WRITING.format(told=str(file)).replace("[]", "['myst_nb', 'sphinx_drift.run']")
    pages = {f"page{n}": "---\norphan: true\n---\n\n# Page\n" for n in range(10)}
    small_book.write(tmp_path, {"conf.py": conf, "index": "# Book\n", **pages})
    build = subprocess.Popen(
        [sys.executable, "-m", "sphinx", "-q", "-j", "2", "-b", "html", "source", "html"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"))
    worker, parent = map(int, file.read_text().split())
    assert parent == build.pid
    build.send_signal(number)
    build.wait(60)
    wait_until(lambda: not alive(worker))
