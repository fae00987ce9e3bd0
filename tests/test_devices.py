"""The same seed gives the same numbers on any device: shown on a CPU that stands for another."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everyone's name for it

from selfattn import SelfAttention_v2, devices
from selfattn._draws import CpuDraws, Treatment, UnreproducibleError, _Call, treatment
from selfattn.devices import Device, MissingDeviceError, choose, find, reproducible
from selfattn.examples import six_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SEEDED = torch.Tag.nondeterministic_seeded
STANDIN = Path(__file__).with_name("standin.py")

DRAWS_NOTHING = {
    "aten::native_dropout_backward": "it is given the mask",
    "aten::poisson_nll_loss": "a loss",
    "aten::rrelu_with_noise_backward": "it is given the noise",
    "quantized::dropout": "it returns what it is given",
}
DRAWS_FROM_ITS_KEY = "_philox_"
COMPILED_ONLY = {
    "inductor_prims::inductor_reserve_rng_state",
    "prims::inductor_lookup_seed",
    "prims::inductor_randint",
    "prims::inductor_random",
}


@pytest.fixture(scope="module")
def standin() -> Iterator[dict[str, Any]]:
    """Return the names of the module that registers the device, once for the process."""
    names = runpy.run_path(str(STANDIN))
    names["register"]()
    yield names
    torch.manual_seed(torch.seed())


def operators(namespaces: Iterable[str] = ("aten", "prims", "rngprims")) -> Iterator[Any]:
    """Walk PyTorch's operators: every overload of every name."""
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        if namespace not in namespaces:
            continue
        try:
            yield getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
        except AttributeError:  # TorchScript's own, which take no tensors
            continue


def unaccounted(found: Iterable[Any]) -> list[str]:
    return [str(o) for o in found if SEEDED in o.tags and treatment(o) is None]


TAGGED = [operator for operator in operators() if SEEDED in operator.tags]
DRAWN = [operator for operator in TAGGED if treatment(operator) is Treatment.DRAW]


ONES = torch.ones(5, 7)


# Every random operation has its treatment


def test_every_tagged_operation_is_accounted_for() -> None:
    assert len(TAGGED) > 100
    assert unaccounted(TAGGED) == []


def test_nothing_that_looks_random_lacks_the_tag() -> None:
    words = (
        *("rand", "dropout", "bernoulli", "multinomial", "normal_", "uniform", "rrelu"),
        *("poisson", "seed", "rng", "philox", "cauchy", "binomial"),
    )
    namespaces = {o.partition("::")[0] for o in torch._C._dispatch_get_all_op_names()}
    suspects = set()
    for operator in operators(namespaces):
        schema = str(operator._schema)
        name = operator._schema.name
        named = any(word in name.partition("::")[2] for word in words)
        if SEEDED not in operator.tags and ("Generator" in schema or named):
            suspects.add(name)
    suspects -= DRAWS_NOTHING.keys() | COMPILED_ONLY
    assert [name for name in sorted(suspects) if DRAWS_FROM_ITS_KEY not in name] == []


@contextmanager
def dice() -> Iterator[Any]:
    """Bring a random operation that nobody has heard of, as a new PyTorch would."""
    with torch.library._scoped_library("selfattn_tests", "FRAGMENT") as library:
        library.define("dice(Tensor x) -> Tensor", tags=[SEEDED])
        library.impl("dice", lambda x: x + torch.rand(()), "CompositeExplicitAutograd")
        yield torch.ops.selfattn_tests.dice.default


def test_an_operation_that_a_new_torch_adds_is_detected() -> None:
    with dice() as new:
        assert unaccounted([new]) == ["selfattn_tests.dice.default"]


def test_an_operation_that_a_new_torch_adds_is_refused(standin: dict[str, Any]) -> None:
    with dice() as new, reproducible("standin"):
        x = torch.ones(3)
        with pytest.raises(UnreproducibleError, match=r"dice.*standin:0: it is a random operation"):
            new(x)
        with pytest.raises(UnreproducibleError):
            torch.ops.selfattn_tests.dice(torch.ones(3))
        torch.ops.selfattn_tests.dice(torch.ones(3, device="cpu"))  # that one is the CPU's


