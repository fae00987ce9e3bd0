"""Running a notebook: a fresh kernel, in order, and how each cell ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from nbformat import v4
from small_book import FRONT, TORCH, cell

from sphinx_drift.output.printed_text import Part, printed
from sphinx_drift.run import host
from sphinx_drift.run.injected import print_full_precision
from sphinx_drift.run.results import Ending
from sphinx_drift.run.run import begin, execute, request_for

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

SAY_PID = "import os\nprint(os.getpid())"


def notebook(*sources: str, kernel: str = "python3") -> NotebookNode:
    result = v4.new_notebook(metadata={"kernelspec": {"name": kernel, "display_name": kernel}})
    result.cells = [v4.new_markdown_cell("prose"), *map(v4.new_code_cell, sources)]
    return result


def text_of(page: NotebookNode, index: int) -> str:
    return printed(page.cells[index].outputs).select(Part.ALL)


def gone(process: str) -> bool:
    """Whether a process has ended."""
    import os  # noqa: PLC0415 - used here alone

    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    return False


def test_cells_run_in_order_in_their_folder_in_a_kernel_that_ends(tmp_path: Path) -> None:
    book = notebook("x = 2", "from pathlib import Path\nPath.cwd().name", "x + 1", SAY_PID)
    book.cells[1].outputs = [v4.new_output("stream", text="stale")]
    execution = execute(book, request_for(tmp_path))
    assert execution.executed == {1, 2, 3, 4}
    assert execution.failure is None
    assert text_of(book, 1) == ""
    assert text_of(book, 2) == f"'{tmp_path.name}'\n"
    assert text_of(book, 3) == "3\n"
    assert gone(text_of(book, 4))
    assert {"python", "system", "machine"} == set(execution.environment)


def test_what_is_printed_slowly_is_one_output(tmp_path: Path) -> None:
    slowly = (
        "import time\nfor n in range(3):\n    print(n, end='  ', flush=True)\n    time.sleep(0.3)"
    )
    book = notebook(slowly, "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')")
    execute(book, request_for(tmp_path))
    assert [output.text for output in book.cells[1].outputs] == ["0  1  2  "]
    assert {output.name for output in book.cells[2].outputs} == {"stdout", "stderr"}


def test_error_that_may_come_lets_the_page_go_on(tmp_path: Path) -> None:
    book = notebook("1 / 0", "print('on')", "[][0]", "print('never')")
    execution = execute(book, request_for(tmp_path, may_raise=[1]))
    assert execution.executed == {1, 2}
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Ending.RAISED, 3)
    assert execution.failure.message == "IndexError: list index out of range"
    assert text_of(book, 1) == "ZeroDivisionError: division by zero\n"
    assert text_of(book, 2) == "on\n"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", Ending.DEAD_KERNEL),
        ("import time\ntime.sleep(600)", Ending.TIMEOUT),
        ("while True: pass", Ending.TIMEOUT),
    ],
)
def test_cell_that_never_ends_well_leaves_no_kernel(
    source: str, kind: Ending, tmp_path: Path
) -> None:
    book = notebook(SAY_PID, source, "print('never')")
    execution = execute(book, request_for(tmp_path, timeout=2))
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (kind, 2)
    assert execution.executed == {1}
    assert gone(text_of(book, 1))


def test_kernel_that_is_not_there_is_a_failure_of_no_cell(tmp_path: Path) -> None:
    execution = execute(notebook("print(1)", kernel="no-such-kernel"), request_for(tmp_path))
    assert execution.failure is not None
    assert (execution.failure.kind, execution.failure.index) == (Ending.DEAD_KERNEL, -1)
    assert "NoSuchKernel" in execution.failure.message
    assert "no-such-kernel" in execution.failure.message
    assert execution.executed == set()


def test_folder_that_is_not_there_is_a_failure_of_no_cell(tmp_path: Path) -> None:
    execution = execute(notebook("print(1)"), request_for(tmp_path / "gone"))
    assert execution.failure is not None
    assert execution.failure.index == -1
    assert execution.executed == set()


def test_full_precision_prints_what_is_behind_the_digits(tmp_path: Path) -> None:
    book = notebook(
        "import torch\nt = torch.tensor([0.1, 155.92394])\nprint(t)",
        "torch.set_printoptions(precision=2, sci_mode=False)\nprint(t)",
        "print(f'{t[0]:.2f}')",
    )
    execution = execute(book, request_for(tmp_path, before=print_full_precision))
    assert "1.55923934936523438e+02" in text_of(book, 1)
    assert text_of(book, 1) == text_of(book, 2)
    assert text_of(book, 3).startswith("0.1000000014901161")
    assert execution.environment["torch"] == TORCH
    assert execution.environment["device"] == "cpu"
    assert {"capability", "threads"} <= set(execution.environment)


FROM_FLOAT32 = """\
import torch
x = torch.tensor([155.92394, 0.1])
print(x[0].item() * 100)
print(f"{x[0].item():.2f} and {x[1].item():+.1%}")
print(round(x[0].item(), 2), sum(x.tolist()))
print(x.double().mean())
print(x[1:], torch.tensor(3).item(), torch.tensor([]))
"""


def test_full_precision_marks_what_was_computed_in_float32(tmp_path: Path) -> None:
    book = notebook(FROM_FLOAT32)
    execute(book, request_for(tmp_path, before=print_full_precision))
    assert text_of(book, 1).replace("\N{INVISIBLE SEPARATOR}", "|").splitlines() == [
        "15592.393493652344|*|",
        "155.92393493652344|float32| and +10.000000149011612|*|%",
        "155.92393493652344|float32| 156.02393493801355|*|",
        "tensor(78.01196746900677681, dtype=torch.float64)|*float64 78.01196746900678|",
        "tensor([0.10000000149011612])|float32 155.92393493652344| 3 tensor([])|float32 |",
    ]


FROM_NUMPY = """\
import io
import numpy as np
x = np.array([0.1, 2], dtype=np.float32)
np.set_printoptions(precision=2)
print(x, np.array([0.1]))
print(x.mean(), np.float64(0.1), 0.1)
print([x.mean()])
file = io.StringIO()
print(x.mean(), file=file)
print(file.getvalue())
"""


def test_full_precision_marks_the_formats_of_numpy(tmp_path: Path) -> None:
    book = notebook(FROM_NUMPY)
    execute(book, request_for(tmp_path, before=print_full_precision))
    text = text_of(book, 1).replace("\N{INVISIBLE SEPARATOR}", "|")
    assert " ".join(text.split()) == (
        "[0.10000000149011612|float32| 2.0|float32|] [0.1|float64|] "
        "1.0499999523162842|float32| 0.1|float64| 0.1 [np.float32(1.05)] 1.05"
    )


def test_a_default_device_of_a_cell_is_not_what_was_asked_for(tmp_path: Path) -> None:
    book = notebook("import torch\ntorch.set_default_device('meta')")
    assert execute(book, request_for(tmp_path)).environment["device"] == "cpu"


def test_two_runs_of_a_page_share_no_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They run at the same time, and each gives its cells its own outputs."""
    page = tmp_path / "page.md"
    page.write_text(FRONT + cell("print(1)", "1"), "utf-8")
    queued: list[tuple[str, object, object]] = []
    monkeypatch.setattr(host, "queue", lambda jobs, _: queued.extend(jobs))
    requests = [request_for(tmp_path), request_for(tmp_path, hash_seed="7")]
    assert begin([page], lambda _, expects: requests if expects else ()) == {page}
    (_, first, _), (_, second, _) = queued
    assert first == second
    assert first is not second


def test_a_kernel_draws_into_its_page(tmp_path: Path) -> None:
    """What was loaded for all kernels must not have chosen where Matplotlib draws."""
    pytest.importorskip("matplotlib")
    cell = v4.new_code_cell("import matplotlib\nprint(matplotlib.get_backend())")
    notebook = v4.new_notebook(cells=[cell])
    execute(notebook, request_for(tmp_path))
    assert "inline" in printed(notebook.cells[0].outputs).select(Part.ALL)
