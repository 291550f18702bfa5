"""Brute-force enumeration of a hidden semi-Markov model: every segmentation with every sequence of states."""

from itertools import pairwise, product

import numpy as np
import torch

from macroscope.systems.hsmm.marginal import Batch, LogProbabilities


def random_model(states, longest, rows, seed, ends=True, dtype=torch.float64):
    """Return random log-probabilities, which are not normalised."""
    rng = np.random.default_rng(seed)

    def logits(*shape):
        return torch.tensor(rng.normal(size=shape), dtype=dtype)

    end = logits(states) if ends else torch.zeros(states, dtype=dtype)
    return LogProbabilities(logits(states), logits(states, states), end, logits(longest, states), logits(rows, states))


def random_batch(sizes, longest, rows, seed, missing=0.0):
    """Return texts of given sizes with random n-grams, a share of which is missing from the model."""
    rng = np.random.default_rng(seed)
    table = np.full((len(sizes), max(sizes), longest), -1)
    for text, size in enumerate(sizes):
        for n in range(size):
            for k in range(min(longest, size - n)):
                if rng.random() >= missing or k == 0:
                    table[text, n, k] = rng.integers(rows)
    return Batch(torch.tensor(table), torch.tensor(sizes))


def segmentations(tokens, longest):
    """Yield every segmentation of a number of tokens, as a tuple of lengths."""
    if tokens == 0:
        yield ()
    for first in range(1, min(longest, tokens) + 1):
        for rest in segmentations(tokens - first, longest):
            yield (first, *rest)


def paths(model, rows, size):
    """Yield (log-probability, segments) of each derivation of a text; segments are (start, length, state)."""
    states, longest = len(model.initial), len(model.length)
    for lengths in segmentations(size, longest):
        starts = np.cumsum([0, *lengths[:-1]])
        numbers = [int(rows[start, length - 1]) for start, length in zip(starts, lengths, strict=True)]
        if min(numbers) < 0:
            continue
        for path in product(range(states), repeat=len(lengths)):
            total = model.initial[path[0]] + model.end[path[-1]]
            total = total + sum(model.transition[a, b] for a, b in pairwise(path))
            total = total + sum(
                model.length[length - 1, z] + model.emission[number, z]
                for length, z, number in zip(lengths, path, numbers, strict=True)
            )
            yield float(total), list(zip(starts.tolist(), lengths, path, strict=True))
