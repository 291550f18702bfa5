"""A random part of very many documents, the same in every file."""

import pandas as pd
import pytest

from macroscope.critics.subsampling import subsampled


def write(path, ids, **columns):
    pd.DataFrame({"id": ids, **columns}).to_parquet(path, index=False)
    return path


def test_few_documents_are_read_where_they_are(tmp_path):
    ids = [f"d{n // 3}" for n in range(300)]
    files = write(tmp_path / "latents.parquet", ids), write(tmp_path / "scores.parquet", sorted(set(ids)))
    for most in (300, 100):
        with subsampled(*files, seed=1, most=most) as found:
            assert found == files


def test_the_same_documents_of_latents_and_scores_in_their_order(tmp_path):
    ids = [f"d{n // 3}" for n in range(3000)]
    latents = write(tmp_path / "latents.parquet", ids, place=range(3000))
    scores = write(tmp_path / "scores.parquet", [f"d{n}" for n in range(1000)], nll=range(1000))
    with subsampled(latents, scores, seed=1, most=100) as found:
        some, scored = map(pd.read_parquet, found)
    assert some["id"].nunique() == len(scored) == 100
    assert some["place"].is_monotonic_increasing
    assert (some.groupby("id").size() == 3).all()
    assert set(some["id"]) == set(scored["id"])
    assert not any(path.exists() for path in found)
    with subsampled(latents, None, seed=2, most=100) as (path, none):
        others = set(pd.read_parquet(path)["id"])
    assert none is None
    assert len(others & set(scored["id"])) < 30


@pytest.mark.parametrize("seed", range(5))
def test_partners_stay_together_and_all_are_as_likely(tmp_path, seed):
    first = write(tmp_path / "first.parquet", [f"d{n}" for n in range(2000)])
    second = write(tmp_path / "second.parquet", [f"d{n}" for n in range(1999, -1, -1)])
    with subsampled(first, None, seed, most=500) as (one, _), subsampled(second, None, seed, most=500) as (other, _):
        chosen = pd.read_parquet(one)["id"]
        assert set(chosen) == set(pd.read_parquet(other)["id"])
    places = chosen.str[1:].astype(int)
    assert abs(places.mean() - 999.5) < 4 * 577 / 500**0.5
