"""The running examples are the documented data, and nobody can change them for the next page."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest
import torch

from selfattn.examples import SixTokens, ThirteenWords, six_tokens, thirteen_words


def test_six_tokens() -> None:
    example = six_tokens()
    assert example.words == ("Your", "journey", "starts", "with", "one", "step")
    assert example.inputs.tolist() == torch.tensor(
        [
            [0.43, 0.15, 0.89],
            [0.55, 0.87, 0.66],
            [0.57, 0.85, 0.64],
            [0.22, 0.58, 0.33],
            [0.77, 0.25, 0.10],
            [0.05, 0.80, 0.55],
        ]
    ).tolist()  # fmt: skip
    assert example.inputs.dtype == torch.float32
    assert (example.d_in, example.d_out) == (3, 2)


def test_thirteen_words() -> None:
    example = thirteen_words()
    assert example.sentence == "According to the news, it it hard to say Melbourne is safe now"
    assert " ".join(example.words) == example.sentence.replace(",", "")
    assert (example.d, example.d_q, example.d_k, example.d_v) == (16, 24, 24, 28)
    assert str(example.vocabulary) == (
        "{'According': 0, 'Melbourne': 1, 'hard': 2, 'is': 3, 'it': 5, 'news': 6, 'now': 7, "
        "'safe': 8, 'say': 9, 'the': 10, 'to': 12}"
    )
    assert str(example.token_ids) == (
        "tensor([ 0, 12, 10,  6,  5,  5,  2, 12,  9,  1,  3,  8,  7])"
    )


def test_every_id_has_a_row_in_the_embedding() -> None:
    example = thirteen_words()
    assert example.num_embeddings == 13
    assert max(example.vocabulary.values()) == example.num_embeddings - 1
    embedded = torch.nn.Embedding(example.num_embeddings, example.d)(example.token_ids)
    assert str(embedded.shape) == "torch.Size([13, 16])"


def test_changing_one_copy_leaves_the_next_one_whole() -> None:
    six_tokens().inputs.zero_()
    assert six_tokens().inputs.all()
    example = thirteen_words()
    example.token_ids.fill_(7)
    example.vocabulary.clear()
    assert len(thirteen_words().vocabulary) == 11
    assert thirteen_words().token_ids[0] == 0


@pytest.mark.parametrize(("make", "name"), [(six_tokens, "inputs"), (thirteen_words, "token_ids")])
def test_fields_cannot_be_replaced(
    make: Callable[[], SixTokens | ThirteenWords], name: str
) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(make(), name, None)
