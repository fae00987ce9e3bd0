"""The running example is the documented data, and nobody can change it for the next page."""

import torch

from selfattn.examples import six_tokens


def test_six_tokens() -> None:
    words, inputs = six_tokens()
    assert words == ("Your", "journey", "starts", "with", "one", "step")
    assert inputs.dtype == torch.float32
    assert str(inputs) == (
        "tensor([[0.4300, 0.1500, 0.8900],\n        [0.5500, 0.8700, 0.6600],\n"
        "        [0.5700, 0.8500, 0.6400],\n        [0.2200, 0.5800, 0.3300],\n"
        "        [0.7700, 0.2500, 0.1000],\n        [0.0500, 0.8000, 0.5500]])"
    )


def test_changing_one_copy_leaves_the_next_one_whole() -> None:
    six_tokens().inputs.zero_()
    assert six_tokens().inputs.all()
