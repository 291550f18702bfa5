"""Joint permutation test: heavy-tailed numbers, words, and n-grams that documents share, which real text repeats, too.

A share of the documents of both sides is from a small stock of texts, so that pairs of copies are few and uneven.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from macroscope.document_keys import number_sample
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.joint_test import LARGEST_DIFFERENCE, estimate_largest_difference, largest_mean_difference
from macroscope.statistics.shared_ngrams import compare_by_shared_ngrams

from ..setting import Case, Run, Setting

BOTH = (largest_mean_difference, compare_by_shared_ngrams)
WORDS = np.arange(60).astype(str)
SHARES = 1 / np.arange(1, 61)
SHARES /= SHARES.sum()
STOCK, FROM_STOCK, LENGTH = 12, 0.15, 25
PERMUTATIONS = 199


def sample_texts(rng: np.random.Generator, stock: Sequence[list[str]], number: int) -> list[list[str]]:
    """Sample texts, some of them from the stock."""
    return [
        stock[rng.integers(STOCK)] if rng.random() < FROM_STOCK else sample_text(rng, rng.integers(5, 2 * LENGTH))
        for _ in range(number)
    ]


def sample_text(rng: np.random.Generator, length: int) -> list[str]:
    """Sample the words of a text."""
    return list(rng.choice(WORDS, length, p=SHARES))


def compare(rng: np.random.Generator, first: DocumentFeatures, second: DocumentFeatures) -> Run:
    """Test two samples."""
    return [estimate_largest_difference(BOTH, first, second, int(rng.integers(1 << 30)), PERMUTATIONS)], {}


def documents(ids: Sequence[str], numbers: np.ndarray, texts: list[list[str]]) -> DocumentFeatures:
    """Return documents."""
    return DocumentFeatures(pd.DataFrame({"id": ids}), numbers, (texts,))


def independent(rng: np.random.Generator, n: int, m: int, copies: float = 0.0) -> Run:
    """Compare documents with two numbers of Student's t with 2 degrees of freedom; the candidate may have copies."""
    stock = [sample_text(rng, LENGTH) for _ in range(STOCK)]
    samples = []
    for name, size in (("real", n), ("mine", m)):
        texts = sample_texts(rng, stock, size)
        if name == "mine":
            number = int(copies * size)
            texts[:number] = texts[number : 2 * number]
        samples.append(documents([f"{name} {i}" for i in range(size)], rng.standard_t(2, (size, 2)), texts))
    return compare(rng, *samples)


def prompts(rng: np.random.Generator, n: int, m: int, texts: int) -> Run:
    """Compare n documents with several texts of each of m prompts, which share a number and half of their words."""
    stock = [sample_text(rng, LENGTH) for _ in range(STOCK)]
    first = documents([f"real {i}" for i in range(n)], rng.standard_t(2, (n, 1)), sample_texts(rng, stock, n))
    openings = sample_texts(rng, stock, m)
    names = [number_sample(f"prompt {i}", number + 1) for i in range(m) for number in range(texts)]
    words = [
        opening if number == 0 else opening[: len(opening) // 2] + sample_text(rng, LENGTH)
        for opening in openings
        for number in range(texts)
    ]
    return compare(rng, first, documents(names, np.repeat(rng.standard_t(2, (m, 1)), texts, axis=0), words))


def pairs(rng: np.random.Generator, n: int) -> Run:
    """Compare pairs of texts of the same beginning, with numbers in common."""
    stock = [sample_text(rng, LENGTH) for _ in range(STOCK)]
    beginnings, common = sample_texts(rng, stock, n), rng.standard_t(2, (n, 1))
    first, second = (
        documents(
            [f"pair {i}" for i in range(n)],
            common + rng.standard_t(2, (n, 1)),
            [beginning + end for beginning, end in zip(beginnings, sample_texts(rng, stock, n), strict=True)],
        )
        for _ in range(2)
    )
    return compare(rng, first, second)


TESTED = (LARGEST_DIFFERENCE,)
CASE = Case(
    "macroscope.statistics.joint_test:STATISTICS",
    (
        Setting("20 against 20", partial(independent, n=20, m=20), TESTED),
        Setting("20 against 300", partial(independent, n=20, m=300), TESTED),
        Setting("300 against 60", partial(independent, n=300, m=60), TESTED),
        Setting("300 against 300", partial(independent, n=300, m=300), TESTED),
        Setting("40 pairs", partial(pairs, n=40), TESTED),
        Setting("100 against 5 texts of each of 20 prompts", partial(prompts, n=100, m=20, texts=5), TESTED),
        Setting("20 against 4 texts of each of 60 prompts", partial(prompts, n=20, m=60, texts=4), TESTED),
        Setting(
            "100 against 60, of which a quarter are copies",
            partial(independent, n=100, m=60, copies=0.25),
            power={LARGEST_DIFFERENCE: 0.95},
            runs=300,
        ),
    ),
)
