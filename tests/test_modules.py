"""The two modules: the documented values, PyTorch's tools around them, and their errors."""

import ast
import copy
import inspect
import io
import pickle
import re
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention

from selfattn import SelfAttention_v1, SelfAttention_v2, copy_weights, self_attention
from selfattn.examples import six_tokens

BATCH, T, D_IN, D_OUT = 2, 5, 7, 11  # distinct primes: no two axes can be exchanged
KINDS = [SelfAttention_v1, SelfAttention_v2]
Module = SelfAttention_v1 | SelfAttention_v2
Kind = TypeVar("Kind", bound=nn.Module)
PYTHON_H = Path(sysconfig.get_path("include"), "Python.h")

V1_PRINTED = """\
tensor([[0.2996, 0.8053],
        [0.3061, 0.8210],
        [0.3058, 0.8203],
        [0.2948, 0.7939],
        [0.2927, 0.7891],
        [0.2990, 0.8040]], grad_fn=<MmBackward0>)"""

V2_PRINTED = """\
tensor([[-0.0739,  0.0713],
        [-0.0748,  0.0703],
        [-0.0749,  0.0702],
        [-0.0760,  0.0685],
        [-0.0763,  0.0679],
        [-0.0754,  0.0693]], grad_fn=<MmBackward0>)"""


def build(
    kind: Callable[[int, int], Kind], seed: int = 123, d_in: int = D_IN, d_out: int = D_OUT
) -> Kind:
    torch.manual_seed(seed)
    return kind(d_in, d_out).double()


def draw(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def matrices(module: Any) -> list[Tensor]:
    """Return the three weight matrices as (d_in, d_out)."""
    weights = (module.W_query, module.W_key, module.W_value)
    return [w if isinstance(w, Tensor) else w.weight.transpose(-2, -1) for w in weights]


def listing(kind: type[Module]) -> str:
    """Return a class's source as the page prints it: without its docstring."""
    source = inspect.getsource(kind)
    docstring = ast.parse(source).body[0].body[0]  # type: ignore[attr-defined]
    lines = source.splitlines(keepends=True)
    return "".join(lines[: docstring.lineno - 1] + lines[docstring.end_lineno + 1 :])


# The documented values


def test_documented_values_of_v1() -> None:
    torch.manual_seed(123)
    assert str(SelfAttention_v1(3, 2)(six_tokens().inputs)) == V1_PRINTED


def test_documented_values_of_v2() -> None:
    torch.manual_seed(789)
    assert str(SelfAttention_v2(3, 2)(six_tokens().inputs)) == V2_PRINTED


@pytest.mark.parametrize(
    ("kind", "seed", "printed"),
    [(SelfAttention_v1, 123, V1_PRINTED), (SelfAttention_v2, 789, V2_PRINTED)],
)
def test_a_listing_stands_alone(kind: type[Module], seed: int, printed: str) -> None:
    """What a reader copies from the page runs with torch alone and gives the same values."""
    namespace: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(listing(kind), namespace)  # noqa: S102 - the text is this package's own source
    torch.manual_seed(seed)
    pasted = namespace[kind.__name__](3, 2)
    assert str(pasted(six_tokens().inputs)) == printed


@pytest.mark.parametrize("kind", KINDS)
def test_a_listing_has_no_clutter(kind: type[Module]) -> None:
    lines = listing(kind).splitlines()
    assert len(lines) == 15
    assert max(map(len, lines)) <= 84
    assert not re.search(r"noqa|check|raise|\.T\b|\"\"\"", listing(kind))


# Independent oracles


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_agrees_with_pytorch_and_the_functions(kind: type[Module], batch: tuple[int, ...]) -> None:
    module, x = build(kind), draw(*batch, T, D_IN)
    W_query, W_key, W_value = matrices(module)
    context_vecs = module(x)
    assert context_vecs.shape == (*batch, T, D_OUT)
    expected = scaled_dot_product_attention(x @ W_query, x @ W_key, x @ W_value)
    torch.testing.assert_close(context_vecs, expected)
    torch.testing.assert_close(context_vecs, self_attention(x, W_query, W_key, W_value))


def test_biases_are_added() -> None:
    torch.manual_seed(123)
    module, x = SelfAttention_v2(D_IN, D_OUT, qkv_bias=True).double(), draw(BATCH, T, D_IN)
    queries, keys, values = (
        linear(x, layer.weight, layer.bias)
        for layer in (module.W_query, module.W_key, module.W_value)
    )
    assert len(list(module.parameters())) == 6
    expected = scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(module(x), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_permuting_tokens_permutes_context_vectors(kind: type[Module]) -> None:
    module, x = build(kind), draw(BATCH, T, D_IN)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(module(x[:, order]), module(x)[:, order])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind: type[Module]) -> None:
    module, x = build(kind, d_in=3, d_out=5), draw(2, 3).requires_grad_()

    def call(x: Tensor, *parameters: Tensor) -> Any:
        names = [name for name, _ in module.named_parameters()]
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x,))

    assert torch.autograd.gradcheck(call, (x, *module.parameters()))


