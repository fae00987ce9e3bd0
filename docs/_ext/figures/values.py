"""The numbers of the figures: computed here from the book's constants, or made by a page's cells.

What is computed is the chapter's code with its seeds, once in a build; a test compares it with what
the pages print. What a page makes comes from its one run.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import parameters_to_vector
from torch.optim.optimizer import register_optimizer_step_pre_hook

from page_values import kept_values_of
from selfattn import (
    CausalAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    attention_scores,
    attention_weights,
    context_vectors,
)
from selfattn.examples import six_tokens, thirteen_words
from selfattn.trained import STEPS, TwoHeads, to_ids, train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.environment import BuildEnvironment

Matrix = tuple[tuple[float, ...], ...]
SEED = 123
TRAINED = 8  # the seed of the model whose heads share the work
SAVED = (0, 50, 80, 100, 110, 120, 150, 300)  # steps after which the explorer shows it
SENTENCE = "Mary’s dogs near the cat now were hungry and she left"
DOT_QUERY = (2.0, 1.0)
DOT_KEYS = {
    "same way": (1.2, 0.6),
    "longer": (2.4, 1.2),
    "right angle": (-1.0, 2.0),
    "opposite": (-1.2, -0.6),
}
KEYS, REPEATS = 16, 500
SIZES = tuple(2**power for power in range(1, 11))
BENCHMARK = Path(__file__).resolve().parents[2] / "_data" / "attention-benchmark.json"


class Values(Mapping[str, Any]):
    """Nested tuples and dicts of numbers by their names."""

    def __init__(self, **values: Any) -> None:
        self._values = {name: plain(value) for name, value in values.items()}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def at(self, path: str) -> Any:
        """Return what is at a path such as `keys.1` (counted from 0)."""
        value: Any = self
        for step in path.split("."):
            value = value[step] if isinstance(value, Mapping) else value[int(step)]
        return value

    def number(self, path: str) -> float:
        """Return the number at a path such as `keys.1.0`.

        Raises:
            TypeError: If something else than a number is there.

        """
        value = self.at(path)
        if not isinstance(value, int | float):
            raise TypeError(f"{path} is no number")
        return float(value)


def plain(value: Any) -> Any:
    """Return tensors and lists as nested tuples of numbers, and any other value as it is."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


def page_values(env: BuildEnvironment, docname: str) -> Values:
    """Return what the cells of a page made, by its names there; nothing if it wasn't run."""
    values = kept_values_of(env, docname)
    return Values(**{"words": six_tokens().words, **values}) if values else Values()


@functools.cache
def six_words() -> Values:
    """Return every tensor of Section 3.4, and what the raw embeddings give."""
    example = six_tokens()
    inputs = example.inputs
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(SEED)
        layer = SelfAttention_v1(example.d_in, example.d_out)
        queries, keys, values = (inputs @ w for w in (layer.W_query, layer.W_key, layer.W_value))
        scores = attention_scores(queries, keys)
        weights = attention_weights(scores, example.d_out)
        raw_scores = attention_scores(inputs, inputs)
        return Values(
            words=example.words,
            inputs=inputs,
            W_query=layer.W_query,
            W_key=layer.W_key,
            W_value=layer.W_value,
            queries=queries,
            keys=keys,
            values=values,
            attn_scores=scores,
            scaled_scores=scores / example.d_out**0.5,
            attn_weights=weights,
            context_vecs=context_vectors(weights, values),
            weighted_values_2=weights[1].unsqueeze(-1) * values,
            weights_sum_2=float(weights[1].sum()),
            raw_scores=raw_scores,
            raw_weights=raw_scores.softmax(dim=-1),
        )


@functools.cache
def several_heads() -> Values:
    """Return causal weights of the linear layers and of two heads, and how queries are split."""
    inputs = six_tokens().inputs
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(789)
        layer = SelfAttention_v2(3, 2)
        torch.manual_seed(SEED)
        heads: Any = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2).heads
        first, second = heads
        joined = torch.cat([first.W_query(inputs), second.W_query(inputs)], dim=-1)
        by_head, cut = joined.view(6, 2, 2).transpose(0, 1), joined.view(2, 6, 2)
        return Values(
            words=six_tokens().words,
            unmasked_weights=_weights(layer, inputs, None),
            causal_weights=_weights(layer, inputs, first.mask),
            mask=first.mask.int(),
            weights_1=_weights(first, inputs, first.mask),
            weights_2=_weights(second, inputs, first.mask),
            joined=joined,
            head_1=by_head[0],
            head_2=by_head[1],
            cut_1=cut[0],  # what a view without a transpose takes for the first head
            cut_2=cut[1],
        )


