"""Compare the explorer's JavaScript with torch, state by state, number by number."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import torch
from node import run_node
from the_book import DOCS

from selfattn.examples import six_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from explorer_states import State
    from torch import Tensor

SCRIPT = DOCS / "_ext/explorer/arithmetic.js"
ANSWERS = DOCS.parent / "tests/explorer_answer.js"
MATRICES = ("W_query", "W_key", "W_value")
RESULTS = (
    *("queries", "keys", "values", "attn_scores", "scaled", "masked"),
    *("attn_weights", "context_vecs"),
)
STEPS = (*MATRICES, *RESULTS)
SIZES = ((3, 2),) * 3 + ((6, 2),) * 3 + ((6, 6),) * 4 + ((6, 2),)
PLACES = [
    f"{name}[{row}, {column}]"
    for name, (rows, columns) in zip(STEPS, SIZES, strict=True)
    for row in range(rows)
    for column in range(columns)
]
TOTAL = len(PLACES)


def faults(states: Sequence[State], script: Path = SCRIPT) -> tuple[list[str], float]:
    """Return where the script is not as torch, and which share of its numbers it is not sure of.

    A number that the script is sure of must print as torch prints it, and torch's must be within
    both errors of any number: its own is as large.
    """
    inputs = six_tokens().inputs
    question = {"inputs": inputs.tolist(), "steps": STEPS, "states": states}
    lines = run_node(ANSWERS, script, text=json.dumps(question)).split("\n")
    found: list[str] = []
    uncertain = 0
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for state, line in zip(states, lines, strict=True):
            steps = attention_steps(state, inputs)
            values = torch.cat([steps[name].flatten() for name in STEPS])
            found += [f"{state}: {fault}" for fault in _differences(values, line)]
            uncertain += line.split("\t")[1].count("0")
    return found, uncertain / (TOTAL * len(states))


def _differences(values: Tensor, line: str) -> Iterator[str]:
    printed, certain, data = line.split("\t")
    answers = torch.frombuffer(bytearray(base64.b64decode(data)), dtype=torch.float32)
    numbers, errors = answers.reshape(-1, 2).unbind(-1)
    near = ((numbers - values).abs() <= 2 * errors) | (numbers == values) | values.isnan()
    for place, text, is_certain, number, value, is_near in zip(
        *(PLACES, printed.split(), certain, numbers.tolist(), values.tolist(), near.tolist()),
        strict=True,
    ):
        if text != f"{number:.4f}":
            yield f"{place}: the script prints {number!r} as {text}"
        if not is_near or (is_certain == "1" and text != f"{value:.4f}"):
            yield f"{place}: torch computes {value!r}, the script {number!r} ({is_certain=})"


def attention_steps(state: State, inputs: Tensor) -> dict[str, Tensor]:
    """Compute a state as the book's pages do."""
    matrices = {"inputs": inputs.clone(), **_drawn(state)}
    for name, row, column, number in state["edits"]:
        matrices[name][row, column] = number
    inputs = matrices["inputs"]
    queries, keys, values = (inputs @ matrices[name] for name in MATRICES)
    attn_scores = queries @ keys.transpose(-2, -1)
    d_k = keys.shape[-1]
    scaled = attn_scores / {"1": 1, "sqrt": d_k**0.5, "d_k": d_k}[state["divisor"]]
    masked = scaled.masked_fill(_hidden(state, len(inputs)), -torch.inf)
    attn_weights = torch.softmax(masked, dim=-1 if state["axis"] == "row" else -2)
    context_vecs = attn_weights @ values
    results = (queries, keys, values, attn_scores, scaled, masked, attn_weights, context_vecs)
    return {name: matrices[name] for name in MATRICES} | dict(zip(RESULTS, results, strict=True))


def _drawn(state: State) -> dict[str, Tensor]:
    torch.default_generator.manual_seed(int(state["seed"]))  # as torch.manual_seed does on a CPU
    if state["draw"] == "rand":
        return {name: torch.rand(3, 2) for name in MATRICES}
    layers = {name: torch.nn.Linear(3, 2, bias=False) for name in MATRICES}
    return {name: layer.weight.transpose(-2, -1).clone() for name, layer in layers.items()}


def _hidden(state: State, tokens: int) -> Tensor:
    mask = state["mask"] or [[False] * tokens] * tokens
    if state["causal"]:
        mask = [[hides or j > i for j, hides in enumerate(row)] for i, row in enumerate(mask)]
    return torch.tensor(mask)