@pytest.mark.parametrize("kind", KINDS)
def test_nan_goes_through(kind: type[Module]) -> None:
    x = draw(BATCH, T, D_IN)
    x[0, 1, 2] = torch.nan
    context_vecs = build(kind)(x)
    assert context_vecs[0].isnan().all()  # its key and value reach every token of its sequence
    assert context_vecs[1].isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_autocast_mixes_dtypes(kind: type[Module]) -> None:
    module, x = build(kind).float(), draw(T, D_IN)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert module(x.float()).dtype == torch.bfloat16
        assert module(x.bfloat16()).dtype == torch.bfloat16


# PyTorch's tools


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strict", [False, True])
def test_export(kind: type[Module], *, strict: bool) -> None:
    module = build(kind)
    batch, tokens = torch.export.Dim("batch"), torch.export.Dim("tokens")
    dynamic = {"x": {0: batch, 1: tokens}}
    example = (draw(BATCH, T, D_IN),)
    exported = torch.export.export(module, example, dynamic_shapes=dynamic, strict=strict)
    x = draw(3, 13, D_IN)
    torch.testing.assert_close(exported.module()(x), module(x))


@pytest.mark.parametrize("kind", KINDS)
def test_compile_in_one_graph(kind: type[Module]) -> None:
    module, x = build(kind), draw(BATCH, T, D_IN)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_errors_are_the_same(kind: type[Module]) -> None:
    compiled = torch.compile(build(kind), backend="eager")
    with pytest.raises(ValueError, match=re.escape("shape (..., T, d_in=7), got (6, 4); give")):
        compiled(draw(6, 4))


@pytest.mark.slow
@pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))) or not PYTHON_H.exists(),
    reason="needs a C++ compiler and Python's headers",
)
# PyTorch itself warns of its own past when it loads its compiler.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_compile_to_machine_code() -> None:
    module, x = build(SelfAttention_v2), draw(BATCH, T, D_IN)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(module, fullgraph=True)(x), module(x))


@pytest.mark.parametrize("kind", KINDS)
def test_state_dict_round_trip(kind: type[Module]) -> None:
    module, other, x = build(kind), build(kind, seed=789), draw(T, D_IN)
    assert not torch.equal(other(x), module(x))
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(x), module(x))


def test_state_dict_names() -> None:
    names = ["W_query", "W_key", "W_value"]
    assert list(SelfAttention_v1(3, 2).state_dict()) == names
    assert list(SelfAttention_v2(3, 2).state_dict()) == [f"{name}.weight" for name in names]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301 - our own bytes
def test_copies(kind: type[Module], duplicate: Callable[[nn.Module], nn.Module]) -> None:
    module, x = build(kind), draw(T, D_IN)
    twin = duplicate(module)
    assert torch.equal(twin(x), module(x))
    with torch.no_grad():
        next(twin.parameters()).zero_()
    assert not torch.equal(twin(x), module(x))
    with pytest.raises(ValueError, match="x must have shape"):
        twin(x[0])