# Each draws what the CPU draws


def argument(name: str, spec: Any, operator: Any, device: str) -> Any:  # noqa: PLR0911
    """Return a value for an argument of an operation, by its type and name."""
    kind = str(spec.type).removeprefix("Optional[").removesuffix("]")
    if name in {"out", "out0", "out1"}:
        # With an empty one, PyTorch's own kernel writes past it, or refuses.
        grows = not any(word in str(operator) for word in ("rrelu", "Tensor_float_out"))
        return torch.empty((0,) if grows else (3, 5), device=device, dtype=written(operator))
    if kind.startswith("Tensor"):
        likely = {"count": 10.0, "noise": 0.0, "high": 9}
        dtype = torch.int64 if name == "high" else torch.float32
        if name == "high":
            return torch.tensor(9, device="cpu")  # PyTorch wants this one there
        return torch.full((3, 5), likely.get(name, 0.25), device=device, dtype=dtype)
    if kind.startswith("List"):
        return [5, 1] if name == "stride" else [3, 5]
    numbers: dict[str, Any] = {"from": 0.0, "to": 1.0, "p": 0.5, "n": 7, "high": 9, "low": 2}
    numbers |= {"num_samples": 2, "requires_grad": False}
    numbers |= {"mean": 0.5, "std": 2.0, "dtype": torch.float32, "device": torch.device(device)}
    if operator._schema.name.startswith("aten::random"):
        numbers |= {"from": 2, "to": 9}
    if "rrelu" in operator._schema.name and name == "training":
        return True
    if name == "generator":
        return None
    return numbers[name]


def written(operator: Any) -> torch.dtype:
    whole = ("multinomial", "randperm", "randint")
    return torch.int64 if any(word in str(operator) for word in whole) else torch.float32


def call(operator: Any, device: str) -> list[Tensor]:
    """Call an operation with what its schema asks for, and return all it returns."""
    args, kwargs = [], {}
    for spec in operator._schema.arguments:
        wanted = not spec.has_default_value() or spec.name in {"training", "device"}
        if not wanted:
            continue
        value = argument(spec.name, spec, operator, device)
        if spec.kwarg_only:
            kwargs[spec.name] = value
        else:
            args.append((spec.name, value))
    if "training" in dict(args):  # the bounds stand before it
        args[-1:] = [("lower", 0.1), ("upper", 0.3), ("training", True)]
    result = operator(*(value for _, value in args), **kwargs)
    changed = [value for name, value in args if isinstance(value, Tensor) and name != "high"]
    return [*(result if isinstance(result, tuple) else (result,)), *changed]


@pytest.mark.parametrize("operator", DRAWN, ids=str)
def test_each_drawing_operation_draws_the_cpu_s_numbers(
    operator: Any, standin: dict[str, Any]
) -> None:
    assert_same_draws(lambda device: call(operator, device), standin)


def assert_same_draws(
    draw: Callable[[str], list[Tensor]], standin: dict[str, Any], *, exactly: bool = True
) -> None:
    """Draw on the CPU, and under the context on the other device: all is the same."""
    torch.manual_seed(123)
    wanted = draw("cpu")
    after = torch.get_rng_state()
    with reproducible("standin") as place:
        torch.manual_seed(123)
        untouched = standin["own_generator"].get_state()
        drawn = draw(str(place))
        assert torch.equal(standin["own_generator"].get_state(), untouched)
        assert torch.equal(torch.get_rng_state(), after)
    assert {tensor.device.type for tensor in drawn} == {"standin"}
    for one, other in zip(wanted, drawn, strict=True):
        moved = other.detach().cpu()
        assert moved.dtype == one.dtype
        assert moved.stride() == one.stride()
        tolerance = 0 if exactly else None
        torch.testing.assert_close(moved, one.detach(), rtol=tolerance, atol=tolerance)


