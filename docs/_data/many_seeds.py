"""Train with many seeds what three companions train with one, and record what each seed learned.

    python docs/_data/many_seeds.py [NAME ...]     # all, or the named experiments

The results are in many-seeds.json, an experiment to a line; `tests/test_many_seeds.py` compares the
pages' tables with them. Cards: of each seed the right answers, of 21 about seven held-out deals (14
without reading the question); or, for each of six deals, of 90 about the others, with which it is
trained, and of 18 about this one. Heads: the held-out verbs and pronouns that are right. All seeds
of an experiment are trained at once, each with its own random numbers.
"""

import copy
import math
import sys
from collections.abc import Callable
from functools import partial
from itertools import permutations, product
from typing import Any

import torch
from experiment import read_record, write_record
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import cross_entropy

from selfattn import MultiHeadAttention
from selfattn.trained import TwoHeads, accuracies, sentences

OUT = "many-seeds.json"
SEEDS = range(20)
DEALS = list(product(range(3), repeat=3))
SIX = list(permutations(range(3)))
W_QUERY, W_KEY, W_VALUE = "W_query", "W_key", "W_value"


def train(
    models: list[Any],
    draw: Callable[[int], tuple[Tensor, Tensor]],
    steps: int,
    learning_rate: float,
    weight_decay: float = 0.0,
    slower: dict[str, float] | None = None,
) -> None:
    """Train models together, one for each seed; `slower` divides the rate of the named matrices."""
    parameters, buffers = stack_module_state(models)
    model = copy.deepcopy(models[0]).eval()
    groups = [
        {"params": [stack], "lr": learning_rate / (slower or {}).get(name.split(".")[-2], 1.0)}
        for name, stack in parameters.items()
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=weight_decay)

    def loss(parameters: Any, buffers: Any, x: Tensor, answers: Tensor) -> Tensor:
        logits = functional_call(model, (parameters, buffers), (x,))
        return cross_entropy(logits.flatten(0, -2), answers.flatten())

    for step in range(steps):
        losses = vmap(loss)(parameters, buffers, *draw(step))
        optimizer.zero_grad()
        losses.sum().backward()
        optimizer.step()
    with torch.no_grad():
        for seed, each in enumerate(models):
            for name, parameter in each.named_parameters():
                parameter.copy_(parameters[name][seed])


# The cards --------------------------------------------------------------------------------------


