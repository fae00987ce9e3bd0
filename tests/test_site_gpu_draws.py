"""What the page says a GPU draws: known answers, what GPUs have printed, and a GPU if one is here.

The page works the numbers out from PyTorch's source. Its authors had no GPU to run them on; what
others' GPUs printed is on record in public, and is compared here with what the page's cells give.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import gpu_draws
import pytest
import torch
from torch import nn

ALL_ONES = 2**32 - 1

KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ALL_ONES,) * 4, (ALL_ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),  # digits of pi
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Test vectors of Random123, the library of Philox's authors, for philox4x32 with ten rounds."""


class Record(NamedTuple):
    """Numbers that somebody's GPU has printed in public."""

    source: str
    seed: int
    draw: int
    """How many tensors were drawn before, from the same seed."""
    printed: str


UNIFORM = [  # storch.dev is made of docs/gpu.md in github.com/sbrunk/storch, which sets the seed
    Record("github.com/pytorch/pytorch/issues/47347", 0, 0, "0.3990 0.5167 0.0249 0.9401 0.9459"),
    Record(
        "storch.dev, GPU support",
        *(0, 0),
        "0.3990 0.5167 0.0249 0.9401 0.9459 0.7967 0.4150 0.8203 0.2290",
    ),
    Record(
        "storch.dev, GPU support",
        *(0, 1),
        "0.9722 0.7910 0.4690 0.3300 0.3345 0.3783 0.7640 0.6405 0.1103",
    ),
]
LINEAR = [  # nn.Linear(1, 1): its weight, and its bias
    Record("github.com/mrdbourke/pytorch-deep-learning/issues/759", 42, 0, "0.2259"),
    Record("github.com/mrdbourke/pytorch-deep-learning/issues/759", 42, 1, "0.9754"),
]
NORMAL = [  # made of the first two words, so they vouch for Philox, its key and its places
    Record("github.com/pytorch/pytorch/issues/79496", 10, 0, "-0.1029 1.6810 -0.2708"),
    Record("github.com/pytorch/pytorch/issues/158398", 42, 0, "0.1940 2.1614 -0.1721"),
]


def printed(numbers: torch.Tensor) -> str:
    return " ".join(f"{number:.4f}" for number in numbers.flatten().tolist())


def by_source(record: Record) -> str:
    return f"{record.source} {record.seed} {record.draw}"


@pytest.mark.parametrize(("place", "key", "words"), KNOWN_ANSWERS)
def test_philox_gives_its_authors_answers(
    place: tuple[int, ...], key: tuple[int, ...], words: tuple[int, ...]
) -> None:
    assert gpu_draws.names()["philox"](place, key) == words


@pytest.mark.parametrize("record", UNIFORM, ids=by_source)
def test_uniform_numbers_are_those_that_a_gpu_printed(record: Record) -> None:
    drawn = gpu_draws.names()["gpu_rand"](1, len(record.printed.split()), record.seed, record.draw)
    assert drawn.dtype == torch.float32
    assert printed(drawn) == record.printed


@pytest.mark.parametrize("record", LINEAR, ids=by_source)
def test_a_layer_has_the_numbers_that_a_gpu_printed(record: Record) -> None:
    drawn = gpu_draws.names()["gpu_rand"](1, 1, record.seed, record.draw)
    assert printed(2 * drawn - 1) == record.printed  # with one input they lie between -1 and 1


@pytest.mark.parametrize("record", NORMAL, ids=by_source)
def test_normal_numbers_are_those_that_a_gpu_printed(record: Record) -> None:
    philox = gpu_draws.names()["philox"]
    normal = []
    for thread in range(len(record.printed.split())):
        words = philox((record.draw, 0, thread, 0), (record.seed, 0))[:2]
        length, angle = ((word + 0.5) / 2**32 for word in words)
        normal.append(math.sqrt(-2 * math.log(length)) * math.sin(2 * math.pi * angle))
    assert printed(torch.tensor(normal)) == record.printed


NO_GPU = "no GPU with CUDA here" if not torch.cuda.is_available() else ""


@pytest.mark.gpu
@pytest.mark.skipif(bool(NO_GPU), reason=NO_GPU)
@pytest.mark.parametrize("seed", [0, 42, 123, 789, 2000, 2**32 - 1])
def test_a_gpu_draws_what_the_page_says(seed: int) -> None:
    gpu_rand = gpu_draws.names()["gpu_rand"]
    torch.manual_seed(seed)
    for draw in range(3):
        assert torch.equal(torch.rand(3, 2, device="cuda").cpu(), gpu_rand(3, 2, seed, draw))
    torch.manual_seed(seed)
    for draw in range(3):
        weight = nn.Linear(3, 2, bias=False, device="cuda").weight.detach().cpu()
        torch.testing.assert_close(weight, (2 * gpu_rand(2, 3, seed, draw) - 1) / 3**0.5)