def test_without_the_context_the_numbers_are_others(standin: dict[str, Any]) -> None:
    torch.manual_seed(123)
    wanted = torch.rand(5)
    torch.manual_seed(123)
    assert not torch.equal(torch.rand(5, device="standin").cpu(), wanted)


def attend(**options: Any) -> list[Tensor]:
    """Attend with gradients, so that the backward pass needs the mask too."""
    queries, keys, values = (torch.rand(2, 3, 5, 7, requires_grad=True) for _ in range(3))
    context = F.scaled_dot_product_attention(queries, keys, values, **options)
    context.sum().backward()
    assert queries.grad is not None
    return [context, queries.grad]


def of(module: nn.Module, *inputs: Tensor) -> list[Tensor]:
    """Return a module's parameters and what it makes of inputs."""
    output = module(*inputs) if inputs else torch.ones(())
    first = output[0] if isinstance(output, tuple) else output
    return [*module.parameters(), first]


def shuffled() -> list[Tensor]:
    data = torch.utils.data.TensorDataset(torch.arange(11))
    return [batch[0] for batch in torch.utils.data.DataLoader(data, batch_size=3, shuffle=True)]


def in_order() -> list[Tensor]:
    """Draw one thing after the other, as a page does."""
    return [
        torch.rand(3),
        nn.Linear(3, 2).weight,
        torch.randperm(6),
        F.dropout(torch.ones(4)),
        torch.bernoulli(torch.full((3,), 0.5)),
        torch.multinomial(torch.ones(7), 3),
        torch.normal(torch.zeros(3), 2.0),
        torch.rand(2),
    ]


def reused_layout() -> list[Tensor]:
    """Draw into tensors whose rows don't follow one another in memory."""
    base = torch.zeros(7, 12)
    base[:, ::2].normal_()
    base.t()[1:4].uniform_()
    base[2:5, 3:7].bernoulli_(0.3)
    return [base, torch.zeros(5, 3).t().exponential_(), F.dropout(torch.ones(6, 4).t())]


AS_PAGES_WRITE = {
    "rand": lambda: [torch.rand(3, 2)],
    "rand of another type": lambda: [torch.rand(3, dtype=torch.bfloat16).float()],
    "randn, few": lambda: [torch.randn(3)],
    "randn, many": lambda: [torch.randn(100)],
    "randn, float64": lambda: [torch.randn(100, dtype=torch.float64)],
    "randint": lambda: [torch.randint(0, 9, (4,))],
    "randperm": lambda: [torch.randperm(11)],
    "rand_like": lambda: [torch.rand_like(torch.ones(3, 5).t())],
    "multinomial": lambda: [torch.multinomial(torch.ones(9), 20, replacement=True)],
    "bernoulli": lambda: [torch.bernoulli(torch.rand(9))],
    "poisson": lambda: [torch.poisson(torch.rand(9) * 5)],
    "gamma": lambda: [torch.distributions.Gamma(torch.ones(5) * 2, torch.ones(5)).sample()],
    "out": lambda: [torch.rand(3, out=torch.empty(3)), torch.randn(20, out=torch.empty(0))],
    "linear": lambda: of(nn.Linear(3, 2), torch.ones(4, 3)),
    "embedding": lambda: of(nn.Embedding(13, 16), torch.tensor([3, 1])),
    "convolution": lambda: of(nn.Conv1d(3, 2, 3)),
    "truncated": lambda: [nn.init.trunc_normal_(torch.empty(20))],
    "orthogonal": lambda: [nn.init.orthogonal_(torch.empty(5, 5))],
    "dropout": lambda: [F.dropout(torch.ones(7, 5), 0.3)],
    "dropout of all": lambda: [F.dropout(torch.ones(7), 1.0)],
    "dropout of none": lambda: [F.dropout(torch.ones(7), 0.0)],
    "dropout, native": lambda: [torch.native_dropout(torch.ones(7, 5), 0.3, True)[0]],  # noqa: FBT003
    "dropout, not in training": lambda: [F.dropout(torch.ones(7), 0.3, training=False)],
    "dropout of features": lambda: [F.dropout1d(torch.ones(7, 5, 3), 0.3)],
    "alpha dropout": lambda: [F.alpha_dropout(torch.ones(7, 5), 0.3, training=True)],
    "leaky": lambda: [F.rrelu(-torch.ones(9), training=True)],
    "gumbel": lambda: [F.gumbel_softmax(torch.ones(3, 5))],
    "attention": attend,
    "attention with dropout": lambda: attend(dropout_p=0.3),
    "heads with dropout": lambda: of(nn.MultiheadAttention(6, 2, 0.3), *torch.rand(3, 5, 6)),
    "layer with dropout": lambda: of(nn.TransformerEncoderLayer(6, 2, 11), torch.rand(5, 6)),
    "recurrent with dropout": lambda: of(nn.RNN(3, 5, 2, dropout=0.3), torch.rand(4, 3)),
    "shuffle": shuffled,
    "in order": in_order,
    "layouts": reused_layout,
    "the book's class": lambda: of(SelfAttention_v2(3, 2), six_tokens().inputs),
}


