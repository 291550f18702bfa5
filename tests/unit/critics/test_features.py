"""Features of single documents, if scores cover some of them or none."""

import numpy as np
import pandas as pd

from macroscope.critics.features import add_score_features, read_score_features
from macroscope.statistics.document_features import DocumentFeatures


def scored(path, ids, nll):
    table = pd.DataFrame({"id": ids, "opening": "", "nll": nll, "units": 2.0, "entropy": 1.0})
    table.to_parquet(path)
    return path


def test_documents_that_are_not_judged_have_no_features(tmp_path):
    features = read_score_features(tmp_path, scored(tmp_path / "s.parquet", ["a", "b"], [4.0, np.nan]))
    assert features.keys["id"].tolist() == ["a"]
    np.testing.assert_allclose(features.numbers, [[2.0, 2.0, 0.5]])


def test_scores_are_appended_by_id_with_a_constant_width(tmp_path):
    features = DocumentFeatures(pd.DataFrame({"id": ["b", "c", "a"]}), np.zeros((3, 1)))
    partial = add_score_features(features, tmp_path, scored(tmp_path / "s.parquet", ["a", "b"], [4.0, 6.0]))
    np.testing.assert_allclose(partial.numbers[:, 1], [3.0, np.nan, 2.0])
    none = add_score_features(features, tmp_path, scored(tmp_path / "n.parquet", ["a"], [np.nan]))
    assert none.numbers.shape == partial.numbers.shape
    assert np.isnan(none.numbers[:, 1:]).all()
