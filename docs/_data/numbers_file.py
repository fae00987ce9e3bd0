"""Pack the numbers of many tensors into a small file that a browser reads."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

DECIMALS = 4
NAN, INFINITY, LARGEST = -32768, 32767, 32766
"""How NaN, infinity and numbers too large for 16 bits are written."""
LEAST = 2
"""How many numbers must differ, apart from 0, for a tensor to be told from others."""


def packed(made: Sequence[tuple[str, str, dict[str, Tensor]]]) -> dict[str, Any]:
    """Return tensors as one series of 16-bit numbers, each with where it was made.

    A mistake's tensor that the right code makes too is left out. One that several causes make is
    there once, with all of them: `causes` has three of `words` for each, the title, what it was
    made in and the step.

    Args:
        made: Titles of mistakes (empty for what is right), what they are made in, and tensors by
            the names of their steps.

    """
    causes: dict[bytes, dict[tuple[str, str, str], None]] = {}
    right: set[tuple[str, bytes]] = set()
    for title, code, steps in made:
        for step, tensor in steps.items():
            numbers = integers(tensor)
            if not title:
                right.add((code, numbers))
            if (not title or (code, numbers) not in right) and tells(numbers):
                causes.setdefault(numbers, {})[title, code, step] = None
    used = {word: None for each in causes.values() for cause in each for word in cause}
    number = {word: str(n) for n, word in enumerate(used)}
    indices = [[number[word] for cause in each for word in cause] for each in causes.values()]
    return {
        "titles": list(dict.fromkeys(title for title, *_ in made if title)),
        "words": list(used),
        "causes": ",".join(map(" ".join, indices)),
        "lengths": " ".join(str(len(numbers) // 2) for numbers in causes),
        "numbers": base64.b64encode(b"".join(causes)).decode(),
    }


def integers(tensor: Tensor) -> bytes:
    """Return a tensor's numbers as they are printed, in units of the last decimal."""
    scaled = np.round(tensor.double().numpy().ravel() * 10**DECIMALS)
    limited = np.where(np.isinf(scaled), np.sign(scaled) * INFINITY, scaled.clip(-LARGEST, LARGEST))
    return np.where(np.isnan(scaled), NAN, limited).astype("<i2").tobytes()


def tells(numbers: bytes) -> bool:
    """Whether numbers may be told from others: three of them differ, apart from 0 and infinity."""
    values = set(np.frombuffer(numbers, "<i2").tolist()) - {
        0,
        NAN,
        INFINITY,
        -INFINITY,
        LARGEST,
        -LARGEST,
    }
    return len(values) >= LEAST
