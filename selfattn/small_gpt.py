"""The weights of the small GPT whose page trains it: they take minutes, so they are kept.

``docs/_data/small_gpt.py``, in the book's repository, makes them with the code of that page.
"""

import base64
from pathlib import Path

import torch
from torch import Tensor, nn


def packed(model: nn.Module) -> str:
    """Return all parameters of a model as text: 16-bit numbers, in base 85, in lines."""
    numbers = nn.utils.parameters_to_vector(model.parameters()).detach().half()
    text = base64.b85encode(bytes(numbers.view(torch.uint8).tolist())).decode()
    return "\n".join(text[start : start + 100] for start in range(0, len(text), 100)) + "\n"


def load_weights(model: nn.Module) -> None:
    """Give a model of the page's sizes the trained parameters.

    Raises:
        RuntimeError: By PyTorch, if the model has more parameters.
    """
    text = Path(__file__).with_suffix(".txt").read_text("ascii")
    data = bytearray(base64.b85decode(text.replace("\n", "")))
    numbers: Tensor = torch.frombuffer(data, dtype=torch.float16).float()
    nn.utils.vector_to_parameters(numbers, model.parameters())
