"""One training loop for every model of the book."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def fit(  # noqa: PLR0913 - each setting of the loop
    model: nn.Module,
    loss: Callable[[Any], Tensor],
    steps: int,
    *,
    learning_rate: float = 0.01,
    weight_decay: float = 0.0,
    watch: Callable[[int, Any], object] | None = None,
) -> list[float]:
    r"""Train a model's parameters with AdamW, and return the loss of each step.

    .. math::

        \theta \leftarrow (1 - \eta \lambda)\, \theta
            - \eta\, \frac{\hat{m}}{\sqrt{\hat{v}} + \varepsilon}

    with learning rate :math:`\eta`, weight decay :math:`\lambda`, and running means :math:`\hat{m}`
    of the gradient and :math:`\hat{v}` of its square. The model is changed in place.

    Args:
        model: The module to train. Parameters that don't require a gradient stay as they are.
        loss: Called with the model in each step: draws a batch, and returns its loss, a scalar.
        steps: The number of batches.
        learning_rate: The size of AdamW's steps.
        weight_decay: What part of each parameter a step of the size 1 would take away.
        watch: Called with the steps so far and the model, before each step and after the last.

    Returns:
        The loss of each step, computed before that step changes the parameters.

    Raises:
        ValueError: By PyTorch, if the model has no parameters.
        RuntimeError: By PyTorch, if the loss is no scalar, or depends on no trainable parameter.

    Examples:
        From three points of the line y = 3x + 1, a layer learns where the line is at x = 10.

        >>> import torch
        >>> from selfattn import fit
        >>> x = torch.tensor([[0.0], [1.0], [2.0]])
        >>> line = torch.nn.Linear(1, 1)
        >>> def loss(line):
        ...     return (line(x) - 3 * x - 1).square().mean()
        >>> losses = fit(line, loss, steps=500, learning_rate=0.1)
        >>> round(line(torch.tensor([10.0])).item())
        31

    References:
        Loshchilov and Hutter (2019), Decoupled Weight Decay Regularization, algorithm 2.
    """
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True
    )
    losses = []
    for step in range(steps):
        if watch:
            watch(step, model)
        value = loss(model)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    if watch:
        watch(steps, model)
    return losses
