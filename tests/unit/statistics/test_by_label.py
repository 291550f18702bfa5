"""Detectability by label: its numbers for labels that differ, few texts, missing labels and other mixes."""

import numpy as np
import pandas as pd
import pytest

from macroscope.statistics.by_label import (
    AUC,
    CONTRAST,
    DIFFER,
    FEWEST,
    MIX,
    UNLABELLED,
    WITHIN,
    compare_by_label,
    fill_labels,
)
from macroscope.statistics.document_features import DocumentFeatures


def features(name, values):
    values = np.asarray(values, dtype=float)[:, np.newaxis]
    return DocumentFeatures(pd.DataFrame({"id": [f"{name}{n}" for n in range(len(values))]}), values)


def compare(real, generated, labels, of_other):
    rows = compare_by_label((features("real", real), features("other", generated)), (labels, of_other), 0.95, 199, 1)
    return {row.estimate.statistic: row for row in rows}


def two_labels(shifts, n=40, seed=0):
    rng = np.random.default_rng(seed)
    labels = ["news"] * n + ["stories"] * (n - 5)
    return (
        rng.normal(size=len(labels)),
        rng.normal(size=len(labels)) + np.where(np.array(labels) == "news", *shifts),
        labels,
    )


def test_a_label_that_is_separated_completely_differs_from_one_that_is_alike():
    real, generated, labels = two_labels((50, 0))
    rows = compare(real, generated, labels, labels)
    news, stories = rows[f"{AUC}1"], rows[f"{AUC}2"]
    assert (news.label, news.sizes, news.estimate.value) == ("news", (40, 40), 1)
    assert stories.label == "stories"
    assert stories.estimate.ci_low < 0.5 < stories.estimate.ci_high
    contrast = rows[f"{CONTRAST}1"].estimate
    assert contrast.value == pytest.approx(1 - stories.estimate.value)
    assert contrast.ci_low > 0
    assert rows[DIFFER].estimate.p_value == contrast.p_value < 0.05
    weights = np.array([20, 17.5])
    assert rows[WITHIN].estimate.value == pytest.approx(weights @ [1, stories.estimate.value] / weights.sum())
    assert rows[MIX].estimate.value == 0
    assert rows[MIX].estimate.p_value == 1


def test_opposite_differences_of_labels_are_found_in_each():
    real, generated, labels = two_labels((3, -3))
    rows = compare(real, generated, labels, labels)
    assert min(rows[f"{AUC}{number}"].estimate.ci_low for number in (1, 2)) > 0.7


def test_labels_shift_the_numbers_of_both_sides_alike():
    real, generated, labels = two_labels((0, 0))
    level = np.where(np.array(labels) == "news", 100, 0)
    rows = compare(real + level, generated[::-1] + level[::-1], labels, labels[::-1])
    assert all(rows[f"{AUC}{number}"].estimate.p_value > 0.05 for number in (1, 2))


def test_few_texts_have_no_number_and_a_reason():
    real, generated, labels = two_labels((1, 1), n=FEWEST + 4)
    rows = compare(real, generated, labels, labels)
    few = rows[f"{AUC}2"]
    assert np.isnan(few.estimate.value)
    assert "9 real and 9 other texts" in few.reason
    assert WITHIN not in rows


def test_texts_without_a_label_and_labels_of_one_side_are_counted():
    real, generated, labels = two_labels((1, 1))
    rows = compare(real, generated, labels[:-3] + [None] * 3, [*labels[:-20], *["poems"] * 20])
    assert rows[UNLABELLED].sizes == (3, 0)
    poems = next(row for row in rows.values() if row.label == "poems")
    assert poems.sizes == (0, 20)
    assert np.isnan(poems.estimate.value)


def test_another_mix_is_found():
    real, generated, labels = two_labels((0, 0))
    rows = compare(real, generated[:50], labels, ["news"] * 10 + ["stories"] * 40)
    assert rows[MIX].estimate.value == pytest.approx(40 / 75 - 10 / 50)
    assert rows[MIX].estimate.p_value < 0.05


def test_a_text_has_the_label_of_its_prompt_if_that_is_one_alone():
    labels = pd.Series(["a", None, "a", "b", None, None], dtype=object)
    filled = fill_labels(labels, np.array([0, 0, 1, 1, 1, 2]))
    assert filled.where(filled.notna(), None).tolist() == ["a", "a", "a", "b", None, None]