def _weights(
    layer: CausalAttention | SelfAttention_v2, inputs: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    return attention_weights(attention_scores(layer.W_query(inputs), layer.W_key(inputs)), 2, mask)


@functools.cache
def trained_model() -> tuple[TwoHeads, dict[int, torch.Tensor]]:
    """Return the trained model, and its parameters, as a vector, after some steps of training."""
    saved, steps = {}, itertools.count()

    def save(optimizer: torch.optim.Optimizer, *_: object) -> None:
        if (step := next(steps)) in SAVED:
            saved[step] = parameters_to_vector(optimizer.param_groups[0]["params"]).detach()

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # while pages are read, every core has work
    with torch.random.fork_rng(devices=[]), register_optimizer_step_pre_hook(save):
        model = train(TRAINED)
    torch.set_num_threads(threads)
    saved[STEPS] = parameters_to_vector(model.parameters()).detach()
    return model, saved


@functools.cache
def two_heads() -> Values:
    """Return what the trained model's heads attend to in a sentence, and in its first six words."""
    ids = to_ids(SENTENCE)[:-1]  # the last word has nothing to predict
    model = copy.deepcopy(trained_model()[0])
    first, second = model.attn_weights(ids)
    model.attention.mask[:] = False
    unmasked = model.attn_weights(ids)[1]
    return Values(
        words=tuple(SENTENCE.split())[:6],
        sentence=tuple(SENTENCE.split()),
        first_head=first,
        second_head=second,
        unmasked=unmasked,
        start=second[:6, :6],
        averaged=torch.full((6, 6), 1 / 6),
    )


@functools.cache
def dot_products() -> Values:
    """Return the dot product of one arrow with each of four others."""
    return Values(dots=torch.tensor([*DOT_KEYS.values()]) @ torch.tensor(DOT_QUERY))


@functools.cache
def thirteen() -> Values:
    """Return scores and weights of the second of thirteen words."""
    example = thirteen_words()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(SEED)
        embedded = torch.nn.Embedding(example.num_embeddings, example.d)(example.token_ids)
        torch.manual_seed(SEED)
        W_query, W_key = torch.rand(example.d_q, example.d), torch.rand(example.d_k, example.d)
        scores = attention_scores(embedded[1:2] @ W_query.T, embedded @ W_key.T)
        return Values(
            words=example.words,
            scaled_scores=scores[0] / example.d_k**0.5,
            attn_weights=attention_weights(scores, example.d_k)[0],
        )


@functools.cache
def scaling_experiment() -> Values:
    """Return what softmax gets and makes for keys of each size, with and without the division."""
    scores = {}
    with torch.random.fork_rng(devices=[]):
        for d_k in SIZES:
            torch.manual_seed(SEED)
            queries = torch.randn(REPEATS, 1, d_k, dtype=torch.float64)
            keys = torch.randn(REPEATS, KEYS, d_k, dtype=torch.float64)
            scores[d_k] = attention_scores(queries, keys).squeeze(1)  # (500, 16)
    return Values(
        sizes=SIZES,
        plain=_measured([*scores.values()]),
        scaled=_measured([each / d_k**0.5 for d_k, each in scores.items()]),
    )


def _measured(inputs: list[torch.Tensor]) -> dict[str, list[float]]:
    weights = [torch.softmax(scores, dim=-1) for scores in inputs]
    entropies = (torch.special.entr(rows).sum(dim=-1) / math.log(2) for rows in weights)
    return {
        "variance": [float(scores.var()) for scores in inputs],
        "entropy": [float(each.mean()) for each in entropies],  # in bits
        "gradient": [float(_slopes(rows).median()) for rows in weights],
    }


def _slopes(weights: torch.Tensor) -> torch.Tensor:
    """Return the Frobenius norm of softmax's Jacobian at each row of weights."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    sizes: torch.Tensor = (torch.diag_embed(weights) - outer).norm(dim=(-2, -1))
    return sizes


def benchmark() -> Values:
    """Return the recorded times in ms and memory in MB: `one-call.8192.time`."""
    record = json.loads(BENCHMARK.read_text("utf-8"))
    forms: dict[str, dict[str, dict[str, float]]] = {}
    for row in record["results"]:
        measured = {"time": row["seconds"] * 1e3, "memory": row["peak_bytes"] * 1e-6}
        forms.setdefault(row["form"], {})[str(row["T"])] = measured
    return Values(**forms)
