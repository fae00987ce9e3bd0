"""The running example: a small language, and a model of two heads that learns it.

A sentence is "Mary’s dogs near the cat now were hungry and she left". Its verb agrees with the
first noun, and not with the second; its pronoun agrees with the name. Training takes about a
second on a CPU, in float64, so that machines which round in other ways learn the same numbers.
"""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from selfattn.causal import MultiHeadAttention
from selfattn.functional import attention_weights, split_heads
from selfattn.training import fit

WOMEN, MEN = ("Anna’s", "Mary’s", "Rosa’s", "Lucy’s"), ("Tom’s", "Ben’s", "Paul’s", "Jack’s")
ONE, MANY = ("dog", "cat", "bird", "horse", "duck"), ("dogs", "cats", "birds", "horses", "ducks")
SLOTS = (
    *(WOMEN + MEN, ONE + MANY, ("near", "behind"), ("the",), ONE + MANY, ("now", "often", "again")),
    *(("was", "were"), ("hungry", "tired", "happy", "old"), ("and",), ("she", "he")),
    ("left", "smiled"),
)
#: The 35 words of the language, in the order of their ids.
VOCABULARY = tuple(dict.fromkeys(word for slot in SLOTS for word in slot))
VERB, PRONOUN = SLOTS.index(("was", "were")), SLOTS.index(("she", "he"))


def to_ids(sentence: str) -> Tensor:
    """Return the ids of a sentence's words, shape ``(T,)``, int64; it may end after any word.

    Raises:
        ValueError: If a word isn't in the language.

    Examples:
        >>> from selfattn.trained import to_ids
        >>> to_ids("Mary’s dogs near the cat now")
        tensor([ 1, 13, 18, 20,  9, 21])
    """
    return torch.tensor([VOCABULARY.index(word) for word in sentence.split()])


def sentences() -> tuple[Tensor, Tensor]:
    """Return all sentences to train with and all that are held out, as ids, one to a row.

    Held out are five pairs of nouns, one singular and one plural, in either order; each is in one.

    Returns:
        The ids of 34,560 and of 3,840 sentences, shape ``(..., 11)``, int64.

    Examples:
        >>> from selfattn.trained import sentences
        >>> [len(part) for part in sentences()]
        [34560, 3840]
    """
    free = [slot for slot in SLOTS if len(slot) > 1 and slot not in (SLOTS[VERB], SLOTS[PRONOUN])]
    chosen = torch.cartesian_prod(*(torch.arange(len(slot)) for slot in free))
    name, noun, where, other, when, mood, end = chosen.unbind(dim=-1)
    fixed = torch.zeros_like(name)
    plural, man = noun // len(ONE), name // len(WOMEN)
    choices = (name, noun, where, fixed, other, when, plural, mood, fixed, man, end)
    ids = [to_ids(" ".join(slot))[choice] for slot, choice in zip(SLOTS, choices, strict=True)]
    one, many = torch.minimum(noun, other), torch.maximum(noun, other)
    held_out = (one < len(ONE)) & (many == len(ONE) + (one - 1) % len(ONE))
    rows = torch.stack(ids, dim=-1)
    return rows[~held_out], rows[held_out]


class TwoHeads(nn.Module):
    r"""A language model of one layer: it predicts from a token and its context vector.

    .. math::

        \operatorname{logits} = [\, X \;\; \operatorname{MultiHead}(X) \,]\, W + b

    From ids of shape ``(..., T)``, ``T`` at most 10, to the next word's, ``(..., T, 35)``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(35, 16, dtype=torch.float64)
        self.positions = nn.Embedding(10, 16, dtype=torch.float64)
        self.attention = MultiHeadAttention(16, 4, 10, dropout=0.0, num_heads=2)
        self.predict = nn.Linear(16 + 4, 35)
        self.double()

    def embed(self, ids: Tensor) -> Tensor:
        """Return the embeddings of tokens and positions, added, shape ``(..., T, 16)``."""
        return self.tokens(ids) + self.positions.weight[: ids.shape[-1]]

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)  # (..., T, 16)
        context_vecs = self.attention(x)  # (..., T, 4)
        return self.predict(torch.cat([x, context_vecs], dim=-1))  # (..., T, 35)

    @torch.no_grad()
    def attn_weights(self, ids: Tensor) -> Tensor:
        """Return the attention weights of each head, shape ``(..., 2, T, T)``."""
        x, layer, num_tokens = self.embed(ids), self.attention, ids.shape[-1]
        queries = split_heads(layer.W_query(x), layer.num_heads)
        keys = split_heads(layer.W_key(x), layer.num_heads)
        attn_scores = queries @ keys.transpose(-2, -1)  # (..., 2, T, T)
        mask = layer.mask[:num_tokens, :num_tokens]
        return attention_weights(attn_scores, layer.head_dim, mask)


def train(
    seed: int,
    *,
    steps: int = 1000,
    averaging: bool = False,
    watch: Callable[[int, TwoHeads], object] | None = None,
) -> TwoHeads:
    """Train a model with batches of 32 sentences, by :func:`~selfattn.training.fit`.

    Args:
        seed: The seed of the random numbers for the model and the batches.
        steps: The number of batches.
        averaging: Whether all queries stay zero, so that all weights of a row are equal.
        watch: As in ``fit``.

    Examples:
        >>> from selfattn.trained import accuracies, sentences, train
        >>> accuracies(train(seed=8), sentences()[1])
        (1.0, 1.0)
    """
    torch.manual_seed(seed)
    model, trained = TwoHeads(), sentences()[0]
    if averaging:
        nn.init.zeros_(model.attention.W_query.weight).requires_grad = False

    def loss(model: TwoHeads) -> Tensor:
        batch = trained[torch.randint(len(trained), (32,))]
        logits = model(batch[:, :-1]).flatten(0, 1)
        return nn.functional.cross_entropy(logits, batch[:, 1:].flatten())

    fit(model, loss, steps, weight_decay=0.1, watch=watch)
    return model


@torch.no_grad()
def accuracies(model: TwoHeads, rows: Tensor) -> tuple[float, float]:
    """Return the parts of sentences whose verb, and whose pronoun, the model predicts."""
    right = model(rows[:, :-1]).argmax(dim=-1) == rows[:, 1:]
    verb, pronoun = (right[:, word - 1].double().mean().item() for word in (VERB, PRONOUN))
    return verb, pronoun


def without_head(model: TwoHeads, head: int) -> TwoHeads:
    """Return a copy of a model in which the output of one head, counted from 0, is set to 0."""
    changed, width = copy.deepcopy(model), model.attention.head_dim
    with torch.no_grad():
        changed.attention.out_proj.weight[:, width * head : width * (head + 1)] = 0
    return changed
