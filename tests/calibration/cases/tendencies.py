"""Vocabularies and growth of documents with their own favourite words."""

from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from macroscope.critics.tendencies import growth, vocabulary
from macroscope.critics.tendencies.options import TendenciesOptions

from ..setting import MEAN, Case, Run, Setting

OPTIONS = TendenciesOptions(simulations=99, count_permutations=199, min_texts_per_length=2, length_bins_per_decade=3)
TYPES, EXPONENT = 4000, 1.8


def collection(
    n: int, rng: np.random.Generator, favourites: bool, exponent: float = EXPONENT
) -> tuple[sparse.csr_matrix, pd.DataFrame]:
    """Sample counts, documents x types, by Zipf's law, with or without favourite words; tokens and types of each."""
    law = np.arange(1, TYPES + 1) ** -exponent
    law /= law.sum()
    lengths = rng.integers(30, 120, n)
    counts = []
    for length in lengths:
        shares = law
        if favourites:
            shares = law * rng.gamma(2.0, 0.5, TYPES)
            shares = shares / shares.sum()
        counts.append(rng.multinomial(length, shares))
    matrix = sparse.csr_matrix(np.array(counts))
    texts = pd.DataFrame({"tokens": lengths, "types": matrix.getnnz(axis=1), "block": np.arange(n)})
    return matrix, texts.assign(bigram_types=np.minimum(lengths - 1, texts["types"] * 2))


def simulate(rng: np.random.Generator, n: int, m: int) -> Run:
    """Compute every statistic of two collections of one distribution."""
    reference, candidate = collection(n, rng, True), collection(m, rng, True)
    seed = int(rng.integers(1 << 30))
    estimates = vocabulary.collection_rows(candidate[0], OPTIONS, 0.95, seed)
    compared, _ = vocabulary.comparison_rows(reference[0], candidate[0], OPTIONS, 0.95, seed)
    estimates += compared + growth.collection_rows(candidate[1], "heaps", OPTIONS, 0.95, seed)
    estimates += growth.comparison_rows(reference[1], candidate[1], "heaps", OPTIONS, 0.95, seed)
    return estimates, {estimate.statistic: MEAN for estimate in estimates if estimate.statistic != "zipf_s"}


def unlike(rng: np.random.Generator, n: int, m: int, laws: tuple[float, float]) -> Run:
    """Compare two collections of different vocabularies; a larger exponent gives fewer types per token."""
    collections = [collection(size, rng, True, exponent)[0] for size, exponent in zip((n, m), laws, strict=True)]
    return vocabulary.comparison_rows(*collections, OPTIONS, 0.95, int(rng.integers(1 << 30)))[0], {}


def lawful(rng: np.random.Generator, n: int, m: int) -> Run:
    """Sample tokens of Zipf's law over infinitely many types, and types of Heaps' law: nulls of the tests of laws."""
    sides = [_zipf(size, rng) for size in (n, m)]
    width = max(counts.shape[1] for counts in sides)
    reference, candidate = (sparse.csr_matrix((s.data, s.indices, s.indptr), shape=(s.shape[0], width)) for s in sides)
    seed = int(rng.integers(1 << 30))
    estimates = vocabulary.collection_rows(candidate, OPTIONS, 0.95, seed)
    compared, _ = vocabulary.comparison_rows(reference, candidate, OPTIONS, 0.95, seed)
    texts = []
    for size in (n, m):
        lengths = rng.integers(30, 120, size)
        types = np.maximum(rng.poisson(1.2 * lengths**0.8), 1)
        texts.append(pd.DataFrame({"tokens": lengths, "types": types, "block": np.arange(size)}))
    estimates += compared + growth.collection_rows(texts[1], "heaps", OPTIONS, 0.95, seed)
    estimates += growth.comparison_rows(*texts, "heaps", OPTIONS, 0.95, seed)
    truth = {"zipf_s": EXPONENT, "heaps_alpha": 1.2, "heaps_beta": 0.8}
    distances = ("_own", "_reference")
    return [e for e in estimates if e.statistic in truth or e.statistic.endswith(distances)], truth


def _zipf(n: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Sample documents of 75 tokens of Zipf's law."""
    tokens = rng.zipf(EXPONENT, n * 75)
    _, types = np.unique(tokens, return_inverse=True)
    rows = np.repeat(np.arange(n), 75)
    return sparse.csr_matrix((np.ones(len(types)), (rows, types)), shape=(n, int(types.max()) + 1))


_DIFFERENCES = ("*_difference", "*_empirical", "tvd_*")
_FOUND = {"vocabulary_size_difference": 0.9, "zipf_s_difference": 0.75, "zipf_d_reference": 0.7}
_WIDE = "the jackknife's intervals of distances are too wide"
CASE = Case(
    "macroscope.critics.tendencies.comparison:STATISTICS",
    (
        Setting("favourite words, 20 against 50", partial(simulate, n=20, m=50), _DIFFERENCES, runs=600),
        Setting("favourite words, 50 against 20", partial(simulate, n=50, m=20), _DIFFERENCES, runs=600),
        Setting("a richer candidate, 50 against 20", partial(unlike, n=50, m=20, laws=(1.8, 1.6)), (), _FOUND, 200),
        Setting("a poorer candidate, 20 against 50", partial(unlike, n=20, m=50, laws=(1.6, 1.8)), (), _FOUND, 200),
        Setting("tokens of the law, 30 against 60", partial(lawful, n=30, m=60), ("*_own", "*_reference"), runs=600),
    ),
    {"*_empirical": "few distances are possible with so few texts of a length", "*_d_*": _WIDE},
)