@pytest.mark.parametrize("name", AS_PAGES_WRITE)
def test_code_as_pages_write_it_draws_the_cpu_s_numbers(name: str, standin: dict[str, Any]) -> None:
    # Without dropout, the CPU has kernels of its own for these, which add in another order.
    exactly = name not in {"attention", "layer with dropout", "recurrent with dropout"}
    assert_same_draws(lambda _: AS_PAGES_WRITE[name](), standin, exactly=exactly)


def test_documented_weights(standin: dict[str, Any]) -> None:
    with reproducible("standin"):
        torch.manual_seed(123)
        W_query = nn.Parameter(torch.rand(3, 2), requires_grad=False)
        torch.manual_seed(789)
        context_vecs = SelfAttention_v2(3, 2)(six_tokens().inputs)
    assert str(W_query[0].cpu()) == "tensor([0.2961, 0.5166])"
    assert str(context_vecs[0].detach().cpu()) == "tensor([-0.0739,  0.0713])"
    assert "device='standin:0'" in str(W_query)


# What is asked for by name is respected


def test_a_generator_of_the_cpu_is_used(standin: dict[str, Any]) -> None:
    wanted = torch.rand(3, generator=torch.Generator().manual_seed(5))
    before = torch.get_rng_state()
    with reproducible("standin"):
        drawn = torch.rand(3, generator=torch.Generator().manual_seed(5))
    assert drawn.device.type == "standin"
    assert torch.equal(drawn.cpu(), wanted)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_device_that_is_named_is_used(standin: dict[str, Any]) -> None:
    torch.manual_seed(123)
    wanted = torch.rand(3)
    with reproducible("standin"):
        torch.manual_seed(123)
        drawn = torch.rand(3, device="cpu")
        assert drawn.device.type == "cpu"
        assert torch.equal(drawn, wanted)
        assert torch.rand(3, device="meta").device.type == "meta"
        assert torch.nn.init.uniform_(torch.empty(3, device="cpu")).device.type == "cpu"


def test_meta_tensors_draw_nothing(standin: dict[str, Any]) -> None:
    with reproducible("standin"):
        before = torch.get_rng_state()
        nn.Linear(3, 2, device="meta")
        assert torch.equal(torch.get_rng_state(), before)


def test_a_generator_of_another_kind_draws_its_own_numbers() -> None:
    class Elsewhere:
        device = torch.device("cuda")

    from selfattn._draws import _has_own_generator  # noqa: PLC0415

    assert _has_own_generator({"generator": Elsewhere()})
    assert not _has_own_generator({"generator": torch.Generator()})
    assert not _has_own_generator({"generator": None})


# The meta device: none of what layers draw is missed


class Seen(CpuDraws):
    """Keeps which random operations came by."""

    def __init__(self) -> None:
        super().__init__(meta=True)
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if SEEDED in func.tags:
            self.names.append(func._schema.name.removeprefix("aten::"))
        return super().__torch_dispatch__(func, types, args, kwargs)


