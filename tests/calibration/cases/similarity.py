"""Similarity of collections of known means: unequal sizes, several texts per prompt, rare and common features."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.similarity import (
    BETWEEN_EXCESS,
    OTHER_PROMPTS,
    PROMPT_EFFECT,
    SAME_PROMPT,
    SELF_EXCESS,
    Collection,
    estimate_excess,
    estimate_pair,
    make_collection,
    measure_similarities,
)

from ..setting import Case, Run, Setting

FEATURES = 20
SPREAD = 0.5
SYSTEM, OTHER, REAL = range(3)


def _mean(similarity: float) -> NDArray[np.float64]:
    """Return a vector whose inner product with itself is a similarity."""
    return np.full(FEATURES, np.sqrt(similarity / FEATURES))


def vectors(
    rng: np.random.Generator,
    prompts: tuple[int, int, int],
    texts: int,
    similarities: tuple[float, float, float],
    effect: float,
    shared: float = 0.0,
    baseline: int = OTHER,
) -> Run:
    """Simulate three collections: vectors are a mean, what the prompt adds, and noise.

    Parameters
    ----------
    prompts
        Number of prompts of each collection, the first ones of all.
    texts
        Largest number of texts per prompt.
    similarities
        Similarity of two texts on different prompts, of each collection.
    effect
        Similarity that a prompt adds to any two texts on it.
    shared
        Similarity that it adds to two texts of systems, not of real text.
    baseline
        Collection with which the system is compared; the system itself for similarities within it.
    """
    number = max(prompts)
    of_prompt = rng.normal(0, np.sqrt(effect / FEATURES), (number, FEATURES))
    of_systems = rng.normal(0, np.sqrt(shared / FEATURES), (number, FEATURES))
    collections = []
    for system, (size, similarity) in enumerate(zip(prompts, similarities, strict=True)):
        labels = np.repeat(np.arange(size), rng.integers(1, texts + 1, size))
        means = _mean(similarity) + of_prompt + (of_systems if system != REAL else 0)
        values = rng.normal(means[labels], SPREAD / np.sqrt(FEATURES))
        collections.append(make_collection(sparse.csr_matrix(values), labels, number))
    within, real = similarities[SYSTEM], similarities[REAL]
    across = np.sqrt(within * similarities[baseline])
    truth = {
        OTHER_PROMPTS: across,
        SAME_PROMPT: across + effect + shared,
        PROMPT_EFFECT: effect + shared,
        SELF_EXCESS: within - real,
        BETWEEN_EXCESS: np.sqrt(within * similarities[OTHER]) + shared - np.sqrt(within * real),
    }
    return _measure(collections, baseline, truth)


def openings(rng: np.random.Generator, prompts: tuple[int, int, int], templates: float) -> Run:
    """Simulate openings, one of 50 per text: a system uses one of them in a share of its texts, real texts any."""
    number = max(prompts)
    collections, shares = [], []
    for system, size in enumerate(prompts):
        share = np.full(50, 1 / 50)
        if system != REAL:
            share = share * (1 - templates) + templates * (np.arange(50) == 0)
        rows = sparse.csr_matrix((np.ones(size), (np.arange(size), rng.choice(50, size, p=share))), (size, 50))
        collections.append(make_collection(rows, np.arange(size), number))
        shares.append(share)
    crossed = float(shares[SYSTEM] @ shares[OTHER])
    truth = {
        OTHER_PROMPTS: crossed,
        SAME_PROMPT: crossed,
        PROMPT_EFFECT: 0.0,
        SELF_EXCESS: float(shares[SYSTEM] @ shares[SYSTEM] - shares[REAL] @ shares[REAL]),
        BETWEEN_EXCESS: crossed - float(shares[SYSTEM] @ shares[REAL]),
    }
    return _measure(collections, OTHER, truth)


def _measure(collections: list[Collection], baseline: int, truth: dict[str, float]) -> Run:
    similarities = measure_similarities(collections)
    estimates = estimate_pair(similarities, SYSTEM, baseline, 0.95) + estimate_excess(similarities, SYSTEM, REAL, 0.95)
    return estimates, truth


CASE = Case(
    "macroscope.statistics.similarity:STATISTICS",
    (
        Setting(
            "77 prompts, as similar as real text",
            partial(vectors, prompts=(77, 77, 77), texts=1, similarities=(0.5, 0.5, 0.5), effect=0.2),
            null=(SELF_EXCESS, BETWEEN_EXCESS),
        ),
        Setting(
            "30, 60 and 90 prompts with up to 4 texts, more similar",
            partial(vectors, prompts=(30, 60, 90), texts=4, similarities=(0.9, 0.7, 0.5), effect=0.2, shared=0.1),
            power={SELF_EXCESS: 0.8},
        ),
        Setting(
            "20 prompts with up to 3 texts, as similar as real text",
            partial(vectors, prompts=(20, 20, 20), texts=3, similarities=(0.3, 0.3, 0.3), effect=0.4),
            null=(SELF_EXCESS, BETWEEN_EXCESS),
        ),
        Setting(
            "40 prompts with up to 4 texts, within a system",
            partial(
                vectors,
                prompts=(40, 40, 40),
                texts=4,
                similarities=(0.6, 0.4, 0.4),
                effect=0.3,
                shared=0.2,
                baseline=SYSTEM,
            ),
        ),
        Setting(
            "30 prompts, a third of openings alike",
            partial(openings, prompts=(30, 30, 30), templates=0.33),
        ),
        Setting(
            "200 and 80 prompts, a third of openings alike",
            partial(openings, prompts=(80, 80, 200), templates=0.33),
            power={SELF_EXCESS: 0.8, BETWEEN_EXCESS: 0.6},
        ),
    ),
)
