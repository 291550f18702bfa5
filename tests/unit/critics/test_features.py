"""What a critic sees of single documents, where its scores have some of them, or none."""

import numpy as np
import pandas as pd

from macroscope.critics.features import of_scores, with_scores
from macroscope.statistics.classifier_two_sample_test import DocumentFeatures


def scored(path, ids, nll):
    table = pd.DataFrame({"id": ids, "opening": "", "nll": nll, "units": 2.0, "entropy": 1.0})
    table.to_parquet(path)
    return path


def test_documents_that_are_not_judged_are_not_seen(tmp_path):
    features = of_scores(tmp_path, scored(tmp_path / "s.parquet", ["a", "b"], [4.0, np.nan]))
    assert features.keys["id"].tolist() == ["a"]
    np.testing.assert_allclose(features.numbers, [[2.0, 2.0, 0.5]])


def test_scores_stand_beside_by_id_and_as_wide_where_there_are_none(tmp_path):
    features = DocumentFeatures(pd.DataFrame({"id": ["b", "c", "a"]}), np.zeros((3, 1)))
    some = with_scores(features, tmp_path, scored(tmp_path / "s.parquet", ["a", "b"], [4.0, 6.0]))
    np.testing.assert_allclose(some.numbers[:, 1], [3.0, np.nan, 2.0])
    none = with_scores(features, tmp_path, scored(tmp_path / "n.parquet", ["a"], [np.nan]))
    assert none.numbers.shape == some.numbers.shape
    assert np.isnan(none.numbers[:, 1:]).all()
