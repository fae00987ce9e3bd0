"""Pages compute on the device that was chosen, and say so: a stand-in serves for a GPU."""

import contextlib
import json
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from nbformat import v4
from processes import python
from small_book import FRONT, cell, write

from conftest import Book
from sphinx_drift.compare.compare import Policy
from sphinx_drift.device import DEVICE_VARIABLE, choose_device
from sphinx_drift.model import PageResult
from sphinx_drift.report.summary import describe_environment
from sphinx_drift.run.pool import Pool
from sphinx_drift.run.results import Request
from sphinx_drift.run.run import request_for

CHECKER = Path(__file__).parents[1]
DEVICES = "gadgets"
GADGETS = '''\
"""What a book's module for devices has: here one that is called npu."""
import contextlib, json, sys

computing_on = "cpu"

def start(place):
    global computing_on
    computing_on = place

def describe(place):
    return {"name": "A gadget"}

@contextlib.contextmanager
def reproducible(place):
    start(place)
    yield
    start("cpu")

if __name__ == "__main__":
    if sys.argv[1] not in ("npu", "npu:0", "auto"):
        sys.exit("gadget missing")
    print(json.dumps([{"place": "npu:0", "description": "npu:0 (A gadget)"}]))
'''
SHOWING = """\
import sys, torch
module = sys.modules.get("gadgets")
print(module.computing_on if module else "cpu", torch.tensor([0.2961, 0.5166]))"""
DOCUMENTED = "npu:0 tensor([0.2961, 0.5166])"
PROJECT = f'[tool.sphinx-drift]\ndevices = "{DEVICES}"\n'


