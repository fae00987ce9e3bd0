"""Kernels are forked for everyone who asks Jupyter for them, and ended like any other."""

import asyncio
import builtins
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbclient
import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import KernelManager
from nbformat import v4
from psutil import pid_exists

from forked_kernels import provisioner
from forked_kernels.fork_server import ANSWER, Preloaded
from forked_kernels.provisioner import ForkedKernel

SERVER_OF = "import os\nprint(open(f'/proc/{os.getppid()}/cmdline').read().count('fork_server'))"


@pytest.fixture
def own_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have fork servers for this test alone, and warn again of what was warned of once."""
    monkeypatch.setattr(provisioner, "_servers", {})
    monkeypatch.setattr(provisioner, "_reported", set())
    yield
    provisioner.close_servers()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return install("json, csv", tmp_path, monkeypatch)


def install(preload: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Install a kernel that is forked with libraries loaded, by the command; return its name."""
    command = [sys.executable, "-m", "forked_kernels", "--name", "quick"]
    subprocess.run([*command, "--preload", preload, "--prefix", str(folder)], check=True)
    monkeypatch.setenv("JUPYTER_PATH", str(folder / "share" / "jupyter"))
    return "quick"


def write_module(path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a module into a folder that kernels and their server import from."""
    path.parent.mkdir()
    path.write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(path.parent))


def printed(code: str, kernel: str = "quick") -> str:
    """Return what a cell prints in a kernel."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, kernel_name=kernel).execute()
    text: str = notebook.cells[0].outputs[0].text
    return text


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


@pytest.mark.usefixtures("own_servers")
def test_any_tool_gets_forked_kernels_by_the_kernelspec(installed: str, tmp_path: Path) -> None:
    notebook = v4.new_notebook(cells=[v4.new_code_cell(SERVER_OF)])
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps(notebook))
    execute = "from nbclient.cli import main; main()"  # what `jupyter execute` runs
    words = [sys.executable, "-c", execute, f"--kernel_name={installed}", "--inplace"]
    subprocess.run([*words, str(path)], check=True, capture_output=True)
    assert json.loads(path.read_text())["cells"][0]["outputs"][0]["text"] == ["1\n"]


@pytest.mark.usefixtures("own_servers")
@pytest.mark.parametrize("others", [[], ["--HistoryManager.db_cache_size=5"]])
def test_options_of_the_command_are_kept(others: list[str], installed: str) -> None:
    code = (
        "history = get_ipython().history_manager\nprint(history.hist_file, history.db_cache_size)"
    )
    notebook = v4.new_notebook(cells=[v4.new_code_cell(code)])
    options = ["--HistoryManager.hist_file=:memory:", *others]  # the first is nbclient's
    client = nbclient.NotebookClient(notebook, kernel_name=installed, extra_arguments=options)
    client.execute()
    assert notebook.cells[0].outputs[0].text == f":memory: {5 * len(others)}\n"


@pytest.mark.usefixtures("own_servers")
def test_kernel_is_interrupted_restarted_and_ended_like_any_other(installed: str) -> None:
    manager = KernelManager(kernel_name=installed)
    manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    first = manager.provisioner.pid  # type: ignore[union-attr]
    sleeping = client.execute("import time; time.sleep(100)")
    wait_until(lambda: client.get_iopub_msg(timeout=60)["msg_type"] == "execute_input")
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=60)
    assert reply["parent_header"]["msg_id"] == sleeping
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=60)
    second = manager.provisioner.pid  # type: ignore[union-attr]
    assert not pid_exists(first)
    assert pid_exists(second)
    client.stop_channels()
    manager.shutdown_kernel()
    wait_until(lambda: not pid_exists(second))
    assert not manager.is_alive()