class Lookup(nn.Module):
    """A layer that answers from the last token, with or without the root or some matrices."""

    def __init__(self, d_k: int = 3, *, root: bool = True, shared: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.divisor, self.reads_keys = d_k**0.5 if root else 1.0, W_VALUE in shared
        self.W_query = nn.Linear(9, d_k, bias=False)
        self.W_key = self.W_query if W_QUERY in shared else nn.Linear(9, d_k, bias=False)
        self.W_value = nn.Linear(d_k if self.reads_keys else 9, 3, bias=False)

    def attn_weights(self, x: Tensor) -> Tensor:
        """Return the weights of the last token, shape (..., 1, 4)."""
        queries, keys = self.W_query(x[..., 3:, :]), self.W_key(x)
        return torch.softmax(queries @ keys.transpose(-2, -1) / self.divisor, dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of the three numbers."""
        values = self.W_value(self.W_key(x) if self.reads_keys else x)
        return (self.attn_weights(x) @ values).squeeze(-2)


def questions(deals: list[tuple[int, ...]]) -> tuple[Tensor, Tensor]:
    """Return three questions about each deal, shape (deals, 3, 4, 9), and their answers."""
    x, answers = torch.zeros(len(deals), 3, 4, 9), torch.tensor(deals)
    for card in range(3):
        x[:, :, card, card] = 1
        x[torch.arange(len(deals)), :, card, 3 + answers[:, card]] = 1
        x[:, card, 3, 6 + card] = 1
    return x, answers


def cards(**options: Any) -> list[int]:
    """Return each seed's right answers about held-out deals."""
    return right_answers(**options)[1]


def right_answers(
    deals: list[tuple[int, ...]] = DEALS, **options: Any
) -> tuple[list[int], list[int]]:
    """Return each seed's right answers about the deals it was trained with, and the others."""
    models, kept = learn(deals, **options)
    x, answers = questions(deals)
    with torch.no_grad():
        right = torch.stack([(m(x).argmax(-1) == answers).sum(-1) for m in models])
    return right[:, kept].sum(-1).tolist(), right[:, ~kept].sum(-1).tolist()


def learn(
    deals: list[tuple[int, ...]] = DEALS,
    *,
    held_out: Tensor | None = None,
    steps: int = 200,
    learning_rate: float = 0.03,
    start: float = 1.0,
    slower: dict[str, float] | None = None,
    **options: Any,
) -> tuple[list[Lookup], Tensor]:
    """Return a trained layer for each seed, and which deals they were trained with.

    The query matrix starts at `start` times what is drawn.
    """
    x, answers = questions(deals)
    if held_out is None:
        torch.manual_seed(123)
        held_out = torch.randperm(len(deals))[20:]
    kept = torch.ones(len(deals)).bool()
    kept[held_out] = False
    models = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        models.append(Lookup(**options))
        models[-1].W_query.weight.data *= start
    batch = [part.expand(len(SEEDS), *part.shape) for part in (x[kept], answers[kept])]
    train(models, lambda _: (batch[0], batch[1]), steps, learning_rate, slower=slower)
    return models, kept


@torch.no_grad()
def last_looks(models: list[Lookup], deals: list[tuple[int, ...]]) -> Tensor:
    """Return each seed's weights of the question, shape (seeds, deals, 3, 4)."""
    x = questions(deals)[0]
    return torch.stack([model.attn_weights(x).squeeze(-2) for model in models])


def looking_up() -> list[dict[str, Any]]:
    """Return each seed's mean and least weight of the asked card, and where it is below half.

    There the most that the card gets is given, and the least that the question itself gets.
    `says` has the numbers that the values of the three questions themselves answer.
    """
    models, found = learn()[0], []
    for model, weights in zip(models, last_looks(models, DEALS), strict=True):
        card, low = weights[:, range(3), range(3)], {}
        for color, number in product(range(3), range(3)):
            these = torch.tensor([deal[color] == number for deal in DEALS])
            most, itself = card[these, color].max(), weights[these, color, 3].min()
            if most < 0.5:  # noqa: PLR2004
                name = f"{('red', 'green', 'blue')[color]} {number}"
                low[name] = [round(x.item(), 4) for x in (most, itself)]
        seed = {"mean": round(card.mean().item(), 4), "least": round(card.min().item(), 4)}
        says = model.W_value.weight[:, 6:].argmax(0).tolist()
        found.append(seed | {"below half": low, "says": says})
    return found


def leak_rules(steps: int) -> list[list[list[float]]]:
    """Return how each seed answers, for each deal held out.

    That is, over the questions it is trained with, the mean weight of the asked card and of the
    other two; and which part it gets right of the 63 questions about deals with equal numbers.
    """
    x, answers = questions([deal for deal in DEALS if len(set(deal)) < len(deal)])
    found = []
    for deal in range(len(SIX)):
        models, kept = learn(SIX, held_out=torch.tensor([deal]), steps=steps)
        on_cards = last_looks(models, SIX)[:, kept][..., :3]
        asked = on_cards[..., range(3), range(3)].mean((1, 2))
        with torch.no_grad():
            right = torch.stack([(m(x).argmax(-1) == answers).float().mean() for m in models])
        found.append(torch.stack([asked, on_cards.sum(-1).mean((1, 2)) - asked, right], -1))
    rows: list[list[list[float]]] = torch.stack(found, 1).tolist()
    return [[[round(x, 4) for x in each] for each in row] for row in rows]


def leak_reads(steps: int) -> list[list[list[Any]]]:
    """Return what each seed reads, for each deal held out, beside the card that is asked for.

    That is, of the 30 questions about deals with equal numbers whose other two cards differ and
    were together in training, how many it answers with the number that both lack. Then, for each
    question about the deal held out, the larger and the smaller weight of the other two cards, and
    the card whose number it answers: 0 for the one asked for, 1 for the one with the larger weight.
    """
    equal = [deal for deal in DEALS if len(set(deal)) == len(deal) - 1]
    x, found = questions(equal)[0], []
    for deal, numbers in enumerate(SIX):
        models, _ = learn(SIX, held_out=torch.tensor([deal]), steps=steps)
        on_cards = last_looks(models, SIX)[:, deal, :, :3]  # (seeds, 3, 3)
        rows: list[list[Any]] = []
        for model, weights in zip(models, on_cards, strict=True):
            with torch.no_grad():
                named, held_out = model(x).argmax(-1), model(questions(SIX)[0][deal]).argmax(-1)
            pairs = [
                named[i, asked] == 3 - sum(others)
                for i, asked in product(range(len(equal)), range(3))
                for others in [equal[i][:asked] + equal[i][asked + 1 :]]
                if len(set(others)) > 1 and others != numbers[:asked] + numbers[asked + 1 :]
            ]
            row: list[Any] = [sum(map(int, pairs))]
            for asked in range(3):
                order = sorted({0, 1, 2} - {asked}, key=weights[asked].tolist().__getitem__)[::-1]
                both = [round(weights[asked, card].item(), 4) for card in order]
                answer = numbers.index(int(held_out[asked]))
                row.append([*both, [asked, *order].index(answer)])
            rows.append(row)
        found.append(rows)
    return [list(each) for each in zip(*found, strict=True)]


def leak(steps: int) -> list[list[list[int]]]:
    """Return, for each seed and each of six deals, the right answers about the others and this.

    Six orders of the cards are one question to the layer, so each is trained with and asked once.
    """
    held_out = map(torch.tensor, ([deal] for deal in range(len(SIX))))
    deals = (right_answers(SIX, held_out=deal, steps=steps) for deal in held_out)
    runs = [[[6 * x for x in run] for run in zip(*each, strict=True)] for each in deals]
    return [list(each) for each in zip(*runs, strict=True)]


# The two heads ----------------------------------------------------------------------------------


def heads(
    count: int,
    d_k: int = 2,
    *,
    first: int = 0,
    shared: tuple[str, ...] = (),
    root: bool = True,
    rate: float = 0.01,
    steps: int = 1000,
    slower: dict[str, float] | None = None,
) -> list[list[float]]:
    """Return each seed's shares of held-out verbs and pronouns that are right."""
    trained, held_out = sentences()
    models, batches = [], []
    for seed in range(first, first + count):
        torch.manual_seed(seed)
        model = TwoHeads()
        if d_k > 2:  # noqa: PLR2004 - the model's own
            model.attention = MultiHeadAttention(16, 2 * d_k, 10, 0.0, 2)
            model.predict = nn.Linear(16 + 2 * d_k, 35)
        if not root:
            model.attention.W_query.register_forward_hook(lambda _, x, queries: queries * d_k**0.5)
        for name in shared:
            setattr(model.attention, name, model.attention.W_key)
        models.append(model.double())
        batches.append(torch.stack([torch.randint(len(trained), (32,)) for _ in range(steps)]))

    def draw(step: int) -> tuple[Tensor, Tensor]:
        rows = torch.stack([trained[batch[step]] for batch in batches])
        return rows[..., :-1], rows[..., 1:]

    train(models, draw, steps, rate, 0.1, slower)
    return [[round(share, 4) for share in accuracies(model, held_out)] for model in models]


BOTH = {W_QUERY: 32.0, W_KEY: 32.0}
SHARED = {
    "queries and keys": (W_QUERY,),
    "keys and values": (W_VALUE,),
    "all three": (W_QUERY, W_VALUE),
}
EXPERIMENTS: dict[str, Callable[[], list[Any]]] = {
    **{f"cards, one deal held out, {n} steps": partial(leak, n) for n in (100, 1000)},
    "cards, one deal held out, 1000 steps, how": partial(leak_rules, 1000),
    "cards, one deal held out, 1000 steps, reads": partial(leak_reads, 1000),
    "cards, nothing shared": cards,
    "cards, weight of the asked card": looking_up,
    "cards, queries at 0": lambda: list(
        zip(*right_answers(start=0, slower={W_QUERY: math.inf}), strict=True)
    ),
    **{f"cards, {name} shared": partial(cards, shared=s) for name, s in SHARED.items()},
    "cards, all three shared, 1000 steps": partial(cards, shared=SHARED["all three"], steps=1000),
    "cards, all three shared, 4 entries": partial(cards, d_k=4, shared=SHARED["all three"]),
    **{
        f"cards, {size} entries, rate {rate}, {how} root": partial(
            cards, d_k=size, learning_rate=rate, root=how == "with"
        )
        for size, rate, how in product((64, 256, 1024), (0.03, 0.003), ("with", "without"))
    },
    **{
        f"cards, 256 entries, rate {rate}, {how} root, 1000 steps": partial(
            cards, d_k=256, learning_rate=rate, root=how == "with", steps=1000
        )
        for rate, how in ((0.03, "without"), (0.003, "without"), (0.003, "with"))
    },
    **{
        f"cards, 1024 entries, rate 0.03/32, {how} root, {steps} steps": partial(
            cards, d_k=1024, learning_rate=0.03 / 32, root=how == "with", steps=steps
        )
        for how, steps in product(("with", "without"), (200, 1000))
    },
    **{
        f"cards, no root, {begin} start, {slow} slower": partial(
            cards, d_k=1024, root=False, start=start, slower=dict.fromkeys(slower, 32.0)
        )
        for begin, start in (("large", 1.0), ("small", 1 / 32))
        for slow, slower in {
            "none": (),
            "W_query": (W_QUERY,),
            "W_key": (W_KEY,),
            "both": (W_QUERY, W_KEY),
        }.items()
    },
    "heads, nothing shared": partial(heads, 60),
    **{f"heads, {name} shared": partial(heads, 60, shared=s) for name, s in SHARED.items()},
    "heads, nothing shared, seeds 60 to 119": partial(heads, 60, first=60),
    "heads, keys and values shared, seeds 60 to 119": partial(
        heads, 60, first=60, shared=SHARED["keys and values"]
    ),
    "heads of 6, nothing shared": partial(heads, 60, 6),
    "heads of 6, all three shared": partial(heads, 60, 6, shared=SHARED["all three"]),
    "heads, all three shared, 2000 steps": partial(
        heads, 60, shared=SHARED["all three"], steps=2000
    ),
    "heads of 64, with root": partial(heads, 40, 64),
    "heads of 64, without root": partial(heads, 40, 64, root=False),
    "heads of 64, without root, both slower": partial(
        heads, 40, 64, root=False, slower={W_QUERY: 8.0, W_KEY: 8.0}
    ),
    "heads, all three shared, rate 0.003, 2000 steps": partial(
        heads, 60, shared=SHARED["all three"], rate=0.003, steps=2000
    ),
}


def main() -> None:
    """Run the experiments and write down what each seed learned."""
    torch.set_num_threads(1)
    results = read_record(OUT)
    for name in sys.argv[1:] or EXPERIMENTS:
        results[name] = EXPERIMENTS[name]()
        write_record(OUT, results)


if __name__ == "__main__":
    main()
