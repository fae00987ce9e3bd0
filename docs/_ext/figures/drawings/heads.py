"""The figures of the pages on causal attention and on several heads."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch

from figures.attention_trace import Matrix, Trace, attention_trace, rows
from figures.board import SMALL, Board, Panels
from figures.drawing import Drawing
from figures.drawings.roles import CELL, LEFT, TOP, pairs
from selfattn import (
    CausalAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v2,
    attention_scores,
    attention_weights,
)
from selfattn.examples import six_tokens


@dataclass(frozen=True)
class HeadsTrace(Trace):
    """The trace with causal weights of the linear layers and of two heads, and with its splits."""

    unmasked_weights: Matrix
    causal_weights: Matrix
    mask: Matrix
    weights_1: Matrix
    weights_2: Matrix
    joined: Matrix
    """The queries of both heads, as one projection makes them."""
    head_1: Matrix
    head_2: Matrix
    cut_1: Matrix
    """What a view without a transpose takes for the first head."""
    cut_2: Matrix


@functools.cache
def heads_trace() -> HeadsTrace:
    """Compute both sections once for the whole build, with their seeds."""
    inputs, base = six_tokens().inputs, attention_trace()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(789)
        layer = SelfAttention_v2(3, 2)
        torch.manual_seed(123)
        stack = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
        heads: list[Any] = list(stack.heads)
        first, second = heads
        mask = first.mask
        joined = torch.cat([head.W_query(inputs) for head in heads], dim=-1)
        by_head, cut = joined.view(6, 2, 2).transpose(0, 1), joined.view(2, 6, 2)
        weights = [_weights(each, inputs, mask) for each in (layer, first, second)]
        unmasked = _weights(layer, inputs, None)
    return HeadsTrace(
        **vars(base),
        unmasked_weights=rows(unmasked),
        causal_weights=rows(weights[0]),
        mask=rows(mask.int()),
        weights_1=rows(weights[1]),
        weights_2=rows(weights[2]),
        joined=rows(joined),
        head_1=rows(by_head[0]),
        head_2=rows(by_head[1]),
        cut_1=rows(cut[0]),
        cut_2=rows(cut[1]),
    )


def _weights(
    layer: CausalAttention | SelfAttention_v2, inputs: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    attn_scores = attention_scores(layer.W_query(inputs), layer.W_key(inputs))
    return attention_weights(attn_scores, 2, mask)


# The drawings ---------------------------------------------------------------------------

HEADS = ("query", "value")  # the colours of the two heads
WIDE, ROW = 46.0, 23.0  # a cell of the queries
SHORT = 4  # tokens of the sentence that is shorter than the mask


def causal(trace: HeadsTrace) -> Panels:
    """Attention weights without a mask and with one."""
    return Panels(
        pairs(trace, "unmasked_weights", "without a mask"),
        pairs(trace, "causal_weights", "with the mask"),
    )


def heads(trace: HeadsTrace) -> Panels:
    """The causal attention weights of two heads."""
    return Panels(pairs(trace, "weights_1", "first head"), pairs(trace, "weights_2", "second head"))


def mask_corner(trace: HeadsTrace) -> Board:
    """The mask, and the corner of it that a shorter sentence takes."""
    board = Board(TOP + 6 * CELL[1] + 34, trace)
    for c, word in enumerate(trace.words):
        board.text(LEFT + CELL[0] * (c + 0.5), TOP - 6, word, size=SMALL, css="fig-muted")
    board.words(LEFT - 6, TOP, CELL[1])
    for r, row in enumerate(trace.mask):
        for c, hidden in enumerate(row):
            x, y = LEFT + CELL[0] * c, TOP + CELL[1] * r
            board.shade(x, y, CELL, 0.4 * hidden, "weight")
            if hidden:
                board.text(x + CELL[0] / 2, y + CELL[1] / 2 + 4.3, "−∞")
    board.box(LEFT, TOP, CELL[0] * 6, CELL[1] * 6, "fig-frame role-weight")
    size = (CELL[0] * SHORT, CELL[1] * SHORT)
    board.box(LEFT, TOP, *size, "fig-frame role-query")
    board.text(
        LEFT, TOP + 6 * CELL[1] + 22, "mask[:4, :4]", anchor="start", css="role-query fig-bold"
    )
    return board


def split_heads(trace: HeadsTrace) -> Board:
    """The queries of two heads, split as they must be and cut as they must not."""
    board = Board(584, trace)
    board.text(180, 15, "queries, 6 × 4", css="fig-bold")
    board.words(180 - 2 * WIDE - 8, 24, ROW)
    for r in range(6):
        for head, role in enumerate(HEADS):
            paths = [f"joined.{r}.{2 * head + c}" for c in range(2)]
            board.row(180 + 2 * WIDE * (head - 1), 24 + ROW * r, paths, role, (WIDE, ROW))
    halves = (
        (100.0, "head", "view(6, 2, 2)", "transpose(0, 1)"),
        (290.0, "cut", "view(2, 6, 2)", "alone: wrong"),
    )
    for x, name, first, second in halves:
        board.arrow(180 + (x - 180) * 0.5, 168, x, 190)
        board.text(x, 207, first, css="fig-bold")
        board.text(x, 223, second, css="fig-bold" if name == "head" else "fig-muted")
        _heads(board, x - WIDE, name)
    return board


def _heads(board: Board, x: float, name: str) -> None:
    """Draw two matrices of six rows, one below the other, each row in its head's colour."""
    for number in (1, 2):
        top = 252 + 184 * (number - 1)
        board.text(x + WIDE, top - 8, f"“head {number}”" if name == "cut" else f"head {number}",
                   size=SMALL, css="fig-muted")  # fmt: skip
        for r in range(6):
            role = HEADS[r % 2] if name == "cut" else HEADS[number - 1]
            paths = [f"{name}_{number}.{r}.{c}" for c in range(2)]
            board.row(x, top + ROW * r, paths, role, (WIDE, ROW))
            token = (6 * (number - 1) + r) // 2 if name == "cut" else r
            if name == "head" or r % 2 == 0:
                word = board.trace.words[token]
                board.text(x - 6, top + ROW * (r + 0.5) + 4.3, word, anchor="end",
                           size=SMALL, css="fig-muted")  # fmt: skip


DRAWINGS: dict[str, Drawing] = {
    "causal": Drawing("Attention weights and a causal mask", lambda _: causal(heads_trace())),
    "heads": Drawing("Attention weights of two heads", lambda _: heads(heads_trace())),
    "mask-corner": Drawing("A mask and its corner", lambda _: mask_corner(heads_trace())),
    "split-heads": Drawing("Queries split into heads", lambda _: split_heads(heads_trace())),
}
