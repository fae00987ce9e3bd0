"""The same seed gives the same numbers on a GPU with CUDA, in a process without the stand-in."""

import pytest
import torch
from test_devices import AS_PAGES_WRITE, assert_same_draws, assert_same_training
from torch import nn

from selfattn.devices import reproducible

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU with CUDA here"),
]


@pytest.mark.parametrize("name", [name for name in AS_PAGES_WRITE if "recurrent" not in name])
def test_code_as_pages_write_it(name: str) -> None:
    assert_same_draws(name, "cuda", exactly=False)


def test_a_library_that_draws_by_itself_is_refused() -> None:
    with reproducible("cuda"), pytest.raises(NotImplementedError, match="draws by itself"):
        nn.RNN(3, 5, 2, dropout=0.3)(torch.rand(4, 3))


def test_without_dropout_that_library_is_used() -> None:
    with reproducible("cuda") as device:
        assert nn.RNN(3, 5, 2)(torch.rand(4, 3))[0].device == device


def test_training_with_dropout_has_the_losses_of_the_cpu() -> None:
    assert_same_training("cuda")


def test_full_precision() -> None:
    a, b = torch.rand(2, 512, 512, generator=torch.Generator().manual_seed(123))
    exact = a.double() @ b.double()
    torch.set_float32_matmul_precision("high")
    try:
        with reproducible("cuda") as device:
            product = (a.to(device) @ b.to(device)).cpu()
    finally:
        torch.set_float32_matmul_precision("highest")
    torch.testing.assert_close(product.double(), exact, rtol=1e-5, atol=0)
