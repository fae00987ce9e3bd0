"""The two running examples of the book, as data: six tokens and thirteen words."""

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["SixTokens", "ThirteenWords", "six_tokens", "thirteen_words"]


@dataclass(frozen=True, eq=False)
class SixTokens:
    """The six-token example: words, their embeddings, and the sizes of its weights.

    Attributes:
        words: The six words, in the sentence's order.
        inputs: One embedding to a row, shape ``(T=6, d_in=3)``, float32.
        d_in: The number of features of a token, 3.
        d_out: The number of features of a query, a key and a value, 2.
    """

    words: tuple[str, ...]
    inputs: Tensor
    d_in: int
    d_out: int


@dataclass(frozen=True, eq=False)
class ThirteenWords:
    """The thirteen-word example: a sentence, its token ids, and the sizes of its weights.

    Attributes:
        sentence: The sentence as it is written, with its comma and its doubled word.
        words: The thirteen words, in the sentence's order, without the comma.
        vocabulary: The id of each of the eleven different words.
        token_ids: The id of each word of the sentence, shape ``(T=13,)``, int64.
        num_embeddings: The number of rows that the embedding needs, 13: the ids reach 12.
        d: The number of features of a token, 16.
        d_q: The number of features of a query, 24.
        d_k: The number of features of a key, 24.
        d_v: The number of features of a value, 28.
    """

    sentence: str
    words: tuple[str, ...]
    vocabulary: dict[str, int]
    token_ids: Tensor
    num_embeddings: int
    d: int
    d_q: int
    d_k: int
    d_v: int


def six_tokens() -> SixTokens:
    r"""Return the example "Your journey starts with one step", fresh at each call.

    Returns:
        The words, the embeddings :math:`X \in \mathbb{R}^{6 \times 3}` in float32, and the
        sizes ``d_in`` and ``d_out``. Nobody else holds the tensor, so it may be changed.

    Examples:
        >>> from selfattn.examples import six_tokens
        >>> example = six_tokens()
        >>> example.words[1]
        'journey'
        >>> example.inputs[1]
        tensor([0.5500, 0.8700, 0.6600])

    References:
        Raschka, Build a Large Language Model (From Scratch), sections 3.3.1 and 3.4.1.
    """
    inputs = torch.tensor(
        [
            [0.43, 0.15, 0.89],  # Your
            [0.55, 0.87, 0.66],  # journey
            [0.57, 0.85, 0.64],  # starts
            [0.22, 0.58, 0.33],  # with
            [0.77, 0.25, 0.10],  # one
            [0.05, 0.80, 0.55],  # step
        ],
        dtype=torch.float32,
    )
    words = ("Your", "journey", "starts", "with", "one", "step")
    return SixTokens(words=words, inputs=inputs, d_in=3, d_out=2)


def thirteen_words() -> ThirteenWords:
    r"""Return the example "According to the news, …", fresh at each call.

    A word's id is its place among all thirteen words when they are sorted, and a word that occurs
    twice keeps the later place. So the eleven words have ids up to 12, and 4 and 11 stay unused.

    Returns:
        The sentence, its words, the vocabulary, the token ids :math:`\in \{0, \dots, 12\}^{13}`
        in int64, and the sizes of the embedding and of the weights.

    Examples:
        >>> from selfattn.examples import thirteen_words
        >>> example = thirteen_words()
        >>> example.vocabulary["it"]
        5
        >>> example.token_ids
        tensor([ 0, 12, 10,  6,  5,  5,  2, 12,  9,  1,  3,  8,  7])

    References:
        Raschka (2023), Understanding and Coding the Self-Attention Mechanism of Large Language
        Models From Scratch, whose sizes and steps the example follows with another sentence.
    """
    sentence = "According to the news, it it hard to say Melbourne is safe now"
    words = tuple(sentence.replace(",", "").split())
    vocabulary = {word: place for place, word in enumerate(sorted(words))}
    return ThirteenWords(
        sentence=sentence,
        words=words,
        vocabulary=vocabulary,
        token_ids=torch.tensor([vocabulary[word] for word in words], dtype=torch.int64),
        num_embeddings=len(words),
        d=16,
        d_q=24,
        d_k=24,
        d_v=28,
    )