@pytest.mark.usefixtures("own_servers")
def test_output_is_flushed_before_a_kernel_closes_it(installed: str, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    code = f"""
import atexit, sys, threading, time
def flush(threads=threading, wait=time.sleep, own=sys.stdout.flush):
    if threads.current_thread().name == "Control":
        wait(0.5)
    own()
def names():
    return [thread.name for thread in threading.enumerate()]
sys.stdout.flush = flush
atexit.register(lambda: open({str(alive)!r}, "w").write(str("Control" in names())))
print(names())
"""
    assert "Control" in printed(code, installed)
    assert alive.read_text() == "False"


IDLE_THREADS = {
    "pool": "import concurrent.futures as c\npool = c.ThreadPoolExecutor()\npool.submit(int)",
    "to-thread": "import asyncio\nawait asyncio.to_thread(int)",
}


@pytest.mark.usefixtures("own_servers")
@pytest.mark.parametrize("code", IDLE_THREADS.values(), ids=IDLE_THREADS)
def test_kernel_ends_as_python_does_though_threads_wait_for_work(
    code: str, installed: str, tmp_path: Path
) -> None:
    kept, ended = tmp_path / "kept", tmp_path / "ended"
    code += f"""
import atexit
file = open({str(kept)!r}, "w")
file.write("kept")
atexit.register(lambda: open({str(ended)!r}, "w").write("ended"))
{SERVER_OF}
"""
    assert printed(code, installed) == "1\n"
    assert [kept.read_text(), ended.exists() and ended.read_text()] == ["kept", "ended"]


@pytest.mark.usefixtures("own_servers")
def test_fork_server_with_two_threads_declines_and_a_stock_kernel_starts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import threading, time\n"
    code += "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
    write_module(tmp_path / "site-packages" / "busy_module.py", code, monkeypatch)
    install("busy_module", tmp_path, monkeypatch)
    assert [printed(SERVER_OF) for _ in range(2)] == ["0\n", "0\n"]
    assert caplog.text.count("2 threads") == 1  # said once


@pytest.mark.usefixtures("own_servers")
@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("loud_module", "print('loud')", "its import shows 'loud'"),
        ("loud_module", "import warnings\nwarnings.warn('old')", "its import shows 'old'"),
        ("loud_module", "import warnings\nwarnings.warn('a' + 'é' * 3000)", "its import shows 'aé"),
        ("loud_module", "raise RuntimeError('broken')", "broken"),
        ("loud_module", "raise RuntimeError('\\ud800 broken')", "? broken"),
        (
            "loud_module",
            "from IPython import get_ipython as g\ng()",
            "its import looks for a kernel",
        ),
        ("loud_module", "get_ipython()", "its import looks for a kernel"),
        ("loud_module", "", "it isn't installed"),
        *(("nosuch.sub", "", "No module named"), ("json.nosuch", "", "No module named")),
    ],
)
def test_library_whose_import_a_kernel_must_see_is_not_preloaded(  # noqa: PLR0913, PLR0917 - columns
    name: str,
    source: str,
    reason: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_module(tmp_path / "py-packages" / "loud_module.py", f"{source}\n", monkeypatch)
    install(f"{name},json,nothing_such", tmp_path, monkeypatch)
    assert printed(SERVER_OF) == "0\n"
    assert f"{name} can't be preloaded: {reason}" in caplog.text
    assert "take it out of `preload`" in caplog.text


def test_import_that_fails_leaves_no_trace() -> None:
    with pytest.raises(ImportError, match="No module named"):
        Preloaded().load("nosuch")
    assert "initialized" not in vars(InteractiveShell)
    assert not hasattr(builtins, "get_ipython")


@pytest.mark.usefixtures("own_servers", "installed")
def test_a_page_is_told_who_refers_to_its_objects() -> None:
    assert printed("import gc\na = []\nprint(len(gc.get_referrers(a)))") == "1\n"


@pytest.mark.usefixtures("own_servers")
def test_a_safe_path_keeps_its_first_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path / "library" / "own_module.py", "print(5)", monkeypatch)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    install("json", tmp_path, monkeypatch)
    assert printed(f"{SERVER_OF}\nimport own_module") == "1\n5\n"


@pytest.mark.usefixtures("own_servers")
def test_parent_of_a_preloaded_module_is_hidden_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("numpy.linalg", tmp_path, monkeypatch)
    code = "import sys\nprint('numpy' in sys.modules)\nimport numpy.linalg\nprint(numpy.int8(1))"
    code += "\nprint(numpy.__spec__.loader is numpy.__loader__, type(numpy.__loader__).__name__)"
    assert printed(f"{SERVER_OF}\n{code}") == "1\nFalse\n1\nTrue SourceFileLoader\n"


