"""The training loop: AdamW's first step has a closed form, and watchers see every state."""

import pytest
import torch
from torch import Tensor, nn

from selfattn import fit

T, D_IN, D_OUT = 5, 3, 2


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
