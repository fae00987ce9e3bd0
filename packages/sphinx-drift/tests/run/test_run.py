"""Running a notebook: a fresh kernel, in order, how each cell ended, and what it printed."""

import itertools
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nbclient import NotebookClient
from nbclient.output_widget import OutputWidget
from nbformat import NotebookNode, v4
from nbformat.v4 import new_output
from psutil import pid_exists
from runners import Pages, shown
from small_book import TORCH

from sphinx_drift.kinds import Kind
from sphinx_drift.probes import Probe, injected
from sphinx_drift.run.in_full import IN_FULL
from sphinx_drift.run.injected import keep_messages, order_descriptors
from sphinx_drift.run.limit import LimitedClient
from sphinx_drift.run.run import execute, request_for
from sphinx_drift.source.read_source import load


def notebook(*sources: str, kernel: str = "python3") -> NotebookNode:
    result = v4.new_notebook(metadata={"kernelspec": {"name": kernel, "display_name": kernel}})
    result.cells = [v4.new_markdown_cell("prose"), *map(v4.new_code_cell, sources)]
    return result


def test_cells_run_in_order_in_their_folder_in_a_kernel_that_ends(tmp_path: Path) -> None:
    folder = "from pathlib import Path\nPath.cwd().name"
    book = notebook("x = 2", folder, "x + 1", "import os\nprint(os.getpid())")
    book.cells[1].outputs = [new_output("stream", text="stale")]
    execution = execute(book, request_for(tmp_path))
    assert execution.executed == {1, 2, 3, 4}
    assert execution.failure is None
    assert shown(book.cells[1]) == ""
    assert shown(book.cells[2]) == f"'{tmp_path.name}'\n"
    assert shown(book.cells[3]) == "3\n"
    assert not pid_exists(int(shown(book.cells[4])))
    assert {"python", "system", "machine"} == set(execution.environment)


def test_error_that_may_come_lets_the_page_go_on(tmp_path: Path) -> None:
    book = notebook("1 / 0", "print('on')", "[][0]", "print('never')")
    execution = execute(book, request_for(tmp_path, raising=[1]))
    assert (execution.executed, execution.succeeded) == ({1, 2}, {2})
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Kind.RAISED, 3)
    assert execution.failure.message == "IndexError: list index out of range"
    assert shown(book.cells[1]) == "ZeroDivisionError: division by zero\n"
    assert shown(book.cells[2]) == "on\n"


def test_a_later_cell_updates_the_display_that_it_names(tmp_path: Path) -> None:
    streams = "import sys\nprint(1, flush=True)\nprint(2, file=sys.stderr, flush=True)\n"
    shows = (
        "print(3, flush=True)\na = display('old', display_id='a')\n_ = display(5, display_id='b')"
    )
    book = notebook(streams + shows, "a.update('new')", "1 / 0")
    assert execute(book, request_for(tmp_path)).executed == {1, 2}
    assert shown(book.cells[1]) == "1\n3\n'new'\n5\n2\n"
    assert [output.get("name") for output in book.cells[1].outputs] == [
        *("stdout", "stderr"),
        *(None, None),
    ]


def fail() -> None:
    raise ValueError("in a probe")


def leave() -> None:
    import os  # noqa: PLC0415 - it is sent as it stands

    os._exit(3)


def hang() -> None:
    """Never return: as the module for devices of a book might."""
    import time  # noqa: PLC0415 - it is sent as it stands

    time.sleep(100)


@pytest.mark.parametrize(
    ("before", "after", "ending", "message", "executed"),
    [
        (None, fail, Kind.COULD_NOT_CHECK, "after the last cell, .* in a probe", {1}),
        (fail, fail, Kind.COULD_NOT_CHECK, "before the first cell, .* in a probe", set()),
        (leave, leave, Kind.DEAD_KERNEL, "before .*, the page's process ended .* status 3", set()),
        (None, leave, Kind.DEAD_KERNEL, "after .*, the page's process ended .* status 3", {1}),
        (hang, fail, Kind.TIMEOUT, "before .*, `.*hang`: it ran for more than 5 s", set()),
    ],
)
def test_probe_that_gives_no_answer_says_why(  # noqa: PLR0913, PLR0917 - columns
    before: Callable[[], None] | None,
    after: Callable[[], None],
    ending: Kind,
    message: str,
    executed: set[int],
    tmp_path: Path,
) -> None:
    probes = [Probe(before and injected(before), injected(after))]
    execution = execute(notebook("print(1)"), request_for(tmp_path, probes=probes, timeout=5))
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (ending, None)
    assert re.match(message, execution.failure.message)
    assert execution.executed == executed


