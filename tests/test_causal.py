"""The causal modules: documented values, PyTorch's own attention as oracle, and their errors."""

import copy
import inspect
import io
import re
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_modules import draw, listing
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from selfattn import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v2,
    attention_scores,
    attention_weights,
    context_vectors,
    join_heads,
    self_attention,
    split_heads,
)
from selfattn.examples import six_tokens

# Distinct primes: no two axes can be exchanged. D_OUT is that of one head.
BATCH, T, D_IN, D_OUT, HEADS, CONTEXT = 2, 5, 7, 11, 3, 13
PYTHON_H = Path(sysconfig.get_path("include"), "Python.h")
Build = Callable[..., Any]


def causal(dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123) -> CausalAttention:
    torch.manual_seed(seed)
    return CausalAttention(D_IN, D_OUT, CONTEXT, dropout, qkv_bias).double()


def stacked(
    dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123
) -> MultiHeadAttentionWrapper:
    torch.manual_seed(seed)
    return MultiHeadAttentionWrapper(D_IN, D_OUT, CONTEXT, dropout, HEADS, qkv_bias).double()


def split(dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123) -> MultiHeadAttention:
    torch.manual_seed(seed)
    width = HEADS * D_OUT
    return MultiHeadAttention(D_IN, width, CONTEXT, dropout, HEADS, qkv_bias).double()


BUILDS: list[Build] = [causal, stacked, split]
for_each = pytest.mark.parametrize("build", BUILDS)
AHEAD = torch.ones(T, T).triu(diagonal=1).bool()