@pytest.fixture(autouse=True)
def _backend(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("backend")
    (folder / "gadgets.py").write_text(GADGETS)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{CHECKER}")


def page(code: str = SHOWING, expected: str = DOCUMENTED) -> str:
    return FRONT + cell(code, expected) + "\n"


# Which device


def before() -> list[str]:
    return [each.name for each in request_for(Path()).before]


def test_the_order_of_those_who_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device() == ""
    assert DEVICE_VARIABLE not in os.environ
    assert "compute_on_device" not in before()
    assert choose_device("npu", modules={DEVICES}) == "npu:0 (A gadget)"
    assert DEVICES not in sys.modules  # another process has asked it
    assert os.environ[DEVICE_VARIABLE] == "npu:0"
    assert "compute_on_device" in before()
    assert choose_device("cpu", modules={DEVICES}) == "npu:0 (A gadget)"
    assert os.environ[DEVICE_VARIABLE] == "npu:0"
    assert choose_device("npu", requested="cpu") == ""
    assert os.environ[DEVICE_VARIABLE] == "cpu"
    assert "compute_on_device" not in before()


def test_one_that_is_not_there_or_that_no_one_module_knows() -> None:
    with pytest.raises(ValueError, match="--device=npu:2: gadget missing"):
        choose_device(requested="npu:2", modules={DEVICES})
    assert DEVICE_VARIABLE not in os.environ
    with pytest.raises(ValueError, match=r'drift_device=cuda: expected .* write devices = "'):
        choose_device("cuda")
    with pytest.raises(ValueError, match=r"expected .* one module .*, got gadgets and other;"):
        choose_device("npu", modules={"", DEVICES, "other"})


@pytest.mark.parametrize("printed", ["hello", [], [{}], {"place": "cuda"}])
def test_a_module_that_prints_no_device_is_refused(
    printed: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = printed if isinstance(printed, str) else json.dumps(printed)
    (tmp_path / "printing.py").write_text(f"print({text!r})\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(ValueError, match=r"=cuda: expected printing to print .* as JSON"):
        choose_device("cuda", modules={"printing"})


# What pages and examples do


@pytest.mark.slow
def test_pages_compute_on_it_and_fail_alone(tmp_path: Path) -> None:
    raising = "import torch\nraise torch.OutOfMemoryError('CUDA out of memory. Tried 1 EiB.')"
    other = page(expected=DOCUMENTED.replace("0.2961", "0.2962"))
    pages = {"1": page(raising, "never"), "2": page(), "3": other}
    write(tmp_path, {"pyproject.toml": PROJECT, **pages})
    words = ("-m", "sphinx_drift", ".", "--device", "npu", "-v")
    done = python(*words, folder=tmp_path)
    assert done.returncode == 1
    assert "npu:0 (A gadget)" in done.stderr
    raised, verified, drifted = re.split(r"(?m)^\d\.md:\d+: ", done.stdout)[1:]
    assert raised.startswith("raised in cell 1")
    assert "out of memory" in raised
    assert verified.startswith("verified in cell 1")
    assert drifted.startswith("drift in cell 1")
    assert "executed 0.2961" in drifted
    assert re.search(r"npu:0 \(A gadget\), .*, portable\)$", done.stdout)


@pytest.mark.slow
def test_examples_of_docstrings(tmp_path: Path) -> None:
    examples = ">>> import gadgets\n>>> gadgets.computing_on\n'npu:0'\n"
    write(tmp_path, {"pyproject.toml": PROJECT, "examples": examples})
    words = ("-m", "pytest", "-p", "sphinx_drift.pytest_plugin", "--drift-doctests", "examples.md")
    done = python(*words, folder=tmp_path, DRIFT_DEVICE="npu")
    assert done.returncode == 0, done.stderr
    assert "npu:0 (A gadget)" in done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("drift_device", ("sphinx", "-b", "dummy", ".", "out")),
        ("--device", ("sphinx_drift", "page.md", "--device", "cuda:99")),
    ],
)
def test_without_the_device_nothing_runs(origin: str, words: tuple[str, ...], book: Book) -> None:
    (book.folder / "pyproject.toml").write_text(PROJECT)
    book.configure(drift_device="cuda:99")
    book.write("page.md", cell("open('it-ran', 'w').close()"))
    done = python("-m", *words, folder=book.folder)
    assert done.returncode == 2
    assert f"{origin}=cuda:99: gadget missing" in " ".join(done.stderr.split())
    assert not (book.folder / "it-ran").exists()


@pytest.mark.slow
def test_a_book_on_a_device(book: Book) -> None:
    book.configure(drift_policy="auto", drift_devices=DEVICES)
    book.write("page.md", "# Page", cell(SHOWING, DOCUMENTED))
    built = book.build(
        DRIFT_DEVICE="npu", DRIFT_RUNNER="jupyter", PYTHONPATH=os.environ["PYTHONPATH"]
    )
    assert built.status == 0, built.stderr
    assert "npu:0 (A gadget)" in built.stdout
    result: PageResult = built.results["page"]
    assert result.policy is Policy.PORTABLE
    assert "npu:0 (A gadget)" in describe_environment([result])
    again = book.build()
    assert again.results["page"].policy is Policy.EXACT
    assert "npu" not in describe_environment(again.results.values())


@pytest.mark.parametrize(
    ("device", "pages", "at_once"), [("cpu", 5, True), ("cuda:0", 4, True), ("cuda:0", 5, False)]
)
def test_four_pages_share_a_device(
    device: str, pages: int, monkeypatch: pytest.MonkeyPatch, *, at_once: bool
) -> None:
    there = threading.Barrier(pages)

    async def all_run(*_: object, **__: object) -> bool:
        with contextlib.suppress(threading.BrokenBarrierError):
            there.wait(60 if at_once else 0.5)
            return True
        return False

    monkeypatch.setattr("sphinx_drift.run.page.run_page", all_run)
    pool, variables = Pool(), {DEVICE_VARIABLE: device}
    jobs = [(v4.new_notebook(), Request(Path(str(name))), variables) for name in range(pages)]
    with ThreadPoolExecutor(pages) as clients:
        assert [*clients.map(pool.fetch, jobs)] == [at_once] * pages
