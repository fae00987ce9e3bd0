"""Whether the explorer's JavaScript prints what torch prints, and what it may say of its digits."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import torch

from explorer.counts import Counts, DriftError
from explorer.node import run_node
from figures.page_trace import one_thread
from selfattn.examples import six_tokens
from sphinx_drift.compare.compare import Policy, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from explorer.states import State

__all__ = ["ALLOWED", "Proof", "attention_steps", "prove"]

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
ALLOWED = 0.01
"""What share of the numbers may be uncertain: a script that is sure of nothing proves nothing."""
SHOWN = 5  # faults in an error


def prove(answers: Path, script: Path, states: Sequence[State], policy: Policy) -> Counts:
    """Run the script in Node.js and torch here, and compare all that both print.

    Args:
        answers: The script that asks the explorer's.
        script: The explorer's arithmetic.
        states: What to compute.
        policy: *exact* where the documented values hold to the last digit; *portable* elsewhere.

    Raises:
        DriftError: If they differ where they must not.
        NodeError: If the script can't be run.

    """
    inputs = six_tokens().inputs
    question = {"inputs": inputs.tolist(), "steps": STEPS, "states": states}
    with ThreadPoolExecutor(1) as beside, torch.random.fork_rng(devices=[]), torch.no_grad():
        answered = beside.submit(run_node, answers, script, text=json.dumps(question))
        computed = [attention_steps(state, inputs) for state in states]
        lines = answered.result().split("\n")
    proof = Proof(policy)
    for state, steps, line in zip(states, computed, lines, strict=True):
        proof.add(state, steps, line)
    return proof.counts()


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
    with one_thread():
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


class Proof:
    """Compares state by state, and counts."""

    def __init__(self, policy: Policy) -> None:
        """Take the policy by which numbers are compared."""
        self._policy = policy
        self._states: list[State] = []
        self._values: list[Tensor] = []
        self._answers: list[bytes] = []
        self._certain: list[str] = []
        self._differing = 0
        self._faults: list[str] = []

    def add(self, state: State, steps: dict[str, Tensor], line: str) -> None:
        """Compare what torch computed with the line that the script answered."""
        printed, certain, data = line.split("\t")
        values = torch.cat([steps[name].flatten() for name in STEPS])
        ours = printed.split()
        if not len(values) == len(ours) == len(certain) == TOTAL:
            raise DriftError(f"{_told(state)}: expected {TOTAL} numbers, got {len(ours)}")
        self._states.append(state)
        self._values.append(values)
        self._answers.append(base64.b64decode(data))
        self._certain.append(certain)
        for place, what in self._differences(ours, values.tolist()):
            if certain[place] == "1":
                self._fault(TOTAL * (len(self._states) - 1) + place, what)
            else:
                self._differing += 1

    def _fault(self, number: int, what: str) -> None:
        """Note what is wrong with a number; all are counted through all states."""
        state, place = divmod(number, TOTAL)
        self._faults.append(f"{_told(self._states[state])}: {PLACES[place]}: {what}")

    def _differences(self, ours: list[str], numbers: list[float]) -> Iterator[tuple[int, str]]:
        """Yield the numbers that print otherwise, as the project's comparer sees it."""
        theirs = [f"{number:.4f}" for number in numbers]
        if ours == theirs:  # what the comparer says of it, much later
            return
        texts = (f"tensor([{', '.join(each)}])" for each in (ours, theirs))
        precise = f"tensor([{', '.join(map(str, numbers))}])"
        for difference in compare(*texts, policy=self._policy, precise=precise).differences:
            if difference.index is None:
                raise DriftError(f"expected numbers, got {difference.documented!r}")
            what = f"torch prints {difference.executed}, the script {difference.documented}"
            yield difference.index[0], what

    def _check_ranges(self) -> None:
        """Find the numbers that are not where the script says they must be, on any machine."""
        answers = torch.frombuffer(bytearray(b"".join(self._answers)), dtype=torch.float32)
        number, low, high = answers.reshape(-1, 3).unbind(-1)
        digits = ((each.double() * 10_000).round() for each in (low, high))
        alike = torch.eq(*digits) & (low.signbit() == high.signbit()) | low.isnan()
        flags = "".join(self._certain)
        for n in (~alike).nonzero().flatten().tolist():
            if flags[n] == "1":
                ends = f"{low[n].item():.4f} or {high[n].item():.4f}"
                self._fault(n, f"the script calls it certain, and it is {ends}")
        checked = {"the script": number}
        if self._policy is Policy.EXACT:
            checked["torch"] = torch.cat(self._values)
        for name, computed in checked.items():
            inside = (low <= computed) & (computed <= high)
            undefined = computed.isnan() & (low.isnan() | (low.isinf() & high.isinf()))
            for n in (~(inside | undefined)).nonzero().flatten().tolist():
                limits = f"{low[n].item()!r} to {high[n].item()!r}"
                what = f"{name} has {computed[n].item()!r}, outside its range {limits}"
                self._fault(n, what)

    def counts(self) -> Counts:
        """Return what was compared.

        Raises:
            DriftError: If anything differed that must not, or nearly nothing was certain.

        """
        if self._states:
            self._check_ranges()
        if self._faults:
            more = len(self._faults) - SHOWN
            shown = [*self._faults[:SHOWN], *([f"and {more} more"] if more > 0 else [])]
            raise DriftError("\n".join(shown))
        flags = "".join(self._certain)
        counts = Counts(len(self._states), len(flags), flags.count("0"), self._differing)
        if counts.uncertain > ALLOWED * counts.numbers or not counts.numbers:
            raise DriftError(
                f"expected at most {ALLOWED:.0%} of the numbers to be uncertain, "
                f"got {counts.uncertain:,} of {counts.numbers:,}"
            )
        return counts


def _told(state: State) -> str:
    """Name a state by what is not as in the book."""
    usual: dict[str, Any] = {"draw": "rand", "edits": [], "divisor": "sqrt", "axis": "row"}
    return ", ".join(f"{k}={v}" for k, v in state.items() if v and usual.get(k) != v)