def weights_of(module: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three weight matrices as (d_in, d_out)."""
    W_query, W_key, W_value = (
        layer.weight.transpose(-2, -1) for layer in (module.W_query, module.W_key, module.W_value)
    )
    return W_query, W_key, W_value


# The documented values


CAUSAL_PRINTED = """\
tensor([[[-0.4519,  0.2216],
         [-0.5874,  0.0058],
         [-0.6300, -0.0632],
         [-0.5675, -0.0843],
         [-0.5526, -0.0981],
         [-0.5299, -0.1081]],

        [[-0.4519,  0.2216],
         [-0.5874,  0.0058],
         [-0.6300, -0.0632],
         [-0.5675, -0.0843],
         [-0.5526, -0.0981],
         [-0.5299, -0.1081]]], grad_fn=<UnsafeViewBackward0>)"""

STACKED_PRINTED = """\
tensor([[[-0.4519,  0.2216,  0.4772,  0.1063],
         [-0.5874,  0.0058,  0.5891,  0.3257],
         [-0.6300, -0.0632,  0.6202,  0.3860],
         [-0.5675, -0.0843,  0.5478,  0.3589],
         [-0.5526, -0.0981,  0.5321,  0.3428],
         [-0.5299, -0.1081,  0.5077,  0.3493]],

        [[-0.4519,  0.2216,  0.4772,  0.1063],
         [-0.5874,  0.0058,  0.5891,  0.3257],
         [-0.6300, -0.0632,  0.6202,  0.3860],
         [-0.5675, -0.0843,  0.5478,  0.3589],
         [-0.5526, -0.0981,  0.5321,  0.3428],
         [-0.5299, -0.1081,  0.5077,  0.3493]]], grad_fn=<CatBackward0>)"""

SPLIT_PRINTED = """\
tensor([[[0.3190, 0.4858],
         [0.2943, 0.3897],
         [0.2856, 0.3593],
         [0.2693, 0.3873],
         [0.2639, 0.3928],
         [0.2575, 0.4028]],

        [[0.3190, 0.4858],
         [0.2943, 0.3897],
         [0.2856, 0.3593],
         [0.2693, 0.3873],
         [0.2639, 0.3928],
         [0.2575, 0.4028]]], grad_fn=<ViewBackward0>)"""

PRINTED = [
    (CausalAttention, (3, 2, 6, 0.0), CAUSAL_PRINTED),
    (MultiHeadAttentionWrapper, (3, 2, 6, 0.0, 2), STACKED_PRINTED),
    (MultiHeadAttention, (3, 2, 6, 0.0, 2), SPLIT_PRINTED),
]


@pytest.mark.parametrize(("kind", "arguments", "printed"), PRINTED)
def test_documented_values(kind: Build, arguments: tuple[Any, ...], printed: str) -> None:
    inputs = six_tokens().inputs
    torch.manual_seed(123)
    assert str(kind(*arguments)(torch.stack((inputs, inputs)))) == printed


def test_documented_number_of_parameters() -> None:
    mha = MultiHeadAttention(768, 768, 1024, 0.0, 12)
    assert sum(parameter.numel() for parameter in mha.parameters()) == 2360064


@pytest.mark.parametrize(("kind", "arguments", "printed"), PRINTED)
def test_a_listing_stands_alone(kind: Any, arguments: tuple[Any, ...], printed: str) -> None:
    """What a reader copies from the page runs with torch alone and gives the same values."""
    namespace: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(listing(CausalAttention), namespace)  # type: ignore[arg-type]  # noqa: S102 - our own source
    exec(listing(kind), namespace)  # noqa: S102 - the same
    inputs = six_tokens().inputs
    torch.manual_seed(123)
    pasted = namespace[kind.__name__](*arguments)
    assert str(pasted(torch.stack((inputs, inputs)))) == printed


@pytest.mark.parametrize(("kind", "_arguments", "_printed"), PRINTED)
def test_a_listing_has_no_clutter(kind: Any, _arguments: object, _printed: str) -> None:
    lines = listing(kind).splitlines()
    assert len(lines) <= 47
    assert max(map(len, lines)) <= 84
    assert not re.search(r"noqa|check|raise|\.T\b|\"\"\"", listing(kind))


SIZES = "d_in: int, d_out: int, context_length: int"


@pytest.mark.parametrize(
    ("kind", "signature"),
    [
        (
            CausalAttention,
            f"({SIZES}, dropout: float, qkv_bias: bool = False) -> None",
        ),
        *(
            (
                kind,
                f"({SIZES}, dropout: float, num_heads: int, qkv_bias: bool = False) -> None",
            )
            for kind in (MultiHeadAttentionWrapper, MultiHeadAttention)
        ),
    ],
)
def test_signatures_are_the_listings(kind: type[nn.Module], signature: str) -> None:
    assert str(inspect.signature(kind)) == signature
    assert str(inspect.signature(kind.forward)) == "(self, x: torch.Tensor) -> torch.Tensor"


# Independent oracles


def attend_in_plain_loops(x: Tensor, weights: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """Compute causal attention token by token, each from its own past alone."""
    W_query, W_key, W_value = weights
    rows = []
    for last in range(x.shape[0]):
        past = x[: last + 1]
        scores = torch.stack([(x[last] @ W_query) @ (row @ W_key) for row in past])
        powers = torch.exp((scores - scores.max()) / W_key.shape[1] ** 0.5)
        rows.append(sum(p * (row @ W_value) for p, row in zip(powers, past, strict=True)))
        rows[-1] = rows[-1] / powers.sum()
    return torch.stack(rows)


def test_causal_attention_agrees_with_token_after_token() -> None:
    module, x = causal(), draw(T, D_IN)
    expected = attend_in_plain_loops(x, weights_of(module))
    torch.testing.assert_close(module(x), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_causal_attention_agrees_with_pytorch(batch: tuple[int, ...], *, qkv_bias: bool) -> None:
    module, x = causal(qkv_bias=qkv_bias), draw(*batch, T, D_IN)
    queries, keys, values = module.W_query(x), module.W_key(x), module.W_value(x)
    expected = scaled_dot_product_attention(queries, keys, values, is_causal=True)
    assert expected.shape == (*batch, T, D_OUT)
    torch.testing.assert_close(module(x), expected)


@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_the_functions_agree(batch: tuple[int, ...]) -> None:
    x = draw(*batch, T, D_IN)
    torch.testing.assert_close(causal()(x), self_attention(x, *weights_of(causal()), mask=AHEAD))
    module = split()
    queries, keys, values = (split_heads(x @ weight, HEADS) for weight in weights_of(module))
    assert queries.shape == (*batch, HEADS, T, D_OUT)
    attn_weights = attention_weights(attention_scores(queries, keys), D_OUT, AHEAD)
    assert attn_weights.shape == (*batch, HEADS, T, T)
    context_vecs = join_heads(context_vectors(attn_weights, values))
    torch.testing.assert_close(module(x), module.out_proj(context_vecs))


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_one_projection_is_the_stack(batch: tuple[int, ...], *, qkv_bias: bool) -> None:
    """Equal weights make equal numbers: the split class is the stack and an output projection."""
    stack, module, x = stacked(qkv_bias=qkv_bias), split(qkv_bias=qkv_bias), draw(*batch, T, D_IN)
    with torch.no_grad():
        for name in ("W_query", "W_key", "W_value"):
            heads: list[Any] = [getattr(head, name) for head in stack.heads]
            getattr(module, name).weight.copy_(torch.cat([head.weight for head in heads]))
            if qkv_bias:
                getattr(module, name).bias.copy_(torch.cat([head.bias for head in heads]))
    assert module(x).shape == (*batch, T, HEADS * D_OUT)
    torch.testing.assert_close(module(x), module.out_proj(stack(x)))


WIDTH = HEADS * D_OUT


def built_in(*, bias: bool) -> nn.MultiheadAttention:
    torch.manual_seed(789)
    theirs = nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter)  # its biases begin as zeros, which would hide their exchange
    return theirs.double()


def square(*, bias: bool) -> MultiHeadAttention:
    torch.manual_seed(123)
    ours = MultiHeadAttention(WIDTH, WIDTH, CONTEXT, 0.0, HEADS, qkv_bias=bias).double()
    if not bias:
        nn.init.zeros_(ours.out_proj.bias)  # PyTorch's layer has either all biases or none
    return ours


def copy_both_ways(
    ours: MultiHeadAttention, theirs: nn.MultiheadAttention, *, to_theirs: bool
) -> None:
    layers = [ours.W_query, ours.W_key, ours.W_value]
    assert theirs.in_proj_weight is not None
    pairs = list(
        zip([layer.weight for layer in layers], theirs.in_proj_weight.chunk(3), strict=True)
    )
    pairs.append((ours.out_proj.weight, theirs.out_proj.weight))
    if theirs.in_proj_bias is not None:
        biases = [layer.bias for layer in layers]
        pairs += list(zip(biases, theirs.in_proj_bias.chunk(3), strict=True))
        pairs.append((ours.out_proj.bias, theirs.out_proj.bias))
    with torch.no_grad():
        for our, their in pairs:
            (their if to_theirs else our).copy_(our if to_theirs else their)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("to_theirs", [False, True])
def test_copied_weights_agree_with_multihead_attention(*, bias: bool, to_theirs: bool) -> None:
    ours, theirs, x = square(bias=bias), built_in(bias=bias), draw(BATCH, T, WIDTH)
    expected = theirs(x, x, x, attn_mask=AHEAD, need_weights=False)[0]
    assert not torch.allclose(ours(x), expected)
    copy_both_ways(ours, theirs, to_theirs=to_theirs)
    expected = theirs(x, x, x, attn_mask=AHEAD, need_weights=False)[0]
    torch.testing.assert_close(ours(x), expected)


@for_each
def test_single_precision_agrees_with_double(build: Build) -> None:
    x = draw(BATCH, T, D_IN)
    context_vecs = build().float()(x.float())
    assert context_vecs.dtype == torch.float32
    torch.testing.assert_close(context_vecs.double(), build()(x), rtol=1e-5, atol=1e-6)


@for_each
@pytest.mark.parametrize("changed", range(1, T))
def test_nothing_ahead_changes_the_past(build: Build, changed: int) -> None:
    module, x = build(), draw(BATCH, T, D_IN)
    other = x.clone()
    other[:, changed:] = draw(BATCH, T - changed, D_IN, seed=7)
    assert torch.equal(module(other)[:, :changed], module(x)[:, :changed])
    assert (module(other)[:, changed:] != module(x)[:, changed:]).all()


@for_each
def test_a_shorter_sentence_is_the_start_of_a_longer_one(build: Build) -> None:
    module, x = build(), draw(BATCH, CONTEXT, D_IN)
    whole = module(x)
    for num_tokens in (1, 2, T, CONTEXT):
        torch.testing.assert_close(module(x[:, :num_tokens]), whole[:, :num_tokens])


def test_the_last_token_sees_what_it_sees_without_a_mask() -> None:
    module, x = causal(), draw(T, D_IN)
    unmasked = SelfAttention_v2(D_IN, D_OUT).double()
    unmasked.load_state_dict({k: v for k, v in module.state_dict().items() if k != "mask"})
    torch.testing.assert_close(module(x)[-1], unmasked(x)[-1])
    assert not torch.allclose(module(x)[:-1], unmasked(x)[:-1])


@for_each
def test_gradients(build: Build) -> None:
    module, x = build(qkv_bias=True), draw(2, D_IN).requires_grad_()

    def call(x: Tensor, *parameters: Tensor) -> Any:
        names = [name for name, _ in module.named_parameters()]
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x,))

    assert torch.autograd.gradcheck(call, (x, *module.parameters()), fast_mode=True)


@for_each
def test_no_gradient_comes_from_ahead(build: Build) -> None:
    x = draw(T, D_IN).requires_grad_()
    build()(x)[2].sum().backward()
    assert x.grad is not None
    assert (x.grad[:3] != 0).all()
    assert (x.grad[3:] == 0).all()


# Dropout


@for_each
def test_dropout_is_for_training_alone(build: Build) -> None:
    module, plain, x = build(dropout=0.5), build(), draw(BATCH, T, D_IN)
    assert module.training
    torch.manual_seed(0)
    assert not torch.allclose(module(x), plain(x))
    module.eval()
    assert torch.equal(module(x), plain(x))


@for_each
def test_dropout_of_one_leaves_nothing(build: Build) -> None:
    module, x = build(dropout=1.0), draw(T, D_IN)
    module_bias = module.out_proj.bias if isinstance(module, MultiHeadAttention) else 0.0
    assert torch.equal(module(x), torch.zeros_like(module(x)) + module_bias)


def test_dropout_drops_weights_and_not_features() -> None:
    """A token whose only weight is dropped has nothing left, in all its features at once."""
    torch.manual_seed(0)
    first = torch.stack([causal(dropout=0.5, seed=n)(draw(1, D_IN))[0] for n in range(30)])
    dropped = (first == 0).all(dim=-1)
    assert (first == 0).any(dim=-1).equal(dropped)
    assert 0 < dropped.sum() < 30


# The mask


@for_each
def test_the_mask_is_a_buffer(build: Build) -> None:
    module = build()
    masks = {name: value for name, value in module.state_dict().items() if name.endswith("mask")}
    assert len(masks) == (HEADS if isinstance(module, MultiHeadAttentionWrapper) else 1)
    assert not any(name.endswith("mask") for name, _ in module.named_parameters())
    for mask in masks.values():
        assert mask.dtype == torch.bool  # .double() has left it alone
        assert mask.equal(torch.ones(CONTEXT, CONTEXT).triu(diagonal=1) == 1)
    assert {buffer.device.type for buffer in module.to("meta").buffers()} == {"meta"}


@for_each
def test_saved_masks_of_floats_are_read(build: Build) -> None:
    """Checkpoints of the chapter's own classes hold the mask as ones and zeros."""
    module, other, x = build(), build(seed=789), draw(T, D_IN)
    saved = {
        name: value.float() if name.endswith("mask") else value
        for name, value in module.state_dict().items()
    }
    other.load_state_dict(saved)
    assert torch.equal(other(x), module(x))
    with torch.device("meta"):  # large models are often read so, and keep the saved mask itself
        other = build()
    other.load_state_dict(saved, assign=True)
    assert torch.equal(other(x), module(x))


def test_the_weights_of_other_heads_fit_and_mean_something_else() -> None:
    torch.manual_seed(123)
    two, three = (MultiHeadAttention(6, 6, 5, 0.0, heads) for heads in (2, 3))
    three.load_state_dict(two.state_dict())
    assert not torch.allclose(three(torch.ones(5, 6).cumsum(0)), two(torch.ones(5, 6).cumsum(0)))


@for_each
def test_nan_ahead_is_seen_as_docstrings_say(build: Build) -> None:
    module, x = build(), draw(T, D_IN)
    before = module(x)
    x[-1] = 1e30
    assert torch.equal(module(x)[:-1], before[:-1])
    x[-1] = torch.nan
    assert module(x).isnan().all()


def test_everything_masked_is_nan_where_softmax_has_nothing_to_share() -> None:
    queries, keys = draw(3, D_IN, seed=1), draw(T, D_IN, seed=2)
    mask = torch.zeros(3, T, dtype=torch.bool)
    mask[1] = True
    attn_weights = attention_weights(attention_scores(queries, keys), D_IN, mask)
    assert attn_weights[1].isnan().all()
    assert attn_weights[[0, 2]].isfinite().all()
    # PyTorch's function says zeros instead, and keeps where the mask is True.
    theirs = scaled_dot_product_attention(queries, keys, draw(T, 2), attn_mask=~mask)
    torch.testing.assert_close((attn_weights @ draw(T, 2))[[0, 2]], theirs[[0, 2]])
    assert (theirs[1] == 0).all()


def test_a_mask_is_repeated_over_leading_axes() -> None:
    attn_scores = draw(BATCH, HEADS, T, T)
    attn_weights = attention_weights(attn_scores, D_IN, AHEAD)
    assert (attn_weights[..., AHEAD] == 0).all()
    torch.testing.assert_close(attn_weights[1, 2], attention_weights(attn_scores[1, 2], 7, AHEAD))
    padding = torch.zeros(BATCH, 1, 1, T, dtype=torch.bool)
    padding[1, ..., 3:] = True
    attn_weights = attention_weights(attn_scores, D_IN, padding)
    assert (attn_weights[1, ..., 3:] == 0).all()
    assert (attn_weights[0] > 0).all()


def test_splitting_and_joining_are_inverse() -> None:
    vectors = draw(BATCH, T, HEADS * D_OUT)
    heads = split_heads(vectors, HEADS)
    assert torch.equal(heads[1, 2], vectors[1, :, 2 * D_OUT :])
    assert heads.data_ptr() == vectors.data_ptr()
    assert torch.equal(join_heads(heads), vectors)


# PyTorch's tools


@for_each
@pytest.mark.parametrize("strict", [False, True])
def test_export(build: Build, *, strict: bool) -> None:
    module = build()
    batch = torch.export.Dim("batch")
    # A slice of the whole mask isn't a slice to torch.export, so the longest sentence is a case
    # of its own.
    tokens = torch.export.Dim("tokens", max=CONTEXT - 1)
    dynamic = {"x": {0: batch, 1: tokens}}
    example = (draw(BATCH, T, D_IN),)
    exported = torch.export.export(module, example, dynamic_shapes=dynamic, strict=strict)
    x = draw(3, CONTEXT - 1, D_IN)
    torch.testing.assert_close(exported.module()(x), module(x))


@for_each
def test_compile_in_one_graph(build: Build) -> None:
    module, x = build(), draw(BATCH, T, D_IN)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


@pytest.mark.slow
@pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))) or not PYTHON_H.exists(),
    reason="needs a C++ compiler and Python's headers",
)
# PyTorch itself warns of its own past when it loads its compiler.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_compile_to_machine_code() -> None:
    module, x = split(), draw(BATCH, T, D_IN)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(module, fullgraph=True)(x), module(x))