@pytest.mark.parametrize(
    ("kernel", "folder", "message"),
    [
        ("absent", ".", r"no kernel named 'absent' is installed \(installed: .*python3"),
        ("python3", "gone", "no kernel: (.|\n)*gone"),
    ],
)
def test_kernel_that_can_not_be_started_is_a_failure_of_no_cell(
    kernel: str, folder: str, message: str, tmp_path: Path
) -> None:
    execution = execute(notebook("print(1)", kernel=kernel), request_for(tmp_path / folder))
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Kind.DEAD_KERNEL, None)
    assert re.match(message, execution.failure.message)
    assert execution.executed == set()


# Full precision ------------------------------------------------------------------------


def test_a_default_device_of_a_cell_is_not_what_was_asked_for(tmp_path: Path) -> None:
    book = notebook("import torch\ntorch.set_default_device('meta')")
    assert execute(book, request_for(tmp_path)).environment["device"] == "cpu"


def test_full_precision_says_what_numbers_were_computed_in(tmp_path: Path) -> None:
    loaded = load(Path(__file__).with_name("in-full.md"))
    assert loaded
    page, book = loaded
    execution = execute(book, request_for(tmp_path, before=IN_FULL.values()))
    for cell in page.cells:
        text = shown(book.cells[cell.index]).replace("\N{INVISIBLE SEPARATOR}", "|")
        (expected,) = (expectation.text for expectation in cell.expectations)
        assert [*map(str.split, text.splitlines())] == [*map(str.split, expected.splitlines())]
    assert execution.environment.items() >= {"torch": TORCH, "device": "cpu"}.items()
    assert {"capability", "threads"} <= set(execution.environment)


# Streams -------------------------------------------------------------------------------

# As a progress bar does: a line of stdout goes on after something on stderr.
TAKES_TURNS = """
import sys, time
print("begun", file=sys.stderr)
time.sleep({pause})
print("loss", end=" ")
time.sleep({pause})
print("\\r 50 %", end="", file=sys.stderr)
time.sleep({pause})
print(0.5)
time.sleep({pause})
print("\\r100 %", file=sys.stderr)
print("done")
"""


@pytest.mark.parametrize("pause", [0, 0.5])
def test_pause_between_two_streams_changes_nothing(pages: Pages, pause: float) -> None:
    (ran,) = pages.fork(TAKES_TURNS.format(pause=pause))[0].cells[1:]
    expected = [("stdout", "loss 0.5\ndone\n"), ("stderr", "begun\n\r 50 %\r100 %\n")]
    assert [(output.name, output.text) for output in ran.outputs] == expected


DISPLAYS = """
texts = get_ipython().display_formatter.formatters["text/plain"]
texts.for_type(str, lambda text, printer, cycle: printer.text("a text"))
"""


def test_a_page_is_asked_however_it_displays_texts(tmp_path: Path) -> None:
    execution = execute(notebook(DISPLAYS), request_for(tmp_path))
    assert execution.failure is None
    assert "python" in execution.environment


def test_an_error_that_the_reply_alone_tells_is_an_output(tmp_path: Path) -> None:
    silent = "get_ipython().showtraceback = lambda *_, **__: None"
    book = notebook(silent, "1 / 0")
    execute(book, request_for(tmp_path, raising=[2]))
    assert [each.ename for each in book.cells[2].outputs] == ["ZeroDivisionError"]


WIDGET = """
import comm
state = {"_model_name": "OutputModel", "_model_module": "@jupyter-widgets/output"}
widget = comm.create_comm("jupyter.widget", data={"state": state | {"msg_id": "", "outputs": []}})
cell = get_ipython().kernel.get_parent()["header"]["msg_id"]
widget.send({"method": "update", "state": {"msg_id": cell}})
print("in it", flush=True)
widget.send({"method": "update", "state": {"msg_id": ""}})
"""


@pytest.mark.usefixtures("pages")
def test_a_reply_that_comes_while_a_widget_is_written_to_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = OutputWidget.send

    def send_late(*data: Any) -> None:
        time.sleep(0.3)
        send(*data)

    monkeypatch.setattr(OutputWidget, "send", send_late)
    execution = execute(notebook(WIDGET), request_for(tmp_path, timeout=10))
    assert execution.executed == {1}
    assert execution.seconds < 10