@pytest.mark.parametrize(
    ("draw", "names"),
    [
        (lambda: torch.rand(3), ["rand"]),
        (lambda: torch.randn(3), ["randn"]),
        (lambda: torch.randint(9, (3,)), ["randint"]),
        (lambda: torch.randperm(3), ["randperm"]),
        (lambda: torch.rand_like(torch.empty(3)), ["rand_like"]),
        (lambda: nn.Linear(3, 2), ["uniform_", "uniform_"]),
        (lambda: nn.Embedding(3, 2), ["normal_"]),
        (lambda: F.dropout(torch.ones(3)), ["bernoulli_"]),
        (lambda: torch.native_dropout(torch.ones(3), 0.5, train=True), ["native_dropout"]),
        (
            lambda: F.scaled_dot_product_attention(ONES, ONES, ONES, dropout_p=0.3),
            ["bernoulli_"],
        ),
    ],
)
def test_nothing_is_missed_on_meta(draw: Callable[[], Any], names: list[str]) -> None:
    torch.manual_seed(123)
    draw()
    after = torch.get_rng_state()
    torch.manual_seed(123)
    with Seen() as seen, torch.device("meta"):
        draw()
    assert seen.names == names
    assert torch.equal(torch.get_rng_state(), after)


@pytest.mark.parametrize("draw", [torch.bernoulli, lambda x: torch.multinomial(x, 1)])
def test_draws_from_numbers_that_meta_does_not_hold(draw: Callable[[Tensor], Any]) -> None:
    with Seen() as seen, pytest.raises(NotImplementedError, match="meta"):
        draw(torch.ones(3, device="meta"))
    assert len(seen.names) == 1


def test_tensors_that_only_stand_for_others_are_left_alone() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415

    before = torch.get_rng_state()
    with FakeTensorMode() as mode:
        fake = torch.empty(3)
    with CpuDraws(meta=True), mode:
        fake.uniform_()
    assert torch.equal(torch.get_rng_state(), before)


# What can't be led to the CPU is refused


def shape_of(spec: Any) -> Any:
    """Return any value of an argument's type."""
    kind = str(spec.type)
    if kind == "Tensor":
        return torch.ones(2, 2, device="meta")
    for sign, value in (("List", []), ("bool", True), ("float", 0.5), ("Optional", None)):
        if sign in kind:
            return value
    return 1


@pytest.mark.parametrize(
    "operator", [o for o in TAGGED if treatment(o) is Treatment.REFUSE], ids=str
)
def test_kernels_that_draw_by_themselves_are_refused(
    operator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Call, "run", lambda _: "it ran")
    args = [shape_of(a) for a in operator._schema.arguments if not a.kwarg_only]
    kwargs = {
        a.name: shape_of(a)
        for a in operator._schema.arguments
        if a.kwarg_only and not a.has_default_value()
    }
    mode = CpuDraws(meta=True)
    places = [a.name for a in operator._schema.arguments if a.name == "device"]
    kwargs |= dict.fromkeys(places, torch.device("meta"))
    with pytest.raises(UnreproducibleError, match=r"kernel of its own; use .*nn\.Dropout"):
        mode.__torch_dispatch__(operator, (), args, kwargs)
    names = [a.name for a in operator._schema.arguments if not a.kwarg_only]
    if "dropout_p" in names or "dropout" in names:  # without dropout they draw nothing
        at = names.index("dropout_p" if "dropout_p" in names else "dropout")
        args[at] = 0.0
        assert mode.__torch_dispatch__(operator, (), args, kwargs) == "it ran"


def test_attention_with_dropout_is_sent_to_the_equation() -> None:
    x = torch.ones(1, 1, 3, 5, device="meta")
    choice = torch.ops.aten._fused_sdp_choice.default
    mode = CpuDraws(meta=True)
    assert mode.__torch_dispatch__(choice, (), (x, x, x, None, 0.3), {}) == 0
    assert isinstance(mode.__torch_dispatch__(choice, (), (x, x, x), {}), int)


def test_a_tensor_subclass_is_refused() -> None:
    class Wrapped(Tensor):
        pass

    x = torch.ones(3, device="meta")
    with pytest.raises(UnreproducibleError, match="Wrapped is no plain tensor"):
        CpuDraws(meta=True).__torch_dispatch__(torch.ops.aten.uniform_.default, (Wrapped,), (x,))


