"""Latent NLL and PPL, with intervals and p-values, from scores."""

import numpy as np
import pandas as pd
import pytest

from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.latent import compare_score_files, compare_scores, pooled_perplexity

RESAMPLING = Resampling(resamples=400, permutations=400, seed=1)


def scores(n, rate, seed):
    rng = np.random.default_rng(seed)
    units = rng.integers(3, 9, size=n)
    nll = rng.gamma(units * 4, rate / 4)
    return pd.DataFrame({"id": [f"d{i}" for i in range(n)], "nll": nll, "units": units, "entropy": nll / 2})


def values(table):
    return table.set_index("statistic")["value"].to_dict()


def test_latent_ppl_is_pooled_over_documents():
    table = pd.DataFrame({"id": ["a", "b"], "nll": [2.0, 6.0], "units": [2, 6], "entropy": [1.0, 3.0]})
    statistics = values(compare_scores(table, table, RESAMPLING))
    assert statistics["latent_nll"] == 4
    assert statistics["latent_ppl"] == pytest.approx(np.e)
    assert statistics["posterior_entropy"] == pytest.approx(0.5)


def test_control_has_no_p_value_and_no_ratio():
    control = scores(40, 1.0, 0)
    table = compare_scores(control, control, RESAMPLING)
    assert table["p_value"].isna().all()
    assert "latent_ppl_ratio" not in set(table["statistic"])


def test_the_same_distribution_is_not_significant_and_a_worse_one_is():
    control = scores(150, 1.0, 0)
    same, worse = (
        compare_scores(control, scores(150, 1.0, 1), RESAMPLING),
        compare_scores(control, scores(150, 1.3, 2), RESAMPLING),
    )
    p = [t.set_index("statistic").at["latent_ppl", "p_value"] for t in (same, worse)]
    assert p[0] > 0.05
    assert p[1] == pytest.approx(1 / 401)
    ratio = worse.set_index("statistic").loc["latent_ppl_ratio"]
    assert ratio["ci_low"] > 1
    assert ratio["ci_low"] < ratio["value"] < ratio["ci_high"]


def test_undefined_documents_do_not_count():
    control = scores(20, 1.0, 0).assign(nll_gold=1.0)
    candidate = scores(20, 1.0, 1).assign(nll_gold=[np.nan] * 12 + [2.0] * 8)
    row = compare_scores(control, candidate, RESAMPLING).set_index("statistic").loc["latent_ppl_gold"]
    assert (row["n_candidate"], row["n_reference"]) == (8, 20)


@pytest.mark.slow
def test_interval_covers_the_true_latent_ppl():
    hits = 0
    for seed in range(150):
        sample = scores(60, 1.0, seed + 10)
        _, low, high = pooled_perplexity(sample["nll"].to_numpy(), sample["units"].to_numpy(), RESAMPLING)
        hits += low <= np.e <= high
    assert 0.89 <= hits / 150 <= 0.99


def test_files(tmp_path):
    scores(30, 1.0, 0).to_parquet(tmp_path / "control.parquet")
    scores(30, 1.1, 1).to_parquet(tmp_path / "mine.parquet")
    labels = {"corpus": "c", "system": "s", "critic": "k", "signature": "a:1", "resampling": RESAMPLING}
    for name in ("one.csv", "two.csv"):
        compare_score_files(tmp_path / "control.parquet", tmp_path / "mine.parquet", tmp_path / name, **labels)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    table = pd.read_csv(tmp_path / "one.csv")
    assert list(table.columns[:4]) == ["corpus", "system", "critic", "statistic"]
    assert table["signature"].str.contains(r"a:1\|resamples:400").all()
    assert table["n_paired"].eq(30).all()
    assert table["smallest_p"].tolist() == pytest.approx([2.0**-29] * len(table))


def test_bad_scores_are_an_error_of_one_sentence(tmp_path):
    pd.DataFrame({"id": ["a"]}).to_parquet(tmp_path / "scores.parquet")
    labels = {"corpus": "", "system": "", "critic": "", "signature": "", "resampling": RESAMPLING}
    with pytest.raises(MacroscopeError, match="no column 'nll'"):
        compare_score_files(tmp_path / "scores.parquet", tmp_path / "scores.parquet", tmp_path / "out.csv", **labels)
    with pytest.raises(MacroscopeError, match="no such file"):
        compare_score_files(tmp_path / "none.parquet", tmp_path / "none.parquet", tmp_path / "out.csv", **labels)


def test_a_corrected_perplexity_is_at_least_1():
    """A little below, it is 1; far below, the correction does not apply."""
    rng = np.random.default_rng(3)
    for mean, expected in ((-0.01, 1.0), (-1.0, np.nan)):
        table = scores(60, 1.0, 0).assign(nll_corrected=rng.normal(mean, 0.5, 60))
        row = compare_scores(scores(60, 1.0, 1), table, RESAMPLING).set_index("statistic").loc["latent_ppl_corrected"]
        assert row["value"] == pytest.approx(expected, nan_ok=True)
        assert ("errs less on these texts" in row["reason"]) == np.isnan(expected)
        assert not row["ci_low"] < 1
