"""The text that the small GPT learns, https://en.wikisource.org/wiki/The_Verdict, and its weights.

To train takes minutes: ``docs/_data/small_gpt.py``, in the book's repository, has done it.
"""

import base64
from pathlib import Path

import torch
from torch import nn

#: "The Verdict", a short story by Edith Wharton, June 1908; an empty line is between paragraphs.
THE_VERDICT = Path(__file__).with_name("verdict.txt").read_text("utf-8").rstrip("\n")


def load_weights(model: nn.Module) -> None:
    """Give a model of the page's sizes the trained parameters.

    Raises:
        RuntimeError: By PyTorch, if the model has more parameters.
    """
    text = Path(__file__).with_name("small_gpt.txt").read_text("ascii")
    data = bytearray(base64.b85decode(text.replace("\n", "")))
    device = next(model.parameters()).device
    numbers = torch.frombuffer(data, dtype=torch.float16).to(device, torch.float32)
    nn.utils.vector_to_parameters(numbers, model.parameters())
