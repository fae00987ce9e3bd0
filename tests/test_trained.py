"""The running example: its language, its split, and that its weights are the ones it uses."""

from __future__ import annotations

import pytest
import torch

from selfattn.functional import context_vectors, join_heads, split_heads
from selfattn.trained import VOCABULARY, TwoHeads, sentences, to_ids, train, without_head

TRAINED, HELD_OUT = sentences()
EXAMPLE = "Mary’s dogs near the cat now were hungry and she left"


def test_no_pair_of_nouns_is_on_both_sides() -> None:
    pairs = [{frozenset(row) for row in rows[:, [1, 4]].tolist()} for rows in (TRAINED, HELD_OUT)]
    assert pairs[0] & pairs[1] == set()
    assert frozenset(to_ids("dogs cat").tolist()) in pairs[1]


@pytest.mark.parametrize(("place", "other", "forms"), [(1, 6, {"s": "were"}), (0, 9, {})])
def test_words_agree(place: int, other: int, forms: dict[str, str]) -> None:
    women = {"Anna’s", "Mary’s", "Rosa’s", "Lucy’s"}
    for row in torch.cat([TRAINED, HELD_OUT])[::97].tolist():
        word, agreeing = VOCABULARY[row[place]], VOCABULARY[row[other]]
        expected = forms.get(word[-1], "was") if forms else "she" if word in women else "he"
        assert agreeing == expected


def test_the_weights_are_those_that_the_model_uses() -> None:
    torch.manual_seed(7)
    model, ids = TwoHeads(), to_ids(EXAMPLE)[:7]
    attention = model.attention
    with torch.no_grad():
        values = split_heads(attention.W_value(model.embed(ids)), 2)
        joined = join_heads(context_vectors(model.attn_weights(ids), values))
        assert torch.allclose(attention.out_proj(joined), attention(model.embed(ids)))


def test_a_head_that_is_off_brings_nothing() -> None:
    torch.manual_seed(7)
    model, ids = TwoHeads(), to_ids(EXAMPLE)[:7]
    off = without_head(without_head(model, 0), 1)
    x = off.embed(ids)
    assert torch.allclose(off.attention(x), off.attention.out_proj.bias.expand(7, 4))
    assert not torch.allclose(model.attention(x), off.attention(x))


def test_averaging_cannot_tell_the_order_of_words() -> None:
    both = torch.stack([to_ids(f"Mary’s {words} now") for words in ORDERS])
    for averaging in (True, False):
        one, other = train(7, steps=3, averaging=averaging)(both)[:, -1]
        assert torch.allclose(one, other) is averaging


ORDERS = ("dogs near the cat", "cat near the dogs")