WRITERS = """
import ctypes, os, subprocess, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python's, of a fork
def compiled(text):
    library = ctypes.CDLL(None)
    library.puts(text.encode())
    library.fflush(None)
def started(text):
    subprocess.run(["echo", text])
def forked(text):
    if os.fork() == 0:
        os.write(1, f"{text}\\n".encode())
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("runner", ["fork", "jupyter"])
def test_what_is_written_past_python_stands_where_it_was_written(runner: str, pages: Pages) -> None:
    code = [
        f"print({n}); {write}('{n}ä'); {n}"
        for n in range(6)
        for write in ("compiled", "started", "forked")
    ]
    notebook, execution = pages.fork(
        WRITERS, *code, variables={"DRIFT_RUNNER": runner}, before=(injected(order_descriptors),)
    )
    assert execution.failure is None
    expected = [f"{n}\n{n}ä\n{n}\n" for n in range(6) for _ in range(3)]
    assert [shown(each) for each in notebook.cells[2:]] == expected


def test_a_cell_that_its_kernel_refuses_is_not_run(pages: Pages) -> None:
    """As tslab does for 0.2 s after an error."""
    _, execution = pages.fork("get_ipython().kernel._aborting = True", "print(2)", after=())
    assert (execution.executed, execution.failure) == ({1}, None)


def test_a_kernel_of_an_old_ipykernel_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = SimpleNamespace(_fid=5)  # as before 6.23
    monkeypatch.setattr(sys, "stdout", stream)
    order_descriptors()
    assert vars(stream) == {"_fid": 5}


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("print('\\ud800 5')", "UnicodeEncodeError: 'utf-8' codec can't encode"),
        ("sys.stdout.write(42)", "TypeError: write() argument must be str, not <class 'int'>"),
    ],
)
def test_what_no_output_can_hold_is_refused_where_it_is_written(
    code: str, error: str, pages: Pages
) -> None:
    failure = pages.failure(f"import sys\n{code}", before=(injected(order_descriptors),))
    assert failure.message.startswith(error)


def test_what_no_notebook_can_hold_says_what_it_is(pages: Pages) -> None:
    shown = "display({'application/x-chart.json': {'bars': [1]}}, raw=True)"
    failure = pages.failure(shown, "1")
    assert (failure.kind, failure.index) == (Kind.NOT_EXECUTED, 1)
    assert failure.message.endswith("what it displays, see its data application/x-chart.json")


def test_the_name_of_a_file_may_have_bytes_that_are_no_text(pages: Pages) -> None:
    notebook, _ = pages.fork(r"print('x\udce9 5')", before=(injected(order_descriptors),))
    assert shown(notebook.cells[1]) == "x\N{REPLACEMENT CHARACTER} 5\n"


def test_no_output_is_lost_where_the_machine_is_busy(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, pauses = itertools.count(), {50: 1, 2_500: 4.5}  # Jupyter waits for 4

    def take_slowly(self: Any, *arguments: Any) -> Any:
        time.sleep(pauses.get(next(taken), 0))
        return NotebookClient.process_message(self, *arguments)

    monkeypatch.setattr(LimitedClient, "process_message", take_slowly)
    before = (injected(keep_messages),)
    printing = "for i in range(3_000):\n    print(i, flush=True)"
    notebook, execution = pages.fork(printing, "2", before=before)
    assert execution.failure is None
    assert shown(notebook.cells[1]).split() == [*map(str, range(3_000))]
    assert shown(notebook.cells[2]).strip() == "2"


WITHOUT_A_TURN_TO_SEND = """
import os
cpu, senders = max(os.sched_getaffinity(0)), []
for task in map(int, os.listdir("/proc/self/task")):
    os.sched_setaffinity(task, {cpu})
    if open(f"/proc/self/task/{task}/comm").read().startswith("ZMQbg/IO"):
        senders.append(task)
        os.sched_setscheduler(task, os.SCHED_IDLE, os.sched_param(0))
for number in range(3_000):
    print(number, flush=True)
for task in senders:
    os.sched_setscheduler(task, os.SCHED_OTHER, os.sched_param(0))
"""


@pytest.mark.parametrize("runner", ["fork", "jupyter"])
def test_no_output_is_lost_where_a_kernel_gets_no_turn_to_send_it(
    runner: str, pages: Pages
) -> None:
    settings = {"before": (injected(keep_messages),), "variables": {"DRIFT_RUNNER": runner}}
    notebook, execution = pages.fork(WITHOUT_A_TURN_TO_SEND, **settings)
    assert execution.failure is None
    assert shown(notebook.cells[1]).split() == [*map(str, range(3_000))]


OVER_TCP = """
import json, sys
from ipykernel.kernelapp import launch_new_instance
with open(sys.argv[-1]) as file:
    assert json.load(file)["transport"] == "tcp"
launch_new_instance()
"""


@pytest.mark.usefixtures("pages")
def test_a_kernel_that_knows_tcp_alone_is_asked_by_tcp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Julia's joins an address and a port by a colon, whatever the address is."""
    spec = tmp_path / "kernels" / "own" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-c", OVER_TCP, "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "", "language": ""}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    assert execute(notebook("print(1)", kernel="own"), request_for(tmp_path)).failure is None


AT_THE_END = """
import atexit, pathlib, tempfile
table = open("table", "w")
_ = table.write("1,2")
scratch = tempfile.TemporaryDirectory(prefix="scratch-", dir=".")
atexit.register(pathlib.Path("exited").touch);
"""


@pytest.mark.parametrize("runner", ["fork", "jupyter"])
def test_a_kernel_ends_as_a_program_does(runner: str, pages: Pages) -> None:
    assert pages.fork(AT_THE_END, variables={"DRIFT_RUNNER": runner})[1].failure is None
    assert sorted(path.name for path in pages.folder.iterdir()) == ["exited", "table"]
    assert (pages.folder / "table").read_text() == "1,2"