@for_each
def test_vmap(build: Build) -> None:
    module, x = build(), draw(3, BATCH, T, D_IN)
    torch.testing.assert_close(torch.func.vmap(module)(x), module(x))


@for_each
def test_state_dict_round_trip(build: Build) -> None:
    module, other, x = build(), build(seed=789), draw(T, D_IN)
    assert not torch.equal(other(x), module(x))
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(x), module(x))


def test_state_dict_names() -> None:
    names = ["W_query.weight", "W_key.weight", "W_value.weight"]
    assert list(causal().state_dict()) == ["mask", *names]
    assert list(split().state_dict()) == ["mask", *names, "out_proj.weight", "out_proj.bias"]
    of_heads = [f"heads.{n}.{name}" for n in range(HEADS) for name in ["mask", *names]]
    assert list(stacked().state_dict()) == of_heads


@for_each
def test_copies(build: Build) -> None:
    module, x = build(), draw(T, D_IN)
    twin = copy.deepcopy(module)
    assert torch.equal(twin(x), module(x))
    with torch.no_grad():
        next(twin.parameters()).zero_()
    assert not torch.equal(twin(x), module(x))


@for_each
def test_autocast_mixes_dtypes(build: Build) -> None:
    module, x = build().float(), draw(T, D_IN)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert module(x.float()).dtype == torch.bfloat16
        assert module(x.bfloat16()).isfinite().all()


