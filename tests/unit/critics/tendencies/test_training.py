"""Spread over samples of training texts, and the null distribution from permuting their texts."""

import numpy as np
import pandas as pd
import pytest

from macroscope.config.schema import parse_config
from macroscope.critics.findings import Findings
from macroscope.critics.tendencies.figures import plot_training_null
from macroscope.critics.tendencies.latents import align_types, read_token_counts
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.report import VARYING, permute_training_texts, spread_table

from .test_comparisons import collection, random_texts

SAMPLES = ["one", "two", "three"]


def findings(folder, statistics, names=SAMPLES):
    options = TendenciesOptions(training_samples=names, count_permutations=199)
    return Findings("tendencies", "c", folder, ["control", *SAMPLES], statistics, options, 0.95, folder)


def rows_of(values):
    """Return statistics of every system with these values; intervals have a standard error of 3."""
    systems = dict(zip(["control", *SAMPLES], values, strict=True))
    half = 3 * 1.959964
    return pd.DataFrame(
        [(system, name, value, value - half, value + half, 7) for system, value in systems.items() for name in VARYING],
        columns=["system", "statistic", "value", "ci_low", "ci_high", "seed"],
    )


def test_spread_is_the_standard_deviation_beside_the_standard_error(tmp_path):
    table = spread_table(findings(tmp_path, rows_of([10, 8, 10, 15]))).set_index("statistic")
    row = table.loc["mean length"]
    assert row["real text"] == "10"
    assert row["standard error over documents"] == "3"
    assert row["mean of training samples"] == "11"
    assert row["their standard deviation"] == "3.606"  # of 8, 10 and 15
    assert row["samples"] == 3
    assert spread_table(findings(tmp_path, rows_of([10, 8, 10, 15]), names=["one"])) is None


def test_permuted_training_texts_are_those_of_the_first_two_samples(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "latents").mkdir()
    for name in SAMPLES:
        collection(tmp_path / "latents", name, random_texts(rng, 40))
    observed, null = permute_training_texts(findings(tmp_path, rows_of([1, 1, 1, 1])))
    samples = [read_token_counts(tmp_path / f"latents/{name}.parquet") for name in SAMPLES[:2]]
    a, b = (np.asarray(counts.sum(axis=0)).ravel() for counts in align_types(*samples))
    assert observed == pytest.approx(np.abs(a / a.sum() - b / b.sum()).max())
    assert len(null) == 199
    assert null.min() < observed < null.max()
    assert permute_training_texts(findings(tmp_path, rows_of([1, 1, 1, 1]), names=[])) is None
    shown = pd.DataFrame({"statistic": ["tvd_sup"], "value": [0.1]})
    assert plot_training_null(observed, null, shown).axes[0].get_xlabel().startswith("unigrams")


def test_systems_that_are_not_training_texts_are_rejected():
    judged = [{"corpus": "c", "critics": ["tendencies"]}]
    config = {"corpora": {"c": {"source": "simulated"}}, "comparisons": judged}
    systems = {"t": {"kind": "training_texts"}}
    parse_config(config | {"systems": systems, "critics": {"tendencies": {"training_samples": ["t"]}}})
    with pytest.raises(Exception, match=r"critics\.tendencies\.training_samples\[0\]"):
        parse_config(config | {"systems": systems, "critics": {"tendencies": {"training_samples": ["u"]}}})
