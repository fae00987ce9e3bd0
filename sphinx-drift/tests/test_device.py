"""Pages compute on the device that was chosen, and say so: a stand-in serves for a GPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from small_book import FRONT

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.device import (
    DEVICE_VARIABLE,
    MEMORY_VARIABLE,
    MODULE_VARIABLE,
    SHARE_VARIABLE,
    choose_device,
    explained,
)
from sphinx_drift.report.text import describe_environment
from sphinx_drift.run import fork_client
from sphinx_drift.run.run import request_for
from sphinx_drift.run_and_judge import Settings

if TYPE_CHECKING:
    from conftest import Book
    from sphinx_drift.compare.outcomes import PageResult

ROOT = Path(__file__).parents[2]
DEVICES = "selfattn.devices"
SEEDED = """\
import torch
torch.manual_seed(123)
W_query = torch.nn.Parameter(torch.rand(3, 2), requires_grad=False)
print(W_query)"""
DOCUMENTED = """\
Parameter containing:
tensor([[0.2961, 0.5166],
        [0.2517, 0.6886],
        [0.0740, 0.8665]])"""
PROJECT = f'[tool.sphinx-drift]\ndevices = "{DEVICES}"\n'
ENTRY = "[torch.backends]\nstandin = standin_backend:register\n"


@pytest.fixture(autouse=True)
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without a device, and forget the one that a test chooses."""
    for name in (DEVICE_VARIABLE, MEMORY_VARIABLE, SHARE_VARIABLE):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install a device that each process which imports torch finds by itself, as ``npu``."""
    folder = tmp_path_factory.mktemp("backend")
    about = folder / "standin_backend-1.0.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: standin-backend\n")
    about.joinpath("entry_points.txt").write_text(ENTRY)
    shutil.copy(ROOT / "tests" / "standin.py", folder / "standin_backend.py")
    path = os.pathsep.join([str(folder), str(ROOT), str(ROOT / "sphinx-drift")])
    return {"PYTHONPATH": path, "STANDIN_NAME": "npu"}


@pytest.fixture
def with_backend(backend: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in backend.items():
        monkeypatch.setenv(name, value)


def check(
    *options: str, environment: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the command on the pages of a folder, whose project names a module for devices."""
    (folder / "pyproject.toml").write_text(PROJECT)
    return subprocess.run(
        [sys.executable, "-m", "sphinx_drift", *options],
        cwd=folder,
        env=os.environ | environment,
        check=False,
        capture_output=True,
        text=True,
    )


def cell(code: str, expected: str | None = None) -> str:
    text = f"```{{code-cell}} ipython3\n{code}\n```"
    return text if expected is None else f"{text}\n\n```{{expected-output}}\n{expected}\n```"


def page(code: str = SEEDED, expected: str | None = DOCUMENTED) -> str:
    return FRONT + cell(code, expected) + "\n"


# Which device


def test_nobody_asks_for_one() -> None:
    assert choose_device() == ""
    assert DEVICE_VARIABLE not in os.environ
    assert request_for(Path()) == request_for(Path())
    assert [f.__name__ for f in request_for(Path()).before] == ["watch"]


@pytest.mark.usefixtures("with_backend")
def test_the_order_of_those_who_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device("npu", module=DEVICES) == "npu:0 (CPU in disguise)"
    assert os.environ[DEVICE_VARIABLE] == "npu:0"
    assert [f.__name__ for f in request_for(Path()).before] == ["watch", "compute_on_device"]
    assert choose_device("cpu", module=DEVICES) == "npu:0 (CPU in disguise)"
    assert os.environ[DEVICE_VARIABLE] == "npu:0"
    assert choose_device("npu", requested="cpu") == ""
    assert os.environ[DEVICE_VARIABLE] == "cpu"
    assert [f.__name__ for f in request_for(Path()).before] == ["watch"]


def test_auto_says_which() -> None:
    description = choose_device(requested="auto", module=DEVICES)
    assert description.startswith(f"{os.environ.get(DEVICE_VARIABLE, 'cpu')} (")