# Errors: what was expected, what came, what to do


BAD_ARGUMENTS = {
    "no tokens": (
        (3, 2, 0, 0.0),
        ValueError,
        "context_length must be at least 1, got 0; pass the number of tokens",
    ),
    "half a token": (
        (3, 2, 1.5, 0.0),
        TypeError,
        "context_length must be an int, got 1.5 of type float; pass the number of tokens",
    ),
    "exchanged with the heads": (
        (3, 2, 6, 2),
        ValueError,
        (
            "dropout must be from 0 to 1, got 2; "
            "pass the probability with which a weight is dropped, such as 0.1"
        ),
    ),
    "negative dropout": (
        (3, 2, 6, -0.1),
        ValueError,
        (
            "dropout must be from 0 to 1, got -0.1; "
            "pass the probability with which a weight is dropped, such as 0.1"
        ),
    ),
    "dropout of NaN": (
        (3, 2, 6, float("nan")),
        ValueError,
        (
            "dropout must be from 0 to 1, got nan; "
            "pass the probability with which a weight is dropped, such as 0.1"
        ),
    ),
    "a flag for dropout": (
        (3, 2, 6, True),
        TypeError,
        (
            "dropout must be a float, got True of type bool; "
            "pass the probability with which a weight is dropped, such as 0.1"
        ),
    ),
    "no features": (
        (0, 2, 6, 0.0),
        ValueError,
        "d_in must be at least 1, got 0; pass the number of features",
    ),
}


