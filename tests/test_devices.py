"""The same seed gives the same numbers on any device: shown on a CPU that stands for another."""

import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everyone's name for it

from selfattn import SelfAttention_v2, devices, fit
from selfattn.devices import choose, reproducible
from selfattn.examples import six_tokens
from selfattn.small_gpt import load_weights

pytestmark = pytest.mark.skipif(
    torch.cuda.is_available(), reason="no process can have a GPU and the stand-in"
)
STANDIN = Path(__file__).with_name("standin.py")
SEEDED = torch.Tag.nondeterministic_seeded


@pytest.fixture(scope="module", autouse=True)
def standin() -> Iterator[Any]:
    """Return the stand-in's own generator, after registering the device for the process."""
    names = runpy.run_path(str(STANDIN))
    names["register"]()
    yield names["own_generator"]
    torch.manual_seed(torch.seed())


# Each draws what the CPU draws


def attend(**options: Any) -> list[Tensor]:
    """Attend with gradients, so that the backward pass needs the mask too."""
    queries, keys, values = (torch.rand(2, 3, 5, 7, requires_grad=True) for _ in range(3))
    context = F.scaled_dot_product_attention(queries, keys, values, **options)
    context.sum().backward()
    assert queries.grad is not None
    return [context, queries.grad]


def parts_of(module: nn.Module, *inputs: Tensor) -> list[Tensor]:
    output = module(*inputs) if inputs else torch.ones(())
    first = output[0] if isinstance(output, tuple) else output
    return [*module.parameters(), first]


def shuffled() -> list[Tensor]:
    data = torch.utils.data.TensorDataset(torch.arange(11))
    return [batch[0] for batch in torch.utils.data.DataLoader(data, batch_size=3, shuffle=True)]


def layouts() -> list[Tensor]:
    """Draw into tensors whose rows don't follow one another in memory."""
    base = torch.zeros(7, 12)
    base[:, ::2].normal_()
    base.t()[1:4].uniform_()
    base[2:5, 3:7].bernoulli_(0.3)
    return [base, torch.zeros(5, 3).t().exponential_(), F.dropout(torch.ones(6, 4).t())]


@torch.inference_mode()
def inferring() -> list[Tensor]:
    """Use what PyTorch takes apart itself, unless it records nothing for gradients."""
    x = torch.rand(5, 3)
    with_dropout = nn.RNN(3, 5, 2, dropout=0.3).eval()
    return [F.dropout(x, 0.3), F.rrelu(-x, training=True), with_dropout(x)[0]]


AS_PAGES_WRITE = {
    "rand": lambda: [torch.rand(3, 2), torch.rand(3, dtype=torch.bfloat16).float()],
    "randn": lambda: [torch.randn(3), torch.randn(100), torch.randn(100, dtype=torch.float64)],
    "whole numbers": lambda: [torch.randint(0, 9, (4,)), torch.randperm(11)],
    "multinomial": lambda: [torch.multinomial(torch.ones(9), 20, replacement=True)],
    "from numbers": lambda: [torch.bernoulli(torch.rand(9)), torch.poisson(torch.rand(9) * 5)],
    "out": lambda: [torch.rand(3, out=torch.empty(3)), torch.randn(20, out=torch.empty(0))],
    "linear": lambda: parts_of(nn.Linear(3, 2), torch.ones(4, 3)),
    "initial": lambda: [nn.init.trunc_normal_(torch.empty(20)), nn.init.orthogonal_(torch.eye(5))],
    "dropout": lambda: [F.dropout(torch.ones(7, 5), p) for p in (0.0, 0.3, 1.0)],
    "dropout, native": lambda: [torch.native_dropout(torch.ones(7, 5), 0.3, train=True)[0]],
    "attention": attend,
    "attention with dropout": lambda: attend(dropout_p=0.3),
    "heads with dropout": lambda: parts_of(nn.MultiheadAttention(6, 2, 0.3), *torch.rand(3, 5, 6)),
    "layer with dropout": lambda: parts_of(nn.TransformerEncoderLayer(6, 2, 11), torch.rand(5, 6)),
    "recurrent with dropout": lambda: parts_of(nn.RNN(3, 5, 2, dropout=0.3), torch.rand(4, 3)),
    "without gradients": inferring,
    "shuffle": shuffled,
    "layouts": layouts,
    "the book's class": lambda: parts_of(SelfAttention_v2(3, 2), six_tokens().inputs),
}
ROUNDED = {"attention", "layer with dropout", "recurrent with dropout", "without gradients"}
"""Without dropout, the CPU has kernels of its own for these, which add in another order."""


