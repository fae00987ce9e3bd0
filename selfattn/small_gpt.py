"""The weights of the small GPT whose page trains it: they take minutes, so they are kept.

``docs/_data/small_gpt.py``, in the book's repository, makes them with the code of that page.
"""

import base64
from pathlib import Path

import torch
from torch import Tensor, nn


def load_weights(model: nn.Module) -> None:
    """Give a model of the page's sizes the trained parameters.

    Raises:
        RuntimeError: By PyTorch, if the model has more parameters.
    """
    text = Path(__file__).with_suffix(".txt").read_text("ascii")
    data = bytearray(base64.b85decode(text.replace("\n", "")))
    numbers: Tensor = torch.frombuffer(data, dtype=torch.float16).float()
    device = next(model.parameters()).device
    nn.utils.vector_to_parameters(numbers.to(device), model.parameters())
