"""Vocabularies and growth of documents with favourite words of their own."""

from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from macroscope.critics.tendencies import growth, vocabulary
from macroscope.critics.tendencies.options import TendenciesOptions

from ..setting import MEAN, Case, Drawn, Setting

OPTIONS = TendenciesOptions(simulations=99, count_permutations=199, min_texts_per_length=2, length_bins_per_decade=3)
TYPES, EXPONENT = 4000, 1.8


def collection(
    n: int, rng: np.random.Generator, favourites: bool, exponent: float = EXPONENT
) -> tuple[sparse.csr_matrix, pd.DataFrame]:
    """Counts of documents x types, and tokens and types of each; Zipf's law, with favourite words or without."""
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


def draw(rng: np.random.Generator, n: int, m: int) -> Drawn:
    """Every statistic of two collections of one distribution."""
    reference, candidate = collection(n, rng, True), collection(m, rng, True)
    seed = int(rng.integers(1 << 30))
    rows = vocabulary.own_rows(candidate[0], OPTIONS, 0.95, seed)
    compared, _ = vocabulary.comparison_rows(reference[0], candidate[0], OPTIONS, 0.95, seed)
    rows += compared + growth.own_rows(candidate[1], "heaps", OPTIONS, 0.95, seed)
    rows += growth.comparison_rows(reference[1], candidate[1], "heaps", OPTIONS, 0.95, seed)
    return rows, {name: MEAN for name, *_ in rows if name != "zipf_s"}


def unlike(rng: np.random.Generator, n: int, m: int, laws: tuple[float, float]) -> Drawn:
    """Two collections of other vocabularies: the larger the exponent, the fewer types there are in as many tokens."""
    sides = [collection(size, rng, True, exponent)[0] for size, exponent in zip((n, m), laws, strict=True)]
    return vocabulary.comparison_rows(*sides, OPTIONS, 0.95, int(rng.integers(1 << 30)))[0], {}


def lawful(rng: np.random.Generator, n: int, m: int) -> Drawn:
    """Tokens of Zipf's law over endlessly many types, and types of Heaps' law: the nulls of the tests of laws."""
    sides = [_zipf(size, rng) for size in (n, m)]
    width = max(side.shape[1] for side in sides)
    reference, candidate = (sparse.csr_matrix((s.data, s.indices, s.indptr), shape=(s.shape[0], width)) for s in sides)
    seed = int(rng.integers(1 << 30))
    rows = vocabulary.own_rows(candidate, OPTIONS, 0.95, seed)
    compared, _ = vocabulary.comparison_rows(reference, candidate, OPTIONS, 0.95, seed)
    texts = []
    for size in (n, m):
        lengths = rng.integers(30, 120, size)
        types = np.maximum(rng.poisson(1.2 * lengths**0.8), 1)
        texts.append(pd.DataFrame({"tokens": lengths, "types": types, "block": np.arange(size)}))
    rows += compared + growth.own_rows(texts[1], "heaps", OPTIONS, 0.95, seed)
    rows += growth.comparison_rows(*texts, "heaps", OPTIONS, 0.95, seed)
    truth = {"zipf_s": EXPONENT, "heaps_alpha": 1.2, "heaps_beta": 0.8}
    return [row for row in rows if row[0] in truth or row[0].endswith(("_own", "_reference"))], truth


def _zipf(n: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Documents of 75 tokens of Zipf's law."""
    drawn = rng.zipf(EXPONENT, n * 75)
    _, types = np.unique(drawn, return_inverse=True)
    rows = np.repeat(np.arange(n), 75)
    return sparse.csr_matrix((np.ones(len(types)), (rows, types)), shape=(n, int(types.max()) + 1))


_DIFFERENCES = ("*_difference", "*_empirical", "tvd_*")
_FOUND = {"vocabulary_size_difference": 0.9, "zipf_s_difference": 0.75, "zipf_d_reference": 0.7}
_WIDE = "the jackknife's intervals of distances err upwards"
CASE = Case(
    "macroscope.critics.tendencies.comparison:STATISTICS",
    (
        Setting("favourite words, 20 against 50", partial(draw, n=20, m=50), _DIFFERENCES, runs=600),
        Setting("favourite words, 50 against 20", partial(draw, n=50, m=20), _DIFFERENCES, runs=600),
        Setting("a richer candidate, 50 against 20", partial(unlike, n=50, m=20, laws=(1.8, 1.6)), (), _FOUND, 200),
        Setting("a poorer candidate, 20 against 50", partial(unlike, n=20, m=50, laws=(1.6, 1.8)), (), _FOUND, 200),
        Setting("tokens of the law, 30 against 60", partial(lawful, n=30, m=60), ("*_own", "*_reference"), runs=600),
    ),
    {"*_empirical": "few distances are possible with so few texts of a length", "*_d_*": _WIDE},
)
