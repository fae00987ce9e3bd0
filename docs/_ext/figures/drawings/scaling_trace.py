"""What the two pages on scaling compute: the thirteen words, and the experiment with sizes."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from figures.trace import Traced
from selfattn import functional
from selfattn.examples import thirteen_words

Numbers = tuple[float, ...]
SEED = 123
KEYS, REPEATS = 16, 500
SIZES = tuple(2**power for power in range(1, 11))


@dataclass(frozen=True)
class WordsTrace(Traced):
    """Scores and weights of the second of thirteen words."""

    words: tuple[str, ...]
    scaled_scores: Numbers
    attn_weights: Numbers


@dataclass(frozen=True)
class Series:
    """Three measurements at each size of the keys."""

    variance: Numbers
    entropy: Numbers
    gradient: Numbers


@dataclass(frozen=True)
class ScalingTrace(Traced):
    """The experiment: the same draws, with and without the division."""

    sizes: tuple[int, ...]
    plain: Series
    scaled: Series


@functools.cache
def words_trace() -> WordsTrace:
    """Compute the weights of the second word once for the whole build."""
    example = thirteen_words()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(SEED)
        embedded = torch.nn.Embedding(example.num_embeddings, example.d)(example.token_ids)
        torch.manual_seed(SEED)
        W_query = torch.rand(example.d_q, example.d)
        W_key = torch.rand(example.d_k, example.d)
        scores = functional.attention_scores(embedded[1:2] @ W_query.T, embedded @ W_key.T)
        weights = functional.attention_weights(scores, example.d_k)
    return WordsTrace(
        words=example.words,
        scaled_scores=tuple((scores[0] / example.d_k**0.5).tolist()),
        attn_weights=tuple(weights[0].tolist()),
    )


@functools.cache
def scaling_trace() -> ScalingTrace:
    """Run the experiment once for the whole build."""
    with torch.random.fork_rng(devices=[]):
        draws = [(draw_scores(d_k), d_k**0.5) for d_k in SIZES]
    return ScalingTrace(
        sizes=SIZES,
        plain=_series([scores for scores, _ in draws]),
        scaled=_series([scores / root for scores, root in draws]),
    )


def draw_scores(d_k: int) -> Tensor:
    """Draw queries and keys of unit variance and return their scores."""
    torch.manual_seed(SEED)
    queries = torch.randn(REPEATS, 1, d_k, dtype=torch.float64)
    keys = torch.randn(REPEATS, KEYS, d_k, dtype=torch.float64)
    return functional.attention_scores(queries, keys).squeeze(1)  # (500, 16)


def _series(inputs: list[Tensor]) -> Series:
    weights = [torch.softmax(scores, dim=-1) for scores in inputs]
    return Series(
        variance=tuple(float(scores.var()) for scores in inputs),
        entropy=tuple(float(_entropy(rows).mean()) for rows in weights),
        gradient=tuple(float(_slopes(rows).median()) for rows in weights),
    )


def _entropy(weights: Tensor) -> Tensor:
    """Return each row's entropy in bits."""
    nats: Tensor = torch.special.entr(weights).sum(dim=-1)
    return nats / math.log(2)


def _slopes(weights: Tensor) -> Tensor:
    """Return the Frobenius norm of softmax's Jacobian at each row of weights."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    sizes: Tensor = (torch.diag_embed(weights) - outer).norm(dim=(-2, -1))
    return sizes