# Compiled functions


@pytest.mark.slow
def test_compiled_functions_run_as_they_were_written(standin: dict[str, Any]) -> None:
    run = """
import runpy, sys, torch
names = runpy.run_path(sys.argv[1]); names["register"]()
from selfattn.devices import reproducible
def draw(x):
    ran.append(torch.compiler.is_compiling())
    return x + torch.rand(3, device=x.device)
ran = []
compiled = torch.compile(draw, backend="eager")
torch.manual_seed(123); wanted = draw(torch.zeros(3))
first = compiled(torch.zeros(3, device="standin"))
with reproducible("standin"):
    torch.manual_seed(123); drawn = compiled(torch.zeros(3))
    fresh = torch.compile(lambda x: x + torch.rand(3), backend="eager")
    torch.manual_seed(123); other = fresh(torch.zeros(3))
assert torch.equal(drawn.cpu(), wanted) and torch.equal(other.cpu(), wanted), (drawn, wanted)
assert not torch.equal(first.cpu(), wanted)
from torch._dynamo.eval_frame import _stance
assert _stance.stance == "default", _stance
"""
    done = subprocess.run(
        [sys.executable, "-c", run, str(STANDIN)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# Everything is as before afterwards


def settings() -> dict[str, object]:
    """Return all that the context may change."""
    backends = torch.backends
    return {
        "default device": torch.get_default_device(),
        "products": torch.get_float32_matmul_precision(),
        "products on cuda": backends.cuda.matmul.allow_tf32,
        "fp16 sums": backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
        "bf16 sums": backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
        "convolutions": backends.cudnn.allow_tf32,
        "cudnn": (backends.cudnn.deterministic, backends.cudnn.benchmark),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "only warns": torch.is_deterministic_algorithms_warn_only_enabled(),
        "attention": (
            backends.cuda.flash_sdp_enabled(),
            backends.cuda.mem_efficient_sdp_enabled(),
            backends.cuda.math_sdp_enabled(),
            backends.cuda.cudnn_sdp_enabled(),
        ),
        "cuBLAS": os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
        "modes": torch._C._len_torch_dispatch_stack(),
        "function modes": torch._C._len_torch_function_stack(),
    }


def test_settings_inside(standin: dict[str, Any]) -> None:
    with reproducible("standin"):
        inside = settings()
    assert inside == {
        "default device": torch.device("standin:0"),
        "products": "highest",
        "products on cuda": False,
        "fp16 sums": False,
        "bf16 sums": False,
        "convolutions": False,
        "cudnn": (True, False),
        "deterministic": True,
        "only warns": False,
        "attention": (False, False, True, False),
        "cuBLAS": ":4096:8",
        "modes": 1,
        "function modes": 1,
    }


@pytest.fixture
def other_settings() -> Iterator[None]:
    """Let a reader have set things otherwise before."""
    torch.set_float32_matmul_precision("high")
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.enable_math_sdp(enabled=False)
    yield
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(mode=False)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.enable_math_sdp(enabled=True)


@pytest.mark.parametrize("device", ["cpu", "standin"])
def test_settings_afterwards(
    device: str, standin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings()
    with reproducible(device):
        assert settings() != before
    assert settings() == before
    with pytest.raises(ZeroDivisionError), reproducible(device):
        _ = 1 / 0
    assert settings() == before
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with reproducible(device):
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


@pytest.mark.usefixtures("other_settings")
def test_settings_of_the_reader_come_back(standin: dict[str, Any]) -> None:
    before = settings()
    with reproducible("standin"):
        assert settings()["products"] == "highest"
    assert settings() == before
    with pytest.raises(ZeroDivisionError), reproducible("standin"):
        _ = 1 / 0
    assert settings() == before


def test_settings_by_newer_names_come_back(standin: dict[str, Any]) -> None:
    cudnn: Any = torch.backends.cudnn
    products, convolutions = torch.backends.cuda.matmul, cudnn.conv
    if not hasattr(products, "fp32_precision"):
        pytest.skip("this PyTorch has no fp32_precision")
    before = products.fp32_precision, convolutions.fp32_precision
    try:
        products.fp32_precision = "tf32"
        convolutions.fp32_precision = "ieee"
        with reproducible("standin"):
            assert products.fp32_precision == "ieee"
            assert convolutions.fp32_precision == "ieee"
            assert cudnn.rnn.fp32_precision == "ieee"
        assert (products.fp32_precision, convolutions.fp32_precision) == ("tf32", "ieee")
        assert cudnn.rnn.fp32_precision == "tf32"
    finally:
        products.fp32_precision, convolutions.fp32_precision = before


def test_a_failure_while_entering_leaves_nothing_behind(
    standin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings()

    def fail(*_: object) -> None:
        raise OSError("switch jammed")

    monkeypatch.setattr(CpuDraws, "__enter__", fail)
    with pytest.raises(OSError, match="jammed"), reproducible("standin"):
        pass
    assert settings() == before


def test_nested_and_entered_again(standin: dict[str, Any]) -> None:
    before = settings()
    torch.manual_seed(123)
    wanted = torch.rand(4)
    context = reproducible("standin")
    for _ in range(2):
        torch.manual_seed(123)
        with context:
            drawn = [torch.rand(2).cpu()]
            with context, reproducible("standin"):
                drawn.append(torch.rand(1).cpu())
            with reproducible("cpu"):
                assert torch.ones(1).device.type == "cpu"
                drawn.append(torch.rand(1))
            assert torch.ones(1).device.type == "standin"
        assert settings() == before
        assert drawn[0].tolist() == wanted[:2].tolist()
        assert torch.cat(drawn[1:]).tolist() == wanted[2:].tolist()


def test_as_a_decorator(standin: dict[str, Any]) -> None:
    @reproducible("standin")
    def where() -> str:
        return torch.rand(1).device.type

    assert (where(), where()) == ("standin", "standin")
    assert torch.ones(1).device.type == "cpu"


def test_for_a_whole_notebook(standin: dict[str, Any]) -> None:
    before = settings()
    assert devices.start("standin") == torch.device("standin:0")
    try:
        assert torch.ones(1).device.type == "standin"
        devices.start("standin")  # the cell is run again
        assert torch._C._len_torch_dispatch_stack() == 1
        with pytest.raises(MissingDeviceError):
            devices.start("standin:7")
        assert torch._C._len_torch_dispatch_stack() == 1
    finally:
        devices.stop()
    assert settings() == before
    devices.stop()
    assert settings() == before


def test_on_the_cpu_no_mode_stands_between() -> None:
    with reproducible("cpu"):
        assert torch._C._len_torch_dispatch_stack() == 0


# Which devices there are


def test_the_cpu_is_always_available() -> None:
    found = find()
    assert found[-1].place == "cpu"
    assert not found[-1].fault
    assert found[-1].capability == torch.backends.cpu.get_cpu_capability()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("standin:3", r"there is 1, counted from 0"),
        ("cuda", r"built without CUDA|finds no device"),
        ("mps", r"built without MPS|finds no device"),
    ],
)
def test_a_device_that_is_not_there(name: str, reason: str, standin: dict[str, Any]) -> None:
    if choose().place.partition(":")[0] == name:
        pytest.skip("it is there")
    with pytest.raises(
        MissingDeviceError, match=rf"no device '{name}': .*({reason}).* Found: .*cpu"
    ):
        reproducible(name)


@pytest.mark.parametrize("name", ["gpu", "", "cuda:x", "meta"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(ValueError, match="take cpu, cuda, cuda:1, mps or auto"):
        choose(name)


def test_a_device_that_computes_wrongly_is_not_chosen(
    standin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tensor, "item", lambda _: 5.0)
    with pytest.raises(MissingDeviceError, match=r"1 \+ 2 \+ 3 is 5"):
        choose("standin")


def test_a_device_that_fails_is_not_chosen(
    standin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no kernel image is available\nfor this device")

    monkeypatch.setattr(Tensor, "sum", fail)
    with pytest.raises(
        MissingDeviceError, match=r"'standin': no kernel image is available\. Found"
    ):
        choose("standin")


def test_auto_takes_the_first_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    lame, sound = Device("cuda:0", "Old", fault="too old"), Device("cuda:1", "New")
    monkeypatch.setattr(devices, "find", lambda: [lame, sound, Device("cpu")])
    assert choose() is sound
    assert str(lame) == "cuda:0 (Old): does not work: too old"
    monkeypatch.setattr(devices, "find", lambda: [lame, Device("cpu")])
    assert choose("auto").place == "cpu"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert devices.main(["cpu", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found.pop("description") == str(choose("cpu"))
    assert Device(**found) == choose("cpu")
    assert devices.main([]) == 0
    assert re.search(r"^cpu \(.+\)$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.usefixtures("standin")
def test_the_command_says_which_devices_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert devices.main(["standin:9"]) == 2
    assert "Found: " in capsys.readouterr().err
    assert devices.main(["nonsense"]) == 2
    assert "no kind of device" in capsys.readouterr().err


def test_it_is_there_after_importing_the_package() -> None:
    run = (
        "import selfattn, sys\n"
        "assert 'torch' not in sys.modules\n"
        "with selfattn.devices.reproducible('cpu') as device: print(device)\n"
    )
    done = subprocess.run([sys.executable, "-c", run], check=True, capture_output=True, text=True)
    assert done.stdout == "cpu\n"


# On a GPU


NO_GPU = "no GPU with CUDA here" if not torch.cuda.is_available() else ""


@pytest.mark.gpu
@pytest.mark.skipif(bool(NO_GPU), reason=NO_GPU)
@pytest.mark.parametrize("operator", DRAWN, ids=str)
def test_each_drawing_operation_on_a_gpu(operator: Any) -> None:
    torch.manual_seed(123)
    wanted = call(operator, "cpu")
    after = torch.get_rng_state()
    with reproducible("cuda"):
        torch.manual_seed(123)
        drawn = call(operator, "cuda")
    assert torch.equal(torch.get_rng_state(), after)
    for one, other in zip(wanted, drawn, strict=True):
        assert other.device.type == "cuda"
        assert torch.equal(other.cpu(), one)


@pytest.mark.gpu
@pytest.mark.skipif(bool(NO_GPU), reason=NO_GPU)
@pytest.mark.parametrize("name", AS_PAGES_WRITE)
def test_code_as_pages_write_it_on_a_gpu(name: str) -> None:
    torch.manual_seed(123)
    wanted = AS_PAGES_WRITE[name]()
    after = torch.get_rng_state()
    with reproducible("cuda"):
        torch.manual_seed(123)
        if name == "recurrent with dropout":
            with pytest.raises(UnreproducibleError, match=r"nn\.Dropout between them"):
                AS_PAGES_WRITE[name]()
            return
        drawn = AS_PAGES_WRITE[name]()
    assert torch.equal(torch.get_rng_state(), after)
    for one, other in zip(wanted, drawn, strict=True):
        torch.testing.assert_close(other.detach().cpu(), one.detach())


@pytest.mark.gpu
@pytest.mark.skipif(bool(NO_GPU), reason=NO_GPU)
def test_full_precision_on_a_gpu() -> None:
    a, b = torch.rand(2, 512, 512, generator=torch.Generator().manual_seed(123))
    exact = a.double() @ b.double()
    torch.set_float32_matmul_precision("high")
    try:
        with reproducible("cuda") as device:
            product = (a.to(device) @ b.to(device)).cpu()
        coarse = (a.to(device) @ b.to(device)).cpu()
    finally:
        torch.set_float32_matmul_precision("highest")
    torch.testing.assert_close(product.double(), exact, rtol=1e-5, atol=0)
    if torch.cuda.get_device_capability() >= (8, 0):  # those have TF32
        with pytest.raises(AssertionError):
            torch.testing.assert_close(coarse.double(), exact, rtol=1e-5, atol=0)