@pytest.mark.usefixtures("with_backend")
@pytest.mark.parametrize(("name", "reason"), [("npu:2", "there is 1"), ("pdp11", "no kind of")])
def test_one_that_is_not_there(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        choose_device(requested=name, module=DEVICES)
    assert DEVICE_VARIABLE not in os.environ


def test_a_device_needs_a_module_that_knows_it() -> None:
    with pytest.raises(ValueError, match=r'drift_device=cuda: expected .* write devices = "'):
        choose_device("cuda")


@pytest.mark.parametrize("printed", ["hello", [], [{}], {"place": "cuda"}])
def test_a_module_that_prints_no_device_is_refused(
    printed: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = printed if isinstance(printed, str) else json.dumps(printed)
    (tmp_path / "printing.py").write_text(f"print({text!r})\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(ValueError, match=r"=cuda: expected printing to print .* as JSON"):
        choose_device("cuda", module="printing")


def test_this_process_asks_no_device() -> None:
    run = (
        "import sys\nfrom sphinx_drift.device import choose_device\n"
        f"choose_device('auto', module={DEVICES!r})\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", run], check=True)


# What pages and examples do


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["fork", "jupyter"])
def test_a_page_prints_the_documented_numbers(
    runner: str, backend: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text(page())
    environment = {**backend, "DRIFT_RUNNER": runner}
    done = check("page.md", "--device", "npu", "--json", environment=environment, folder=tmp_path)
    assert "npu:0 (CPU in disguise)" in done.stderr
    (report,) = json.loads(done.stdout)["pages"]
    (outcome,) = report["outcomes"]
    assert (outcome["kind"], report["policy"]) == ("verified", "portable")
    assert "device='npu:0')" in outcome["executed"]
    assert report["environment"]["device"] == "npu:0"
    assert report["environment"]["name"] == "CPU in disguise"


@pytest.mark.slow
def test_a_wrong_digit_is_detected_there_too(backend: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(page(expected=DOCUMENTED.replace("0.2961", "0.2962")))
    environment = {**backend, DEVICE_VARIABLE: "npu"}
    done = check("page.md", environment=environment, folder=tmp_path)
    assert done.returncode == 1
    assert "documented 0.2962, executed 0.2961" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 output drifted")
    assert "npu:0 (CPU in disguise)" in done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_page_that_runs_out_of_memory_fails_alone(
    backend: dict[str, str], tmp_path: Path
) -> None:
    raising = "import torch\nraise torch.OutOfMemoryError('CUDA out of memory. Tried 1 EiB.')"
    (tmp_path / "first.md").write_text(page(raising, "never"))
    (tmp_path / "second.md").write_text(page())
    done = check(
        *("first.md", "second.md", "--device", "npu", "--json"),
        environment={**backend, MEMORY_VARIABLE: "3"},
        folder=tmp_path,
    )
    first, second = json.loads(done.stdout)["pages"]
    assert done.returncode == 1
    assert first["outcomes"][0]["kind"] == "raised"
    assert "out of memory" in first["outcomes"][0]["message"]
    assert second["outcomes"][0]["kind"] == "verified"


@pytest.mark.slow
def test_examples_of_docstrings(backend: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx_drift.doctests", "selfattn.examples", "--device", "npu"],
        cwd=tmp_path,
        env=os.environ | backend,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "npu:0 (CPU in disguise)" in done.stderr
    assert "4 examples verified (torch" in done.stdout
    assert "npu:0 (CPU in disguise)" in done.stdout


@pytest.mark.parametrize(
    ("device", "way"),
    [
        ("cuda:99", "variable"),
        ("cuda:99", "setting"),
        ("cuda:99", "command"),
        ("cuda:99", "examples"),
        ("pdp11", "variable"),
    ],
)
def test_without_the_device_nothing_runs(device: str, way: str, book: Book, tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    (book.folder / "pyproject.toml").write_text(PROJECT)
    book.write("page.md", cell(f"open({str(mark)!r}, 'w').close()"))
    if way == "variable":
        built = book.build(DRIFT_DEVICE=device)
        status, message = built.status, built.stderr
    elif way == "setting":
        book.configure(drift_device=device)
        built = book.build()
        status, message = built.status, built.stderr
    else:
        module = "sphinx_drift" if way == "command" else "sphinx_drift.doctests"
        target = "page.md" if way == "command" else str(ROOT / "README.md")
        done = subprocess.run(
            [sys.executable, "-m", module, target, "--device", device],
            cwd=book.folder,
            check=False,
            capture_output=True,
            text=True,
        )
        status, message = done.returncode, done.stderr
    assert status == 2
    message = message.replace("\n", " ")
    assert ("Found: " if device == "cuda:99" else "no kind of device") in message
    origin = {"variable": "DRIFT_DEVICE", "setting": "drift_device"}.get(way, "--device")
    assert f"{origin}={device}: " in message
    assert not mark.exists()


@pytest.mark.slow
def test_a_book_on_a_device(book: Book, backend: dict[str, str]) -> None:
    book.configure(drift_policy="auto", drift_devices=DEVICES)
    book.write("page.md", "# Page", cell(SEEDED, DOCUMENTED))
    built = book.build(DRIFT_DEVICE="npu", **backend)
    assert built.status == 0, built.stderr
    assert "npu:0 (CPU in disguise)" in built.stdout
    result: PageResult = built.results["page"]
    assert result.policy is Policy.PORTABLE
    assert "npu:0 (CPU in disguise)" in describe_environment([result])
    again = book.build()
    assert again.results["page"].policy is Policy.EXACT
    assert "npu" not in describe_environment(again.results.values())


# Memory


def test_pages_share_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0))
    assert fork_client.slots({}) == cores
    assert fork_client.slots({SHARE_VARIABLE: "1 0.500000"}) == 1
    assert fork_client.slots({SHARE_VARIABLE: "999 0.010000"}) == cores


@pytest.mark.parametrize(
    ("total", "memory", "share"),
    [
        (16.0, "", "5 0.125000"),  # 2 GiB and what a process takes by itself, five times
        (139.0, "6", "20 0.043165"),
        (8.0, "40", "1 1.000000"),
    ],
)
def test_how_many_pages_share_it(
    total: float, memory: str, share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sphinx_drift import device  # noqa: PLC0415

    chosen = {"place": "cuda:0", "description": "cuda:0", "memory": total * 2**30}
    monkeypatch.setattr(device, "_look_for", lambda *_: chosen)
    monkeypatch.setenv(MEMORY_VARIABLE, memory)
    choose_device(requested="cuda")
    assert os.environ[SHARE_VARIABLE] == share


@pytest.mark.parametrize("memory", ["much", "0", "-1"])
def test_a_bound_that_is_none(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sphinx_drift import device  # noqa: PLC0415

    monkeypatch.setattr(device, "_look_for", lambda *_: {"place": "cuda:0", "memory": 2**34})
    monkeypatch.setenv(MEMORY_VARIABLE, memory)
    with pytest.raises(ValueError, match="must be a number of GiB, such as 2"):
        choose_device(requested="cuda")


def test_a_child_keeps_to_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch  # noqa: PLC0415

    from selfattn import devices  # noqa: PLC0415
    from sphinx_drift.run.injected import compute_on_device  # noqa: PLC0415

    bounds: list[tuple[float, str]] = []
    monkeypatch.setenv(DEVICE_VARIABLE, "cuda:0")
    monkeypatch.setenv(MODULE_VARIABLE, DEVICES)
    monkeypatch.setenv(SHARE_VARIABLE, "5 0.125000")
    entered = SimpleNamespace(__enter__=lambda: torch.device("cuda:0"), __exit__=lambda *_: None)
    monkeypatch.setattr(devices, "reproducible", lambda _: entered)
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda part, on: bounds.append((part, on))
    )
    compute_on_device()
    devices.stop()
    assert bounds == [(0.125, torch.device("cuda:0"))]


def test_memory_that_ran_out_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB."
    assert explained(text) == text  # nobody shares anything
    monkeypatch.setenv(DEVICE_VARIABLE, "cuda:0")
    monkeypatch.setenv(SHARE_VARIABLE, "5 0.125000")
    message, more = explained(text).split("\n")
    assert message == text
    assert {"2", "GiB", "cuda:0;", MEMORY_VARIABLE} <= {*more.split()}
    assert explained("ValueError: no") == "ValueError: no"


# Policy, words, and texts printed on a GPU


@pytest.mark.parametrize("reference", [None, {}, {"torch": "7.1.0", "device": "cpu"}])
def test_portable_holds_on_every_device_but_the_reference(
    reference: dict[str, str] | None,
) -> None:
    settings = Settings(reference=reference)
    environment = {"torch": "7.1.0", "device": "cpu"}
    assert settings.policy_on(environment) is Policy.EXACT
    assert settings.policy_on({**environment, "device": "cuda:0"}) is Policy.PORTABLE
    assert settings.policy_on({"python": "3.11"}) is Policy.EXACT


def test_a_reference_that_is_a_gpu() -> None:
    settings = Settings(reference={"device": "cuda:0"})
    assert settings.policy_on({"device": "cuda:0"}) is Policy.EXACT
    assert settings.policy_on({"device": "cpu"}) is Policy.PORTABLE


V2 = """\
tensor([[-0.0739,  0.0713],
        [-0.0748,  0.0703]], grad_fn=<MmBackward0>)"""
V2_ON_CUDA = """\
tensor([[-0.0739,  0.0713],
        [-0.0748,  0.0703]], device='cuda:0', grad_fn=<MmBackward0>)"""
ON_A_GPU = {
    "matrix": (V2, V2_ON_CUDA),
    "wrapped by the longer line": (
        "tensor([0.4306, 1.4551, 1.1000, 0.5577, 0.8654, 0.6401, 0.3000, 0.2000, 0.1000])",
        """tensor([0.4306, 1.4551, 1.1000, 0.5577, 0.8654, 0.6401, 0.3000, 0.2000, 0.1000],
       device='cuda:0')""",
    ),
    "another number": ("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8210], device='cuda:1')"),
    "Apple": ("tensor([0.3061, 0.8210])", "tensor([0.3061, 0.8210], device='mps:0')"),
    "scalar": ("tensor(0.5000)", "tensor(0.5000, device='cuda:0')"),
    "with its type": (
        "tensor([0.5000], dtype=torch.float64)",
        "tensor([0.5000], device='cuda:0', dtype=torch.float64)",
    ),
    "parameter": (
        "Parameter containing:\ntensor([[0.2961, 0.5166]])",
        "Parameter containing:\ntensor([[0.2961, 0.5166]], device='cuda:0')",
    ),
    "list": (
        "[tensor([1, 2]), tensor([3])]",
        "[tensor([1, 2], device='cuda:0'), tensor([3], device='cuda:0')]",
    ),
    "to be trained": (
        "tensor([1.], requires_grad=True)",
        "tensor([1.], device='cuda:0', requires_grad=True)",
    ),
}


@pytest.mark.parametrize("name", ON_A_GPU)
def test_texts_of_a_gpu_that_must_be_accepted(name: str) -> None:
    documented, executed = ON_A_GPU[name]
    assert compare(documented, executed).same


@pytest.mark.parametrize(
    ("documented", "executed"),
    [
        (V2, V2_ON_CUDA.replace("0.0703", "0.0704")),
        (V2, V2_ON_CUDA.replace("-0.0748", "0.0748")),
        (V2, V2_ON_CUDA.replace(", grad_fn=<MmBackward0>", "")),
        (V2, V2_ON_CUDA.replace("Mm", "Addmm")),
        (V2, V2_ON_CUDA.replace("device='cuda:0'", "device='cuda:0', dtype=torch.float16")),
        (V2, V2_ON_CUDA.replace("device=", "requires_grad=")),
        ("tensor([1, 2])", "tensor([2, 1], device='cuda:0')"),
        ("tensor([1, 2])", "tensor([1., 2.], device='cuda:0')"),
        ("tensor([1, 2])", "tensor([[1, 2]], device='cuda:0')"),
        ("tensor([1, 2])", "tensor([1, 2], device='disk:0')"),
        ("tensor([1, 2])", "tensor([1, 2], device='meta')"),
        ("the device is cpu", "the device is cuda:0"),
        ("cpu", "cuda:0"),
        ("device(type='cpu')", "device(type='cuda', index=0)"),
        ("tensor([0.5])", "tensor([nan], device='cuda:0')"),
    ],
)
def test_texts_of_a_gpu_that_must_be_refused(documented: str, executed: str) -> None:
    assert not compare(documented, executed).same
    assert not compare(documented, executed, policy=Policy.PORTABLE, precise=executed).same


def test_what_tf32_does_is_refused() -> None:
    """Factors with ten bits of fraction give products that are no rounding of float32's."""
    import torch  # noqa: PLC0415

    from selfattn import SelfAttention_v2, attention_weights  # noqa: PLC0415
    from selfattn.examples import six_tokens  # noqa: PLC0415

    def short(x: torch.Tensor) -> torch.Tensor:
        bits = x.detach().contiguous().view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

    torch.manual_seed(789)
    inputs, attend = six_tokens().inputs, SelfAttention_v2(3, 2)
    layers = (attend.W_query, attend.W_key, attend.W_value)
    queries, keys, values = (short(short(inputs) @ short(layer.weight).T) for layer in layers)
    coarse = short(attention_weights(queries @ keys.T, d_k=2)) @ values
    documented = str(attend(inputs).detach())
    assert "-0.0739,  0.0713" in documented
    precise = str(coarse.tolist())
    verdict = compare(documented, str(coarse), policy=Policy.PORTABLE, precise=f"tensor({precise})")
    assert len(verdict.differences) == 5
    assert not verdict.accepted


def test_the_report_names_the_device() -> None:
    from sphinx_drift.judge import PageResult  # noqa: PLC0415

    environment = {
        "torch": "7.1.0",
        "device": "cuda:0",
        "name": "A GPU",
        "driver": "driver 1.2",
        "capability": "9.0",
        "threads": "2",
    }
    result = PageResult("page.md", policy=Policy.PORTABLE, environment=environment)
    short = "torch 7.1.0, cuda:0 (A GPU, driver 1.2, 9.0), portable"
    assert describe_environment([result]) == short
    full = "torch 7.1.0, cuda:0 (A GPU, driver 1.2, 9.0), 2 threads, portable"
    assert describe_environment([result], full=True) == full