def test_a_replaced_layer_judges_its_own_input() -> None:
    module = build(SelfAttention_v2)
    module.W_query = nn.Sequential(module.W_query)  # type: ignore[assignment]
    x = draw(T, D_IN)
    torch.testing.assert_close(module(x), build(SelfAttention_v2)(x))


def test_a_subclass_may_take_other_arguments() -> None:
    class Square(SelfAttention_v2):
        def __init__(self, d: int) -> None:
            super().__init__(d, d_out=d, qkv_bias=True)

    assert Square(3)(torch.rand(T, 3)).shape == (T, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_signatures_are_the_listings(kind: type[Module]) -> None:
    expected = {
        SelfAttention_v1: "(d_in: int, d_out: int) -> None",
        SelfAttention_v2: "(d_in: int, d_out: int, qkv_bias: bool = False) -> None",
    }
    assert str(inspect.signature(kind)) == expected[kind]
    assert str(inspect.signature(kind.forward)) == "(self, x: torch.Tensor) -> torch.Tensor"


# Exercise 3.1


def test_copied_weights_give_equal_outputs() -> None:
    source, target, x = build(SelfAttention_v2), build(SelfAttention_v1), draw(BATCH, T, D_IN)
    copy_weights(source, target)
    torch.testing.assert_close(target(x), source(x))


def test_copied_weights_give_the_documented_outputs_in_single_precision() -> None:
    torch.manual_seed(789)
    source, target, inputs = SelfAttention_v2(3, 2), SelfAttention_v1(3, 2), six_tokens().inputs
    copy_weights(source, target)
    assert str(source(inputs)) == V2_PRINTED
    torch.testing.assert_close(target(inputs), source(inputs))  # equal but for rounding


def test_copied_weights_are_parameters_of_their_own() -> None:
    source, target = build(SelfAttention_v2), build(SelfAttention_v1)
    parameters = list(target.parameters())
    copy_weights(source, target)
    for before, after, layer in zip(
        parameters, target.parameters(), source.children(), strict=True
    ):
        assert after is before
        assert after.requires_grad
        assert after.is_leaf
        assert after.grad_fn is None
        assert isinstance(layer, nn.Linear)
        assert after.untyped_storage().data_ptr() != layer.weight.untyped_storage().data_ptr()


def v2(d_in: int = D_IN, d_out: int = D_OUT, *, qkv_bias: bool = False) -> SelfAttention_v2:
    return SelfAttention_v2(d_in, d_out, qkv_bias)


def with_one_bias() -> SelfAttention_v2:
    source = v2()
    source.W_value = nn.Linear(D_IN, D_OUT)
    return source


REFUSED = {
    "biases": (
        lambda: v2(qkv_bias=True),
        ValueError,
        (
            "source must have no biases, got one in W_query; "
            "a SelfAttention_v1 has no place for it, "
            "so build the source with qkv_bias=False"
        ),
    ),
    "one bias, in the last layer": (
        with_one_bias,
        ValueError,
        (
            "source must have no biases, got one in W_value; "
            "a SelfAttention_v1 has no place for it, "
            "so build the source with qkv_bias=False"
        ),
    ),
    "another d_in": (
        lambda: v2(d_in=3),
        ValueError,
        (
            "target.W_query must have shape (d_in=3, d_out=11), got (7, 11); "
            "build the target as SelfAttention_v1(3, 11)"
        ),
    ),
    "exchanged sizes": (
        lambda: v2(d_in=D_OUT, d_out=D_IN),
        ValueError,
        (
            "target.W_query must have shape (d_in=11, d_out=7), got (7, 11); "
            "build the target as SelfAttention_v1(11, 7)"
        ),
    ),
    "another dtype": (
        lambda: v2().double(),
        TypeError,
        (
            "source.W_query.weight and target.W_query must have one dtype, got torch.float64 and "
            "torch.float32; convert one of them, for example with "
            "source.W_query.weight.to(torch.float32)"
        ),
    ),
    "another device": (
        lambda: v2().to("meta"),
        ValueError,
        (
            "source.W_query.weight and target.W_query must be on one device, got meta and cpu; "
            "move one of them with .to(device)"
        ),
    ),
    "a v1": (
        lambda: SelfAttention_v1(D_IN, D_OUT),
        TypeError,
        (
            "source must be a SelfAttention_v2, got SelfAttention_v1; "
            "call copy_weights(v2, v1), which copies from the v2 to the v1"
        ),
    ),
}


@pytest.mark.parametrize(("make_source", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_copy_writes_nothing(
    make_source: Callable[[], Any], error: type[Exception], message: str
) -> None:
    source, target = make_source(), SelfAttention_v1(D_IN, D_OUT)
    before = copy.deepcopy(target.state_dict())
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        copy_weights(source, target)
    assert all(torch.equal(before[name], matrix) for name, matrix in target.state_dict().items())


def test_a_copy_into_a_v2_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"^target must be a SelfAttention_v1, got SelfAttention_v2"
    ):
        copy_weights(v2(), v2())  # type: ignore[arg-type]


# Errors of the modules: what was expected, what came, what to do


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ((0, 2), ValueError, "d_in must be at least 1, got 0; pass the number of features"),
        ((3, -1), ValueError, "d_out must be at least 1, got -1; pass the number of features"),
        (
            (3, 2.5),
            TypeError,
            "d_out must be an int, got 2.5 of type float; pass the number of features",
        ),
        (
            ("3", 2),
            TypeError,
            "d_in must be an int, got '3' of type str; pass the number of features",
        ),
        (
            (True, 2),
            TypeError,
            "d_in must be an int, got True of type bool; pass the number of features",
        ),
        ((3,), TypeError, "missing a required argument: 'd_out'"),
    ],
    ids=str,
)
def test_bad_sizes(
    kind: type[Module], sizes: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        kind(*sizes)


def test_a_bias_is_asked_for_by_a_bool() -> None:
    message = "qkv_bias must be True or False, got 4 of type int; pass one of the two"
    with pytest.raises(TypeError, match=f"^{message}$"):
        SelfAttention_v2(3, 2, 4)  # type: ignore[arg-type]


BAD_INPUTS = {
    "a list": (
        lambda: [[1.0] * D_IN],
        TypeError,
        "x must be a torch.Tensor, got list; make one, for example with torch.tensor(...)",
    ),
    "integers": (
        lambda: torch.ones(T, D_IN, dtype=torch.int64),
        TypeError,
        (
            "x must be a floating-point tensor, got torch.int64; "
            "embed token ids first, or convert numbers with x.float()"
        ),
    ),
    "one dimension": (
        lambda: draw(D_IN),
        ValueError,
        (
            "x must have shape (..., T, d_in=7), got (7,); "
            "give a single vector a row of its own with x.unsqueeze(0)"
        ),
    ),
    "no tokens": (
        lambda: draw(BATCH, 0, D_IN),
        ValueError,
        (
            "x must have shape (..., T, d_in=7) with no dimension of 0 among the last two, "
            "got (2, 0, 7); pass at least one token with at least one feature"
        ),
    ),
    "another width": (
        lambda: draw(6, 4),
        ValueError,
        (
            "x must have shape (..., T, d_in=7), got (6, 4); "
            "give each token 7 features, or use weights for d_in=4"
        ),
    ),
    "another device": (
        lambda: draw(T, D_IN).to("meta"),
        ValueError,
        "x and W_query must be on one device, got meta and cpu; move one of them with .to(device)",
    ),
    "another dtype": (
        lambda: draw(T, D_IN).float(),
        TypeError,
        (
            "x and W_query must have one dtype, got torch.float32 and torch.float64; "
            "convert one of them, for example with x.to(torch.float64)"
        ),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("make_x", "error", "message"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input(
    kind: type[Module], make_x: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        build(kind)(make_x())
