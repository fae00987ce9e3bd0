"""The numbers of the figures: made by a page's cells, of the trained model, or measured before.

What a page makes comes from its one run.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import parameters_to_vector
from torch.optim.optimizer import register_optimizer_step_pre_hook

from page_values import values_of
from quantities import declared
from quantities.matching import MismatchError, part_of, tensors
from selfattn.examples import six_tokens
from selfattn.trained import STEPS, TwoHeads, to_ids, train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.environment import BuildEnvironment

    from quantities.declared import DeclaredPage

Matrix = tuple[tuple[float, ...], ...]
TRAINED = 8  # the seed of the model whose heads share the work
SAVED = (0, 50, 80, 100, 110, 120, 150, 300)  # steps after which the explorer shows it
SENTENCE = "Mary’s dogs near the cat now were hungry and she left"
WORDS = six_tokens().words
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
    """Return what a page's cells made, by the names in its figures; nothing if it wasn't run."""
    made = values_of(env, docname)
    page = declared.read(Path(env.srcdir)).get(docname)
    return named_values(made, page) if made else Values()


def named_values(made: Mapping[str, Any], page: DeclaredPage | None) -> Values:
    """Return quantities of a page, parts of them and what it keeps, by the names in its figures.

    Args:
        made: The values of a page by their expressions.
        page: What is declared of it.

    """
    values: dict[str, Any] = {"words": WORDS}
    if page:
        with contextlib.suppress(MismatchError):  # the marking of numbers says so
            quantities = tensors(page, made)
            for root, expression in page.figures.items():
                part = part_of(expression, quantities)
                values[root] = quantities[part.quantity].flatten()[part.places]
        values |= {name: made[each] for name, each in page.keep.items() if each in made}
    return Values(**values)


def no_values() -> Values:
    """Return the words alone, for figures that show no number."""
    return Values(words=WORDS)


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


def benchmark() -> Values:
    """Return the recorded times in ms and memory in MB: `one-call.8192.time`."""
    record = json.loads(BENCHMARK.read_text("utf-8"))
    forms: dict[str, dict[str, dict[str, float]]] = {}
    for row in record["results"]:
        measured = {"time": row["seconds"] * 1e3, "memory": row["peak_bytes"] * 1e-6}
        forms.setdefault(row["form"], {})[str(row["T"])] = measured
    return Values(**forms)