@pytest.mark.usefixtures("own_servers", "installed")
@pytest.mark.parametrize("is_kept", [False, True])
def test_fork_server_that_is_killed_is_replaced(
    is_kept: bool,  # noqa: FBT001 - a column
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(provisioner.ADDRESS_VARIABLE, "")
    if is_kept:
        provisioner.start_server(["json", "csv"])
    assert printed(SERVER_OF) == "1\n"
    (server,) = provisioner._servers.values()  # noqa: SLF001 - what is to be killed
    os.kill(server._process.pid, signal.SIGKILL)  # noqa: SLF001 - the same
    os.waitid(os.P_PID, server._process.pid, os.WEXITED | os.WNOWAIT)  # noqa: SLF001 - the same
    assert printed(SERVER_OF) == "1\n"
    assert list(provisioner._servers.values()) != [server]  # noqa: SLF001 - the same


@pytest.mark.usefixtures("own_servers", "installed")
def test_kept_server_of_another_process_that_is_gone_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(provisioner.ADDRESS_VARIABLE, "")
    provisioner.start_server(["json", "csv"])
    provisioner.close_servers()
    assert [printed(SERVER_OF) for _ in range(2)] == ["1\n", "1\n"]
    assert len(provisioner._servers) == 1  # noqa: SLF001 - one for both


@pytest.mark.usefixtures("own_servers")
@pytest.mark.parametrize("folder", ["nowhere", "file"])
def test_folder_that_a_kernel_can_not_run_in_is_said_as_jupyter_does(
    folder: str, installed: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    def error(kernel: str) -> type[BaseException]:
        with pytest.raises(OSError, match=folder) as raised:
            KernelManager(kernel_name=kernel).start_kernel(cwd=str(tmp_path / folder))
        return raised.type

    assert error(installed) is error("python3")


@pytest.mark.usefixtures("own_servers")
def test_a_relative_folder_is_one_of_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = install("multiprocessing", tmp_path, monkeypatch)
    (tmp_path / "one" / "one").mkdir(parents=True)
    printed(SERVER_OF, installed)
    monkeypatch.chdir(tmp_path / "one")
    of_spawned = "import multiprocessing.process as p; print(p.ORIGINAL_DIR)"
    code = f"{SERVER_OF}; print(os.getcwd()); {of_spawned}"
    notebook = v4.new_notebook(cells=[v4.new_code_cell(code)])
    resources = {"metadata": {"path": "one"}}
    nbclient.NotebookClient(notebook, kernel_name=installed, resources=resources).execute()
    folder = tmp_path / "one" / "one"
    assert notebook.cells[0].outputs[0].text == f"1\n{folder}\n{folder}\n"


@pytest.mark.usefixtures("own_servers")
@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        ([], 1, "ZMQError: Address already in use"),
        (["--InteractiveShellApp.extra_extensions=3"], 1, "Bad config encountered"),
        # After its streams have become a client's.
        (["--IPKernelApp.displayhook_class=decimal.Decimal"], 1, "in init_io"),
        (["--version"], 0, ""),
    ],
)
def test_kernel_that_does_not_start_says_why(
    options: list[str], status: int, told: str, installed: str, tmp_path: Path
) -> None:
    for name in (installed, "python3"):
        with socket.socket() as taken, (tmp_path / name).open("wb") as stderr:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = 0 if options else taken.getsockname()[1]
            manager = KernelManager(kernel_name=name, cache_ports=False, shell_port=port)
            manager.start_kernel(stderr=stderr, extra_arguments=options)
            process = manager.provisioner.process  # type: ignore[union-attr]
            assert (name, process.wait(300)) == (name, status)
        assert told in (tmp_path / name).read_text("utf-8")
        manager.cleanup_resources()


FORK_FAILS = """
import os
def fork(own=os.fork):
    os.fork = own
    raise BlockingIOError(11, "no process is left")
os.fork = fork
"""


@pytest.mark.usefixtures("own_servers")
def test_fork_server_that_can_not_fork_refuses_and_serves_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path / "site-packages" / "failing_once.py", FORK_FAILS, monkeypatch)
    install("failing_once", tmp_path, monkeypatch)
    assert [printed(SERVER_OF) for _ in range(2)] == ["0\n", "1\n"]
    assert "no process is left" in caplog.text


@pytest.mark.usefixtures("own_servers", "installed")
def test_who_asks_a_fork_server_without_a_descriptor_waits_for_one() -> None:
    assert printed(SERVER_OF) == "1\n"
    (server,) = provisioner._servers.values()  # noqa: SLF001 - whose limit is set
    pid = server._process.pid  # noqa: SLF001 - the same
    wait_until(lambda: not Path(f"/proc/{pid}/task/{pid}/children").read_text())
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    raised = threading.Timer(2, resource.prlimit, [pid, resource.RLIMIT_NOFILE, limits])
    raised.start()
    started = time.monotonic()
    assert printed(SERVER_OF) == "1\n"
    assert time.monotonic() - started > 1


