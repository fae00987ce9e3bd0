"""The training loop, whose first step has a closed form, and the example that it trains."""

import pytest
import torch
from torch import Tensor, nn

from selfattn import context_vectors, fit, join_heads, split_heads
from selfattn.trained import VOCABULARY, TwoHeads, sentences, to_ids, train, without_head

T, D_IN, D_OUT = 5, 3, 2
TRAINED, HELD_OUT = sentences()
ORDERS = ("dogs near the cat", "cat near the dogs")


def build() -> nn.Linear:
    torch.manual_seed(123)
    return nn.Linear(D_IN, D_OUT).double()


def random_batch(model: nn.Module) -> Tensor:
    return model(torch.rand(T, D_IN).double()).square().mean()  # type: ignore[no-any-return]


@pytest.mark.parametrize(("learning_rate", "weight_decay"), [(0.01, 0.0), (0.07, 0.5)])
def test_the_first_step_is_as_long_in_every_direction(
    learning_rate: float, weight_decay: float
) -> None:
    model, x = build(), torch.rand(T, D_IN).double()
    before = model.weight.detach().clone()
    slope = 2 * model(x).T @ x / (T * D_OUT)
    fit(
        model,
        lambda model: model(x).square().mean(),
        steps=1,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
    )
    expected = before * (1 - learning_rate * weight_decay) - learning_rate * slope.sign()
    assert torch.allclose(model.weight, expected, atol=1e-6)


def test_losses_and_watched_models_are_those_before_each_step_and_after_the_last() -> None:
    seen: list[tuple[int, Tensor]] = []
    torch.manual_seed(7)
    losses = fit(
        build(),
        random_batch,
        steps=3,
        watch=lambda step, model: seen.append((step, model.weight.detach().clone())),
    )
    assert [step for step, _ in seen] == [0, 1, 2, 3]
    for steps, weight in seen:
        model = build()
        assert fit(model, random_batch, steps) == losses[:steps]
        assert torch.equal(model.weight, weight)


def test_what_needs_no_gradient_stays_and_so_does_the_mode() -> None:
    model = build().eval()
    model.bias.requires_grad = False
    weight, bias = model.weight.detach().clone(), model.bias.clone()
    fit(model, random_batch, steps=2)
    assert torch.equal(model.bias, bias)
    assert not torch.equal(model.weight, weight)
    assert not model.training


# The running example


def test_no_pair_of_nouns_is_on_both_sides() -> None:
    pairs = [{frozenset(row) for row in rows[:, [1, 4]].tolist()} for rows in (TRAINED, HELD_OUT)]
    assert pairs[0] & pairs[1] == set()
    assert frozenset(to_ids("dogs cat").tolist()) in pairs[1]


@pytest.mark.parametrize(("place", "other", "forms"), [(1, 6, {"s": "were"}), (0, 9, {})])
def test_words_agree(place: int, other: int, forms: dict[str, str]) -> None:
    women = {"Anna’s", "Mary’s", "Rosa’s", "Lucy’s"}
    for row in torch.cat([TRAINED, HELD_OUT])[::97].tolist():
        word, agreeing = VOCABULARY[row[place]], VOCABULARY[row[other]]
        expected = forms.get(word[-1], "was") if forms else "she" if word in women else "he"
        assert agreeing == expected


@torch.no_grad()
def test_the_weights_are_those_that_the_model_uses_and_a_head_that_is_off_brings_nothing() -> None:
    torch.manual_seed(7)
    model, ids = TwoHeads(), TRAINED[0, :7]
    attention, x = model.attention, model.embed(ids)
    values = split_heads(attention.W_value(x), 2)
    heads = context_vectors(model.attn_weights(ids), values)
    assert torch.allclose(attention.out_proj(join_heads(heads)), attention(x))
    heads[0] = 0
    off = without_head(model, 0).attention
    assert torch.allclose(attention.out_proj(join_heads(heads)), off(x))
    assert not torch.allclose(attention(x), off(x))


def test_averaging_cannot_tell_the_order_of_words() -> None:
    both = torch.stack([to_ids(f"Mary’s {words} now") for words in ORDERS])
    for averaging in (True, False):
        one, other = train(7, steps=3, averaging=averaging)(both)[:, -1]
        assert torch.allclose(one, other) is averaging
