"""The running example of the chapter, as data: six tokens."""

from typing import NamedTuple

import torch
from torch import Tensor


class SixTokens(NamedTuple):
    """The six words, and one embedding to a row, shape ``(T=6, d_in=3)``, float32."""

    words: tuple[str, ...]
    inputs: Tensor


def six_tokens() -> SixTokens:
    """Return "Your journey starts with one step" and its embeddings, made anew in each call.

    Examples:
        >>> from selfattn.examples import six_tokens
        >>> six_tokens().inputs[1]
        tensor([0.5500, 0.8700, 0.6600])

    References:
        Raschka, Build a Large Language Model (From Scratch), sections 3.3.1 and 3.4.1.
    """
    rows = {
        "Your": [0.43, 0.15, 0.89],
        "journey": [0.55, 0.87, 0.66],
        "starts": [0.57, 0.85, 0.64],
        "with": [0.22, 0.58, 0.33],
        "one": [0.77, 0.25, 0.10],
        "step": [0.05, 0.80, 0.55],
    }
    return SixTokens(tuple(rows), torch.tensor([*rows.values()], dtype=torch.float32))