@pytest.mark.usefixtures("own_servers", "installed")
def test_another_user_and_what_is_no_request_are_refused() -> None:
    printed(SERVER_OF)
    (server,) = provisioner._servers.values()  # noqa: SLF001 - whom to ask
    for beginning in (b"", b"\0\0"):  # a client that is killed hangs up at any place
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(server.address)
            connection.sendall(beginning)
    for request, reason in ((b"{]", "Expecting"), (b"5", "not iterable"), (b'["a"]', "length 1")):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(server.address)
            connection.sendall(request + b"\n")
            answer = connection.recv(4096)
            assert answer.startswith(b"\0\0\0\0")
            assert reason in answer.decode()
    assert printed(SERVER_OF) == "1\n"  # it serves on


def test_end_is_noticed_though_another_asks_for_it_too() -> None:
    own, other = socket.socketpair()
    kernel = ForkedKernel(own, 1)

    async def end() -> None:
        ended = asyncio.create_task(kernel.ended(60))
        await asyncio.sleep(0.1)
        other.sendall(ANSWER.pack(3))
        kernel.poll()
        await asyncio.wait_for(ended, 5)

    with other:
        asyncio.run(end())
    assert kernel.poll() == 3


@pytest.mark.usefixtures("own_servers")
def test_python_by_another_name_in_the_same_folder_is_forked(
    installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `pip` writes `python3` into the first line of a script."""
    own = Path(sys.executable)
    names = (path for path in own.parent.glob("python*") if path.name != own.name)
    monkeypatch.setattr(sys, "executable", str(next(path for path in names if path.samefile(own))))
    assert printed(f"{SERVER_OF}\nimport sys\nprint(sys.executable)") == f"1\n{own}\n"


def kernel_of(python: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **metadata: Any) -> str:
    """Install a kernel that a Python starts; return its name."""
    argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "other", "language": "python", "metadata": metadata}
    kernel = folder / "kernels" / "other"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    return "other"


FORKED = {"provisioner_name": provisioner.NAME, "config": {"preload": []}}


@pytest.mark.usefixtures("own_servers")
@pytest.mark.parametrize(
    ("asked", "forked"), [(FORKED, "1\n"), ({"provisioner_name": "local-provisioner"}, "0\n")]
)
def test_the_kernelspec_says_who_starts_a_kernel(
    asked: dict[str, Any], forked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kernel_of(sys.executable, tmp_path, monkeypatch, kernel_provisioner=asked)
    assert printed(SERVER_OF, kernel) == forked


@pytest.mark.usefixtures("own_servers")
def test_kernel_of_another_environment_is_run_in_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both environments link to the same interpreter, as those of one Python do."""
    other = tmp_path / "other"
    packages = f"lib/python3.{sys.version_info.minor}/site-packages"
    for folder in (other / "bin", (other / packages).parent):
        folder.mkdir(parents=True)
    (other / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    (other / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (other / packages).symlink_to(Path(sys.prefix) / packages)
    python = str(other / "bin" / "python")
    kernel = kernel_of(python, tmp_path, monkeypatch, kernel_provisioner=FORKED)
    assert printed("import sys\nprint(sys.prefix)", kernel) == f"{other}\n"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["bash"], "not the plain command"),
        (["/no/python", "-m", "ipykernel_launcher"], "another Python"),
        ([sys.executable, "-O", "-m", "ipykernel_launcher"], "not the plain command"),
    ],
)
def test_what_can_not_be_forked_is_named(
    command: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason in provisioner.obstacle(command)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "darwin" in provisioner.obstacle(command)


@pytest.mark.usefixtures("own_servers")
def test_server_that_an_owner_keeps_is_used_by_what_it_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(provisioner.ADDRESS_VARIABLE, "")
    address = provisioner.start_server(["json"])
    owned = dict(provisioner._servers)  # noqa: SLF001 - what the owner keeps
    provisioner._servers.clear()  # noqa: SLF001 - as in a process that it starts
    assert provisioner.start_server(["json"]) == address
    assert provisioner.start_server(["csv"]) != address
    provisioner._servers.update(owned)  # noqa: SLF001 - to be closed
