"""Heaps' law of texts that vary more or less than it says, and of documents whose texts go together."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from macroscope.critics.tendencies import growth
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.statistics.permutation_groups import Permutation

ALPHA, BETA = 2.0, 0.7
OPTIONS = TendenciesOptions(
    simulations=20, count_permutations=99, length_bins_per_decade=4, min_texts_per_length=5, unit="section"
)
RUNS = 50


def texts(rng, documents, each=1, spread=1.0, variance=0.0):
    """Texts of lengths that vary widely.

    Parameters
    ----------
    each
        Texts of a document.
    spread
        Of the types about their mean, in Poisson's standard deviations.
    variance
        Of a factor that all texts of a document share.
    """
    lengths = np.exp(rng.normal(4.6, 0.7, documents * each)).astype(int) + 5
    factor = rng.gamma(1 / variance, variance, documents) if variance else np.ones(documents)
    expected = ALPHA * lengths**BETA * np.repeat(factor, each)
    types = np.maximum(1, np.round(expected + spread * (rng.poisson(expected) - expected))).astype(int)
    blocks = np.repeat(np.arange(documents), each)
    return pd.DataFrame({"tokens": lengths, "types": types, "bigram_types": types, "block": blocks})


KINDS = {
    "as the law says": {"documents": 50},
    "less": {"documents": 50, "spread": 0.5},
    "more": {"documents": 50, "variance": 0.05},
    "by document": {"documents": 40, "each": 4, "variance": 0.05},
}


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_the_law_cover_it_however_texts_vary(kind):
    rng, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(RUNS):
        rows = {name: row for name, *row in growth.own_rows(texts(rng, **KINDS[kind]), "heaps", OPTIONS, 0.95, 1)}
        for i, (name, truth) in enumerate((("heaps_alpha", ALPHA), ("heaps_beta", BETA))):
            covered[i] += rows[name][1] <= truth <= rows[name][2]
    assert (covered >= RUNS * 0.95 - 3 * np.sqrt(RUNS * 0.95 * 0.05)).all()


@pytest.mark.parametrize("kind", ["as the law says", "by document"])
def test_tests_of_growth_keep_their_level_at_unequal_sizes(kind):
    rng, p = np.random.default_rng(1), {}
    for run in range(RUNS):
        candidate, reference = (texts(rng, **KINDS[kind] | {"documents": count}) for count in (25, 60))
        for name, *_, found in growth.comparison_rows(reference, candidate, "heaps", OPTIONS, 0.95, run):
            p.setdefault(name, []).append(found)
    assert np.mean(np.array(p["heaps_d_empirical"]) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / RUNS)
    assert 0.37 < np.mean(p["heaps_d_empirical"]) < 0.65
    if kind == "as the law says":  # else texts are not of the law
        assert np.mean(np.array(p["heaps_d_reference"]) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / RUNS)
        assert 0.37 < np.mean(p["heaps_d_reference"]) < 0.65


def test_another_growth_is_found():
    rng = np.random.default_rng(2)
    reference, candidate = texts(rng, 80), texts(rng, 60)
    candidate["types"] = np.maximum(1, candidate["types"] * 3 // 4)
    for name, *_, p in growth.comparison_rows(reference, candidate, "heaps", OPTIONS, 0.95, 1):
        assert p == (0.01 if name == "heaps_d_empirical" else pytest.approx(1 / 21))


@pytest.mark.parametrize("bins", [1, 10, 40, None])
def test_few_texts_of_a_length(bins):
    rng = np.random.default_rng(3)
    options = OPTIONS.model_copy(update={"min_texts_per_length": 2, "length_bins_per_decade": bins})
    for sizes in ((2, 3), (12, 5), (40, 90)):
        reference, candidate = (texts(rng, size) for size in sizes)
        rows = growth.own_rows(candidate, "heaps", options, 0.95, 1)
        rows += growth.comparison_rows(reference, candidate, "heaps", options, 0.95, 1)
        for name, value, low, high, p in rows:
            assert np.isnan(value) or name.endswith(("alpha", "beta")) or 0 <= value <= 1
            assert np.isnan(low) or low <= high
            assert np.isnan(p) or 0 < p <= 1
        curve = growth.curve(reference, candidate, "heaps", options, 1)
        assert (curve["texts"] >= 2).all()
        assert curve.loc[curve["reference_texts"] == 0, "d_empirical"].isna().all()
        assert curve["standard_error"].notna().all()


def test_a_length_of_one_text_is_not_looked_at():
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        TendenciesOptions(min_texts_per_length=1)


def test_texts_of_one_document_are_exchanged_together_at_every_length():
    """Documents of twenty alike sections, and nothing that differs: of some runs, few find a difference."""
    options = OPTIONS.model_copy(update={"unit": "section", "count_permutations": 99})
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sides = []
        for _ in range(2):
            richness = np.repeat(rng.normal(30, 6, 15), 20)
            types = np.maximum(rng.normal(richness, 1), 5).round()
            sides.append(pd.DataFrame({"tokens": 50, "types": types, "block": np.repeat(np.arange(15), 20)}))
        table = growth.curve(*sides, "heaps", options, seed, Permutation((15, 15)))
        found += (table["p_empirical"] <= 0.05).any()
    assert found <= 6
