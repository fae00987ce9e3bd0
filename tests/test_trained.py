"""The running example: its language, its split, and that its weights are the ones it uses."""

from __future__ import annotations

import json

import pytest
import torch
from the_book import DOCS

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


def test_a_model_that_is_trained_without_the_mask_sees_what_is_ahead() -> None:
    both = torch.stack([to_ids(f"Mary’s dogs near the {word}") for word in ("cat", "cats")])
    for unmasked in (True, False):
        one, other = train(7, steps=3, unmasked=unmasked)(both)[:, 0]
        assert torch.allclose(one, other) is not unmasked


ORDERS = ("dogs near the cat", "cat near the dogs")


RECORDED = json.loads((DOCS / "_data/trained-seeds.json").read_text("utf-8"))


def test_the_page_has_what_is_recorded_of_each_seed() -> None:
    page = (DOCS / "companions/how-it-was-trained.md").read_text("utf-8")
    for row in RECORDED:
        lost = (_lost(row, name) for name in ("first_off", "second_off"))
        verbs = (f"{row[name][0]:.2f}" for name in ("unmasked", "shuffled"))
        assert f"| {' | '.join([str(row['seed']), *lost, *verbs])} |\n" in page
        assert row["averaging"] == [0.5, 1.0]


def test_the_page_says_what_an_average_changes() -> None:
    page = (DOCS / "companions/how-it-was-trained.md").read_text("utf-8")
    changes = {
        (row["seed"], name): f"from {row[f'{name}_off'][0]:.2f} to {row[f'{name}_average'][0]:.2f}"
        for row in RECORDED
        for name in ("first", "second")
        if _apart(row[f"{name}_off"], row[f"{name}_average"]) > NEAR
    }
    assert list(changes) == [(7, "second"), (19, "first")]
    assert [change for change in changes.values() if change not in page] == []


def _apart(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def test_an_exchange_shows_what_the_page_says_of_each_seed() -> None:
    page = (DOCS / "companions/how-it-was-trained.md").read_text("utf-8")
    seeds = {}
    for row in RECORDED:
        needed, decides = [], []
        for name in ("first", "second"):
            *own, other_verb, other_pronoun = row[f"{name}_exchanged"]
            needed += [[share == HALF for share in row[f"{name}_off"]]]
            decides += [[share == 1 for share in (other_verb, other_pronoun)]]
            assert row["seed"] == 17 or own == [1 - other_verb, 1 - other_pronoun]
        seeds[row["seed"]] = needed == decides
    assert [seed for seed, agree in seeds.items() if not agree] == [7, 17]
    seven = RECORDED[7]
    assert (seven["second_exchanged"], seven["second_off"][0]) == ([0, 1, 1, 0], 0.9)
    assert "and yet 0.90 of its verbs are right without this head" in page


def test_the_page_counts_the_next_forty_seeds() -> None:
    sixty = json.loads((DOCS / "_data/page-seeds.json").read_text("utf-8"))["three-matrices"]
    learned = [min(row["nothing left out"]) == 1 for row in sixty["seeds"].values()]
    assert learned[:20] == [row["attention"] == [1, 1] for row in RECORDED]
    page = (DOCS / "companions/how-it-was-trained.md").read_text("utf-8")
    assert f"of the next forty, [{sum(learned[20:])} do]" in page
    assert f"which makes {sum(learned)} of 60" in page


def test_the_page_says_when_the_heads_of_other_seeds_learn_what() -> None:
    pages = ("how-it-was-trained", "not-explanations")
    page = "".join((DOCS / f"companions/{name}.md").read_text("utf-8") for name in pages)
    found: dict[int, tuple[str, int]] = {}
    for row in RECORDED:
        if "learns" in row:
            seen = next(i for i, (_, share, _) in enumerate(row["learns"]) if share > HALF)
            assert 1 in [verbs for *_, verbs in row["learns"][seen : seen + 2]]
            found[row["seed"]] = row["looks_for"], row["learns"][seen][0]
    for words, chosen in {
        "look for plurals": [seed for seed, (kind, _) in found.items() if kind == "plural"],
        "look for singulars": [seed for seed, (kind, _) in found.items() if kind == "singular"],
    }.items():
        assert f"({', '.join(map(str, chosen))}) {words}" in page
    assert "by step 50 (2, 5, 12), and one not even at step 200 (6)" in page
    assert [seed for seed, (_, step) in found.items() if step <= 50] == [2, 5, 12]
    assert [seed for seed, (_, step) in found.items() if step > 200] == [6]


HALF, NEAR = 0.5, 0.02


def _lost(row: dict[str, list[float]], name: str) -> str:
    shares = zip(("verb", "pronoun"), row["attention"], row[name], strict=True)
    lost = [word if now == HALF else f"{word}: {now:.2f}" for word, was, now in shares if now < was]
    return "both" if len(lost) > 1 else "".join(lost) or "nothing"


@pytest.mark.parametrize(
    ("page", "words", "name", "count"),
    [
        ("companions/how-it-was-trained", "right with 19 of 20 seeds", "attention", 19),
        ("companions/how-it-was-trained", "everything with 14 of 20 seeds", "one_head", 14),
        ("self-attention/what-for", "every held-out verb right, with all", "adverb_first", 20),
    ],
)
def test_pages_count_the_seeds_that_learned_everything(
    page: str, words: str, name: str, count: int
) -> None:
    assert sum(row[name] == [1.0, 1.0] for row in RECORDED) == count
    assert words in (DOCS / f"{page}.md").read_text("utf-8")