def assert_same_draws(name: str, device: str, *, exactly: bool) -> None:
    """Draw on the CPU, and under the context on the other device: all is the same."""
    torch.manual_seed(123)
    wanted = AS_PAGES_WRITE[name]()
    after = torch.get_rng_state()
    with reproducible(device) as place:
        torch.manual_seed(123)
        drawn = AS_PAGES_WRITE[name]()
        assert torch.equal(torch.get_rng_state(), after)
    for one, other in zip(wanted, drawn, strict=True):
        assert other.device == place
        moved = other.detach().cpu()
        assert (moved.dtype, moved.stride()) == (one.dtype, one.stride())
        tolerance = 0 if exactly else None
        torch.testing.assert_close(moved, one.detach(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", AS_PAGES_WRITE)
def test_code_as_pages_write_it_draws_the_cpu_s_numbers(name: str, standin: Any) -> None:
    torch.manual_seed(123)
    untouched = standin.get_state()
    assert_same_draws(name, "standin", exactly=name not in ROUNDED)
    assert torch.equal(standin.get_state(), untouched)


def test_without_the_context_the_numbers_are_others() -> None:
    torch.manual_seed(123)
    wanted = torch.rand(5)
    torch.manual_seed(123)
    assert not torch.equal(torch.rand(5, device="standin").cpu(), wanted)


# What is asked for by name is respected, and what can't be led to the CPU is refused


def test_a_device_and_a_generator_that_are_named_are_used() -> None:
    torch.manual_seed(123)
    wanted, after = torch.rand(3), torch.get_rng_state()
    with reproducible("standin"):
        torch.manual_seed(123)
        drawn = torch.rand(3, device="cpu")
        assert drawn.device.type == "cpu"
        assert torch.equal(drawn, wanted)
        drawn = torch.rand(3, generator=torch.Generator().manual_seed(123))  # the CPU's own
        assert torch.equal(drawn.cpu(), wanted)
        nn.Linear(3, 2, device="meta")  # these hold no numbers, and draw none
        assert torch.equal(torch.get_rng_state(), after)


@pytest.mark.parametrize("key", ["CPU", "PrivateUse1"])
def test_an_operation_that_a_new_torch_adds_draws_on_the_cpu_or_is_refused(key: str) -> None:
    with torch.library._scoped_library("selfattn_tests", "FRAGMENT") as library:
        library.define("dice(Tensor x, float dropout=1.0) -> Tensor", tags=[SEEDED])
        library.impl("dice", lambda x, _=1.0: x + torch.rand((), device=x.device), key)
        with reproducible("standin"):
            torch.manual_seed(123)
            if key == "PrivateUse1":
                with pytest.raises(NotImplementedError, match="draws by itself"):
                    torch.ops.selfattn_tests.dice(torch.zeros(1))
                torch.ops.selfattn_tests.dice(torch.zeros(1), 0.0)  # such dropout draws nothing
            else:
                assert torch.ops.selfattn_tests.dice(torch.zeros(1)).item() == pytest.approx(
                    0.2961, abs=1e-4
                )


def run_alone(code: str) -> None:
    """Run code in a process that has the stand-in and nothing of the tests; it prints nothing."""
    start = f"import runpy; runpy.run_path({str(STANDIN)!r})['register']()\n"
    done = subprocess.run(
        [sys.executable, "-c", start + code], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.slow
def test_the_compiler_is_not_imported_and_compiled_functions_run_as_they_were_written() -> None:
    run_alone("""
import sys, torch
from selfattn.devices import reproducible
def draw(x):
    return x + torch.rand(3, device=x.device)
torch.manual_seed(123); wanted = draw(torch.zeros(3))
with reproducible("standin"):
    assert "torch._dynamo" not in sys.modules
    torch.manual_seed(123); drawn = torch.compile(draw, backend=None)(torch.zeros(3))
    assert torch.equal(drawn.cpu(), wanted)
compiled = torch.compile(draw, backend="eager")
first = compiled(torch.zeros(3, device="standin"))
with reproducible("standin"):
    torch.manual_seed(123); drawn = compiled(torch.zeros(3))
assert torch.equal(drawn.cpu(), wanted) and not torch.equal(first.cpu(), wanted)
""")


@pytest.mark.slow
def test_a_script_that_only_starts_ends_in_silence() -> None:
    run_alone("from selfattn import devices\ndevices.start('standin')")


# Everything is as before afterwards


def settings() -> dict[str, object]:
    cudnn, cuda = torch.backends.cudnn, torch.backends.cuda
    return {
        "default device": str(torch.get_default_device()),
        "products": (torch.get_float32_matmul_precision(), cuda.matmul.allow_tf32),
        "fp16 sums": cuda.matmul.allow_fp16_reduced_precision_reduction,
        "bf16 sums": cuda.matmul.allow_bf16_reduced_precision_reduction,
        "cudnn": (cudnn.deterministic, cudnn.benchmark, cudnn.allow_tf32, cudnn.enabled),
        "deterministic": torch.get_deterministic_debug_mode(),
        "fused attention": (cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled()),
        "attention": cuda.math_sdp_enabled(),
        "modes": (torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()),
        "draws": torch._C._dispatch_has_kernel_for_dispatch_key("aten::uniform_", "PrivateUse1"),
    }


INSIDE = {
    "default device": "standin:0",
    "products": ("highest", False),
    "fp16 sums": False,
    "bf16 sums": False,
    "cudnn": (True, False, False, True),
    "deterministic": 2,
    "fused attention": (False, False),
    "attention": True,
    "modes": (0, 1),  # the second makes the device the default one
    "draws": True,
}


@pytest.fixture(params=[False, True], ids=["as they are", "as a reader set them"])
def settings_before(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a reader have set things otherwise before."""
    if request.param:
        torch.set_float32_matmul_precision("high")
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.enable_math_sdp(enabled=False)
    yield
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(mode=False)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.enable_math_sdp(enabled=True)


@pytest.mark.usefixtures("settings_before")
def test_settings_inside_and_afterwards() -> None:
    before = settings()
    with suppress(ZeroDivisionError), reproducible("standin"):
        assert settings() == INSIDE
        with reproducible("cpu"):  # one inside the other
            assert settings()["default device"] == "cpu"
        assert settings() == INSIDE
        _ = 1 / 0
    assert settings() == before


def test_for_a_whole_notebook() -> None:
    before = settings()
    assert devices.start("standin") == torch.device("standin:0")
    try:
        devices.start("standin")  # the cell is run again
        assert settings() == INSIDE
        with pytest.raises(RuntimeError):
            devices.start("gpu")
        assert settings() == INSIDE
    finally:
        devices.stop()
    assert settings() == before
    devices.stop()


def test_kept_weights_go_to_the_device_of_the_model() -> None:
    with reproducible("standin"):
        layer = nn.Linear(3, 2)
        load_weights(layer)
    assert layer.weight.device == torch.device("standin:0")


# It trains as the CPU does


def train(steps: int) -> list[float]:
    """Train a layer with dropout, and return the losses."""
    torch.manual_seed(123)
    x = torch.randn(32, 5)
    parts = (nn.Linear(5, 16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 1))
    model = nn.Sequential(*parts)
    return fit(
        model, lambda model: (model(x) - x.sin().sum(-1, keepdim=True)).square().mean(), steps
    )


def assert_same_training(device: str) -> None:
    wanted = train(50)
    assert wanted[-1] < 0.9 * wanted[0]
    with reproducible(device):
        found = train(50)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_training_with_dropout_has_the_losses_of_the_cpu() -> None:
    assert_same_training("standin")


# Which devices there are


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cuda:99", "not compiled with CUDA|invalid device ordinal|No CUDA"),
        ("gpu", "Expected one of cpu, cuda"),
        ("meta", "meta tensors"),
        ("hpu", "No module named"),
    ],
)
def test_a_device_that_is_not_there(name: str, reason: str) -> None:
    with pytest.raises(RuntimeError, match=rf"no device '{name}': .*({reason})"):
        choose(name)


def test_auto_takes_the_first_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose() == torch.device("standin:0")

    def fail(*_: object) -> None:
        raise RuntimeError("no kernel image is available. Compile with")

    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 0)
    assert choose() == torch.device("cpu")
    monkeypatch.setattr(Tensor, "item", fail)
    with pytest.raises(RuntimeError, match=r"'cpu': no kernel image is available$"):
        choose("cpu")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    devices.main(["standin", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert found == {"place": "standin:0", "description": "standin:0 (CPU in disguise)"}
    devices.main(["cpu"])
    assert capsys.readouterr().out.startswith("cpu (")
    with pytest.raises(SystemExit, match="2"):
        devices.main(["nonsense"])
    assert capsys.readouterr().err.startswith("no device 'nonsense'")
