"""Features of single documents, if scores cover some of them or none."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.features import add_score_features, read_score_features, subsample
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


def write(path, ids, **columns):
    pd.DataFrame({"id": ids, **columns}).to_parquet(path, index=False)
    return path


def test_small_collections_are_not_copied(tmp_path):
    ids = [f"d{n // 3}" for n in range(300)]
    files = write(tmp_path / "latents.parquet", ids), write(tmp_path / "scores.parquet", sorted(set(ids)))
    for most in (300, 100):
        with subsample(*files, seed=1, most=most) as paths:
            assert paths == files


def test_the_same_documents_of_latents_and_scores_in_their_order(tmp_path):
    ids = [f"d{n // 3}" for n in range(3000)]
    latents = write(tmp_path / "latents.parquet", ids, place=range(3000))
    scores = write(tmp_path / "scores.parquet", [f"d{n}" for n in range(1000)], nll=range(1000))
    with subsample(latents, scores, seed=1, most=100) as paths:
        sampled, scored = map(pd.read_parquet, paths)
    assert sampled["id"].nunique() == len(scored) == 100
    assert sampled["place"].is_monotonic_increasing
    assert (sampled.groupby("id").size() == 3).all()
    assert set(sampled["id"]) == set(scored["id"])
    assert not any(path.exists() for path in paths)
    with subsample(latents, None, seed=2, most=100) as (path, none):
        others = set(pd.read_parquet(path)["id"])
    assert none is None
    assert len(others & set(scored["id"])) < 30


@pytest.mark.parametrize("seed", range(5))
def test_paired_documents_are_chosen_together_and_all_are_equally_likely(tmp_path, seed):
    first = write(tmp_path / "first.parquet", [f"d{n}" for n in range(2000)])
    second = write(tmp_path / "second.parquet", [f"d{n}" for n in range(1999, -1, -1)])
    with subsample(first, None, seed, most=500) as (path_a, _), subsample(second, None, seed, most=500) as (path_b, _):
        chosen = pd.read_parquet(path_a)["id"]
        assert set(chosen) == set(pd.read_parquet(path_b)["id"])
    places = chosen.str[1:].astype(int)
    assert abs(places.mean() - 999.5) < 4 * 577 / 500**0.5
