"""The two running examples of the book, as data: six tokens and thirteen words."""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["SixTokens", "ThirteenWords", "six_tokens", "thirteen_words"]


class SixTokens(NamedTuple):
    """The six-token example.

    Attributes:
        words: The six words, in the sentence's order.
        inputs: One embedding to a row, shape ``(T=6, d_in=3)``, float32.
    """

    words: tuple[str, ...]
    inputs: Tensor


class ThirteenWords(NamedTuple):
    """The thirteen-word example.

    Attributes:
        words: The thirteen words, in the sentence's order, without its comma.
        token_ids: The id of each word, from 0 to 12, shape ``(T=13,)``, int64.
    """

    words: tuple[str, ...]
    token_ids: Tensor


def six_tokens() -> SixTokens:
    r"""Return the example "Your journey starts with one step", fresh at each call.

    Returns:
        The words and their embeddings, which nobody else holds, so they may be changed.

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
    return SixTokens(words, inputs)


def thirteen_words() -> ThirteenWords:
    r"""Return the example "According to the news, …", fresh at each call.

    A word's id is its place among all thirteen words when they are sorted, and a word that occurs
    twice keeps the later place. So the eleven words have ids up to 12, and 4 and 11 stay unused.

    Returns:
        The words and their ids.

    Examples:
        >>> from selfattn.examples import thirteen_words
        >>> thirteen_words().token_ids
        tensor([ 0, 12, 10,  6,  5,  5,  2, 12,  9,  1,  3,  8,  7])

    References:
        Raschka (2023), Understanding and Coding the Self-Attention Mechanism of Large Language
        Models From Scratch, whose sizes and steps the example follows with another sentence.
    """
    sentence = "According to the news it it hard to say Melbourne is safe now"
    words = tuple(sentence.split())
    ids = {word: place for place, word in enumerate(sorted(words))}
    return ThirteenWords(words, torch.tensor([ids[word] for word in words]))