@pytest.mark.parametrize(
    "kind", [CausalAttention, MultiHeadAttentionWrapper, MultiHeadAttention], ids=str
)
@pytest.mark.parametrize(
    ("arguments", "error", "message"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS
)
def test_bad_arguments(
    kind: Build, arguments: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    heads = () if kind is CausalAttention else (1,)
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        kind(*arguments, *heads)


def test_numbers_of_numpy_are_numbers() -> None:
    one, two = np.int64(1), np.int64(2)
    ca = CausalAttention(two, two, two, np.float32(0.5))  # type: ignore[arg-type]
    assert ca(torch.rand(2, 2)).shape == (2, 2)
    mha = MultiHeadAttention(two, two, two, np.float32(0.5), one)  # type: ignore[arg-type]
    assert mha(torch.rand(2, 2)).shape == (2, 2)


@pytest.mark.parametrize("kind", [MultiHeadAttentionWrapper, MultiHeadAttention])
def test_no_heads(kind: Build) -> None:
    message = "num_heads must be at least 1, got 0; pass the number of heads"
    with pytest.raises(ValueError, match=f"^{message}$"):
        kind(3, 2, 6, 0.0, 0)


def test_heads_that_do_not_divide() -> None:
    message = (
        "d_out must be a multiple of num_heads=2, got 3; "
        "each head has d_out / num_heads features, so change one of the two"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MultiHeadAttention(3, 3, 6, 0.0, 2)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        split_heads(draw(5, 3), 2)
    assert MultiHeadAttentionWrapper(3, 3, 6, 0.0, 2)(torch.rand(5, 3)).shape == (5, 6)


BAD_INPUTS = {
    "another width": (
        lambda: draw(6, 4),
        ValueError,
        (
            "x must have shape (..., T, d_in=7), got (6, 4); "
            "give each token 7 features, or use weights for d_in=4"
        ),
    ),
    "too long": (
        lambda: draw(BATCH, 17, D_IN),
        ValueError,
        (
            "x must have at most context_length=13 tokens, got 17 in shape (2, 17, 7); keep the "
            "last ones with x[..., -13:, :], or build the module with a larger context_length"
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
    "another dtype": (
        lambda: draw(T, D_IN).float(),
        TypeError,
        (
            "x and W_query must have one dtype, got torch.float32 and torch.float64; "
            "convert one of them, for example with x.to(torch.float64)"
        ),
    ),
    "another device": (
        lambda: draw(T, D_IN).to("meta"),
        ValueError,
        "x and W_query must be on one device, got meta and cpu; move one of them with .to(device)",
    ),
}


@for_each
@pytest.mark.parametrize(("make_x", "error", "message"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input(
    build: Build, make_x: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        build()(make_x())


@for_each
def test_compiled_errors_are_the_same(build: Build) -> None:
    compiled = torch.compile(build(), backend="eager")
    with pytest.raises(ValueError, match=re.escape("context_length=13 tokens, got 17 in shape")):
        compiled(draw(17, D_IN))


BAD_MASKS = {
    "numbers": (
        lambda: torch.ones(T, T).triu(diagonal=1),
        TypeError,
        (
            "mask must be a tensor of torch.bool, True where a query must not look, got "
            "torch.float32; convert it with torch.as_tensor(mask).bool()"
        ),
    ),
    "a list": (
        lambda: [[True]],
        TypeError,
        (
            "mask must be a tensor of torch.bool, True where a query must not look, got list; "
            "convert it with torch.as_tensor(mask).bool()"
        ),
    ),
    "another size": (
        lambda: torch.zeros(T, 3, dtype=torch.bool),
        ValueError,
        (
            "mask must broadcast to the shape of attn_scores, (2, 5, 5), got (5, 3); give it a "
            "row for each query and a column for each key, and 1 where it is to be repeated"
        ),
    ),
    "more axes": (
        lambda: torch.zeros(3, 2, T, T, dtype=torch.bool),
        ValueError,
        (
            "mask must broadcast to the shape of attn_scores, (2, 5, 5), got (3, 2, 5, 5); give "
            "it a row for each query and a column for each key, and 1 where it is to be repeated"
        ),
    ),
    "another device": (
        lambda: AHEAD.to("meta"),
        ValueError,
        (
            "mask and attn_scores must be on one device, got meta and cpu; "
            "move one of them with .to(device)"
        ),
    ),
}


@pytest.mark.parametrize(("make_mask", "error", "message"), BAD_MASKS.values(), ids=BAD_MASKS)
def test_bad_mask(make_mask: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        self_attention(draw(BATCH, T, D_IN), *weights_of(causal()), mask=make_mask())


@pytest.mark.parametrize("shape", [(T, D_IN), (0, T, D_IN)])
def test_heads_without_an_axis(shape: tuple[int, ...]) -> None:
    message = (
        f"context_vecs must have shape (..., num_heads, T, head_dim), got {shape}; cut it into "
        "heads first with split_heads, or give a single head an axis of its own with "
        "context_vecs.unsqueeze(-3)"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        join_heads(draw(*shape))
