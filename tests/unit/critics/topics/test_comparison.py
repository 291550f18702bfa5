"""Comparison of two collections under one topic model: invariances, detected differences, tables and figures."""

import numpy as np
import pandas as pd
import pytest
import torch

from macroscope.critics.topic_shares import Comparison, TopicShares, describe, share_differences
from macroscope.critics.topics.comparison import (
    compare,
    compute_relative_strengths,
    tabulate_outliers,
    tabulate_pairs,
)
from macroscope.critics.topics.figures import Panel, order_topics, plot_covariances
from macroscope.critics.topics.latents import TopicStrengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.report import model_warning
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.options import Resampling

from .simulated import random_model, sample_strengths

RESAMPLING = Resampling(resamples=200, permutations=199)
OPTIONS = TopicsOptions(permutations=199)


def _texts(means, start=0, words=None):
    n = len(means)
    keys = pd.DataFrame({"id": [f"d{start + k}" for k in range(n)], "opening": [""] * n})
    words = np.full(n, 50) if words is None else words
    return TopicStrengths(keys, words, means, np.ones(n, dtype=bool))


def test_the_fixed_topic_does_not_matter():
    model, rng = random_model(5, 20), np.random.default_rng(0)
    means = sample_strengths(model, 30, rng)
    # The same model with the first topic's strength fixed instead of the last one's.
    change = np.eye(4, k=1) - np.outer(np.ones(4), [1, 0, 0, 0])
    parts = change @ model.mean.numpy(), change @ model.covariance.numpy() @ change.T, model.topics.numpy()
    changed = CorrelatedTopicModel(*map(torch.from_numpy, (parts[0], parts[1], np.roll(parts[2], -1, axis=0))))
    first, second = compute_relative_strengths(means, model), compute_relative_strengths(means @ change.T, changed)
    assert np.allclose(np.roll(first, -1, axis=1), second)
    assert np.allclose(first.shape, (30, 5))


def test_relative_strengths_of_the_prior_have_variance_1():
    model = random_model(6, 20)
    strengths = compute_relative_strengths(sample_strengths(model, 20_000, np.random.default_rng(1)), model)
    assert np.allclose(strengths.mean(axis=0), 0, atol=0.04)
    assert np.allclose(strengths.var(axis=0), 1, atol=0.06)


def test_lost_correlations_are_found_and_others_are_not():
    model, rng = random_model(5, 20, seed=3), np.random.default_rng(2)
    reference, alike = (_texts(sample_strengths(model, 150, rng), start) for start in (0, 1000))
    spread = np.sqrt(np.diag(model.covariance.numpy()))
    lost = _texts(model.mean.numpy() + spread * rng.normal(size=(150, 4)), 2000)
    p_values = {
        name: compare(reference, candidate, model, OPTIONS, RESAMPLING).rows.set_index("statistic")["p_value"]
        for name, candidate in (("alike", alike), ("lost", lost))
    }
    assert p_values["lost"]["covariance_discrepancy"] == 0.005
    assert p_values["alike"]["covariance_discrepancy"] > 0.05


def test_texts_without_words_are_counted_and_left_out():
    model = random_model(3, 10)
    means = sample_strengths(model, 20, np.random.default_rng(0))
    means[:4] = np.nan
    reference = _texts(means, words=np.array([0] * 4 + [9] * 16))
    comparison = compare(reference, _texts(means[4:], 100), model, OPTIONS, RESAMPLING)
    assert len(comparison.sides[0]) == 16
    rows = describe(reference, RESAMPLING).set_index("statistic")
    assert rows.loc["without_words_share", "value"] == 0.2
    assert rows.loc["known_words", "value"] == 9 * 16 / 20


@pytest.mark.parametrize("texts", [0, 1])
def test_too_few_texts_are_undefined_and_nothing_is_lost(texts):
    model = random_model(3, 10)
    means = sample_strengths(model, 20, np.random.default_rng(0))
    comparison = compare(_texts(means), _texts(means[:texts], 100), model, OPTIONS, RESAMPLING)
    assert comparison.rows["value"].isna().all()
    assert (comparison.rows["reason"] != "").all()
    assert {"covariance_discrepancy", "mmd_squared", "jensen_shannon"} <= set(comparison.rows["statistic"])
    assert tabulate_pairs(comparison, list("abc"), model)["candidate_correlation"].isna().all()
    table = share_differences(*comparison.shares, list("abc"), RESAMPLING)
    assert table[["candidate_share", "difference", "p_adjusted"]].isna().all(axis=None)


def test_pairs_that_differ_most_come_first():
    model = random_model(4, 10)
    rng = np.random.default_rng(4)
    first = rng.normal(size=(400, 3))
    second = first.copy()
    second[:, 1] = second[:, 0] + 0.1 * rng.normal(size=400)
    sides = tuple(_texts(means) for means in (first, second))
    shares = tuple(TopicShares(strengths.keys, np.full((400, 4), 0.25)) for strengths in sides)
    table = tabulate_pairs(Comparison(pd.DataFrame(), sides, shares), list("abcd"), model)
    assert tuple(table.loc[0, ["first", "second"]]) == ("a", "b")
    assert table.loc[0, "candidate_correlation"] > table.loc[0, "reference_correlation"] + 0.5


def test_outliers_have_their_topics_and_texts(tmp_path):
    model = random_model(3, 10)
    texts = [Document(f"d{n}", "test", None, (Section(None, f"text {n}"),)) for n in range(3)]
    write_documents(tmp_path / "t.parquet", texts, Provenance("c"))
    means = np.array([[0.0, 0.0], [5.0, 0.0], [np.nan, np.nan]])
    scores = pd.DataFrame({"id": ["d0", "d1", "d2"], "nll": [1.0, 9.0, np.nan], "words": [3, 4, 0]})
    table = tabulate_outliers(Collection(tmp_path / "t.parquet"), scores, _texts(means), ["a b", "c d", "e f"], model)
    assert list(table["id"]) == ["d1", "d0"]
    assert table.loc[0, "topics"].startswith("a b (99%)")
    assert table.loc[0, "text"] == "text 1"


def test_topics_stand_in_the_order_of_the_first_panel():
    covariance = np.array([[1, 0, 0.9, 0], [0, 1, 0, 0.9], [0.9, 0, 1, 0], [0, 0.9, 0, 1]])
    order = order_topics(covariance)
    assert abs(order.index(0) - order.index(2)) == abs(order.index(1) - order.index(3)) == 1
    panels = [Panel("control", covariance), Panel("other", np.eye(4))]
    figure = plot_covariances(panels, 1.0, "covariance", left_out=1)
    shown = figure.axes[0].images[0].get_array()
    assert np.allclose(shown, covariance[np.ix_(order, order)])
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["real text", "other"]


def test_a_model_that_predicts_nothing_is_not_usable():
    validation = {"completion_perplexity": 80.0, "unigram_perplexity": 100.0}
    assert model_warning(validation) is None
    assert "Do not rely" in model_warning(validation | {"completion_perplexity": 120.0})
    assert "perplexity of infinity" in model_warning(validation | {"completion_perplexity": None})
    assert "cannot be evaluated" in model_warning({"completion_perplexity": None, "unigram_perplexity": None})
