"""Tests of the clusters critic on embeddings and texts with known clusters."""

import numpy as np
import pandas as pd
import pytest

from macroscope import arrays
from macroscope.critics.clusters import clustering, kmeans
from macroscope.critics.clusters.clustering import (
    Clustering,
    choose_number_of_clusters,
    fit,
    learn_shared,
    prepare,
    principal_components,
)
from macroscope.critics.clusters.comparison import (
    compare,
    compare_latents,
    compute_curve,
    describe,
    list_contributing_clusters,
    texts_table,
)
from macroscope.critics.clusters.latents import Embeddings
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.clusters.scoring import latent_nll_rows, score
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.divergences import Frontier, divergences, smooth_counts
from macroscope.statistics.permutation_groups import Permutation

RESAMPLING = Resampling(resamples=200, permutations=99)
OPTIONS = ClustersOptions(number_of_clusters=3, seeds=2, permutations=99, normalise=False)
CENTRES = np.array([[10.0, 0, 0], [0, 10.0, 0], [0, 0, 10.0]])


def blobs(counts, seed=0, name="t"):
    """Make embeddings in three well separated clusters with these counts."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(3), counts)
    vectors = (CENTRES[kinds] + 0.1 * rng.standard_normal((len(kinds), 3))).astype(np.float32)
    ids = [f"{name}{i}" for i in range(len(kinds))]
    return Embeddings(
        pd.DataFrame({"id": ids}), [f"text of kind {k}" for k in kinds], vectors, np.zeros(len(kinds), bool)
    )


# ---- clusterings -----------------------------------------------------------------------------------------------------


def test_principal_components_reach_the_share_and_not_more():
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal((4000, 4)) * [3, 2, 1, 0.1]).astype(np.float32)  # shares 9, 4, 1, .01 of 14.01
    assert [principal_components(vectors, share)[1].shape[0] for share in (0.5, 0.9, 0.95, 0.9999, 1.0)] == [
        1, 2, 3, 4, 4,
    ]  # fmt: skip


@pytest.mark.slow
def test_known_clusters_are_found_and_kept_on_disk(tmp_path):
    points = blobs((30, 20, 10))
    fitted = fit([prepare(points.vectors, OPTIONS)], 3, OPTIONS, seed=1)
    fitted.save(tmp_path / "inference")
    loaded = Clustering.load(tmp_path / "inference")
    labels = loaded.assign(points.vectors)
    assert labels.shape == (60, 2)
    for seed in range(2):
        assert sorted(np.bincount(labels[:, seed])) == [10, 20, 30]
        assert len(set(labels[:30, seed])) == 1


def test_number_of_clusters():
    assert choose_number_of_clusters(None, (5000, 400), 9999) == 30
    assert choose_number_of_clusters(None, (123, 118), 9999) == choose_number_of_clusters(None, (123, 150), 9999) == 10
    assert choose_number_of_clusters(None, (50000, 40000), 9999) == 500
    assert choose_number_of_clusters(None, (3, 3), 6) == 2
    assert choose_number_of_clusters(500, (20, 30), 45) == 45  # fewer texts than clusters


# ---- comparison ------------------------------------------------------------------------------------------------------


def rows_of(reference, candidate, options=OPTIONS, shared=None):
    comparison = compare(reference, candidate, shared, options, RESAMPLING)
    return comparison, comparison.rows.set_index("statistic")


def test_divergences_are_those_of_the_known_shares():
    _, rows = rows_of(blobs((30, 20, 10)), blobs((10, 20, 30), seed=1))
    p, q = smooth_counts([30, 20, 10], 1.0), smooth_counts([10, 20, 30], 1.0)
    for name, function in divergences(Frontier()).items():
        assert rows.loc[name, "value"] == pytest.approx(float(function(p, q)), abs=1e-12)
        assert rows.loc[name, "p_value"] == 0.01  # the least that 99 permutations can give
        assert rows.loc[f"{name}_seed_sd", "value"] == pytest.approx(0, abs=1e-12)
    assert rows.loc["clusters", "value"] == 3
    # Latent NLL of the candidate under the reference's shares.
    expected = -(10 * np.log(p[0]) + 20 * np.log(p[1]) + 30 * np.log(p[2])) / 60
    assert rows.loc["latent_nll", "value"] == pytest.approx(expected)
    assert rows.loc["latent_ppl", "value"] == pytest.approx(np.exp(expected))
    assert rows.loc["recall", "value"] < 1


def test_a_text_of_the_reference_is_scored_without_itself():
    labels = np.array([[0], [0], [1]], dtype=np.int32)
    scores = score(labels, labels, 2, 1.0)
    np.testing.assert_allclose(scores.nll[0][:, 0], -np.log([2 / 4, 2 / 4, 1 / 4]))
    np.testing.assert_allclose(scores.nll[1][:, 0], -np.log([3 / 5, 3 / 5, 2 / 5]))


def test_latent_nll_difference_is_insignificant_for_equal_shares_and_infinite_for_impossible_clusters():
    _, rows = rows_of(blobs((30, 20, 10)), blobs((30, 20, 10), seed=1))
    assert rows.loc["latent_nll_difference", "p_value"] > 0.05
    _, rows = rows_of(blobs((30, 20, 0)), blobs((20, 20, 10), seed=1), OPTIONS.model_copy(update={"smoothing": 0.0}))
    assert rows.loc["latent_nll", "value"] == np.inf
    assert rows.loc["backward_kl", "value"] == np.inf


def test_shared_clustering_is_used_as_it_is():
    three = fit([blobs((30, 30, 30)).vectors], 3, OPTIONS, seed=1)
    comparison, rows = rows_of(blobs((30, 20, 0)), blobs((20, 20, 0), seed=1), shared=three)
    assert rows.loc["clusters", "value"] == 3  # though these collections have only two kinds
    assert comparison.clustering is three


def test_published_convention():
    _, rows = rows_of(
        blobs((30, 20, 10)), blobs((10, 20, 30), seed=1), OPTIONS.model_copy(update={"convention": "published"})
    )
    p, q = smooth_counts([30, 20, 10], 1.0), smooth_counts([10, 20, 30], 1.0)
    # "forward" is the mean over the candidate's texts of the log-ratio of smoothed shares: unsmoothed weights.
    assert rows.loc["forward_kl", "value"] == pytest.approx(np.array([10, 20, 30]) / 60 @ np.log(q / p))
    assert rows.loc["exponentiated_kl", "value"] == pytest.approx(np.exp(-0.1 * rows.loc["forward_kl", "value"]))
    assert np.isnan(rows.loc["forward_kl", "ci_low"])


def test_texts_without_embedding_are_left_out_and_counted():
    points = blobs((30, 20, 10))
    points.vectors[:6] = np.nan
    comparison, rows = rows_of(points, blobs((30, 20, 10), seed=1))
    assert len(comparison.sides[0]) == 54
    assert rows.loc["jensen_shannon", "n_reference"] == 54
    assert describe(points, 0.95).set_index("statistic").loc["not_embedded_share", "value"] == pytest.approx(0.1)


def test_duplicates_and_empty_texts_are_counted():
    points = blobs((4, 0, 0))
    points.vectors[1] = points.vectors[0]
    points.excerpts[3] = ""
    shares = describe(points, 0.95).set_index("statistic")["value"]
    assert shares["duplicate_share"] == 0.25
    assert shares["empty_share"] == 0.25


def test_equal_embeddings_everywhere():
    """If all texts are equal, there is one cluster and no difference."""
    points = blobs((20, 0, 0))
    points.vectors[:] = 1.0
    _, rows = rows_of(points, points)
    assert rows.loc["clusters", "value"] == 1
    assert rows.loc["jensen_shannon", "value"] == 0


def test_a_side_that_is_too_small():
    with pytest.raises(MacroscopeError, match="the system has 1 text with an embedding"):
        rows_of(blobs((30, 20, 10)), blobs((1, 0, 0)))


def test_contributing_clusters_name_the_kinds_that_differ():
    comparison, _ = rows_of(blobs((30, 20, 10)), blobs((0, 20, 40), seed=1))
    table = list_contributing_clusters(comparison, OPTIONS)
    forward = table[table["divergence"] == "forward_kl"].iloc[0]
    assert forward["reference_example"] == "text of kind 0"
    assert forward["candidate_example"] == ""
    assert (forward["reference_texts"], forward["candidate_texts"]) == (30, 0)
    assert (table["share"] <= 1 + 1e-9).all()


def test_texts_table_has_every_text_of_both_sides():
    comparison, _ = rows_of(blobs((30, 20, 10), name="r"), blobs((10, 20, 30), 1, name="c"))
    table = texts_table(comparison)
    assert len(table) == 120
    candidate = table[table["side"] == "candidate"]
    np.testing.assert_allclose(np.exp(candidate["log_q"].unique().round(12)).sum(), 1.0, atol=1e-6)


@pytest.mark.slow
def test_divergences_by_number_of_clusters():
    options = OPTIONS.model_copy(update={"cluster_counts": [2, 6, 500]})
    comparison, rows = rows_of(blobs((30, 20, 10)), blobs((10, 20, 30), seed=1), options)
    curve = compute_curve(comparison, options, RESAMPLING)
    assert set(curve["clusters"]) == {2, 3, 6}  # there are no 500 embeddings
    at = curve.set_index(["clusters", "divergence"])
    for name in ("forward_kl", "mauve"):
        row = at.loc[(3, name)]
        for column in ("value", "ci_low", "ci_high", "p_value"):
            assert row[column] == rows.loc[name, column]
        assert row["corrected"] == rows.loc[f"{name}_corrected", "value"]
        assert row["seed_sd"] == rows.loc[f"{name}_seed_sd", "value"]
    assert ((at["ci_low"] <= at["value"]) & (at["value"] <= at["ci_high"])).all()
    assert (at["p_value"] <= 0.02).all()
    options = options.model_copy(update={"convention": "published"})
    comparison, _ = rows_of(blobs((30, 20, 10)), blobs((10, 20, 30), seed=1), options)
    published = compute_curve(comparison, options, RESAMPLING)
    assert published.loc[published["divergence"] != "frontier_integral", "value"].notna().all()
    assert published["p_value"].isna().all()


def test_real_text_is_compared_in_the_clusters_of_its_system():
    """The latent PPL of real text in its own clusters is that of its shares, each text without itself."""
    counts = np.array([30, 20, 10])
    _, rows = rows_of(blobs(tuple(counts)), blobs((20, 20, 20), seed=1))
    nll = -(counts / 60 * np.log((counts - 1 + 1) / (59 + 3))).sum()
    assert rows.loc["reference_latent_ppl", "value"] == pytest.approx(np.exp(nll))
    ratio = rows.loc["latent_ppl", "value"] / rows.loc["reference_latent_ppl", "value"]
    assert rows.loc["latent_ppl_ratio", "value"] == pytest.approx(ratio)
    assert rows.loc["latent_ppl_ratio", "p_value"] == rows.loc["latent_nll_difference", "p_value"]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2])
def test_intervals_account_for_the_estimated_prior(seeds):
    """With 50 real texts in five equal clusters, uncorrected 95 % intervals held the truth in 79 and 83 % of runs."""
    options, size, held = ClustersOptions(permutations=99), (50, 500), []
    for number in range(200):
        rng = np.random.default_rng([seeds, number])
        sides = tuple(rng.integers(5, size=(n, seeds)) for n in size)
        scores = score(*sides, 5, options.smoothing)
        resampling = Resampling(100, 99, seed=number)
        estimates = latent_nll_rows(sides, 5, scores, options, resampling, Permutation(size))
        by_name = {estimate.statistic: estimate for estimate in estimates}
        prior = [np.bincount(column, minlength=5) + 1 for column in sides[0].T]
        new = -np.log(np.array(prior) / 55).mean()
        truth = {"reference_latent_ppl": np.exp(new), "latent_nll_difference": 0.0}
        held.append([by_name[name].ci_low <= true <= by_name[name].ci_high for name, true in truth.items()])
    assert (np.mean(held, axis=0) > 0.92).all(), np.mean(held, axis=0)


def test_warning_names_systems_with_few_texts_per_cluster():
    """Halves of 500 real texts have 5 texts in each of 50 clusters, which is not a system's fault."""
    from macroscope.critics.clusters.report import _warning

    sizes = {"split_half": 250, "enough": 500, "few": 300}
    table = pd.DataFrame({"system": list(sizes), "statistic": "clusters", "value": 50.0})
    table = table.assign(n_reference=list(sizes.values()), n_candidate=list(sizes.values()))
    assert "(few)" in _warning(table)
    assert _warning(table[table["system"] != "few"]) is None


@pytest.mark.slow
def test_one_clustering_for_all_systems(tmp_path):
    """Two systems of different sizes; the shared clustering has all three kinds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = []
    for name, counts in (("control", (40, 20, 0)), ("a", (20, 0, 10)), ("b", (300, 300, 300))):
        points = blobs(counts, len(paths))
        flat = pa.FixedSizeListArray.from_arrays(pa.array(points.vectors.ravel()), 3)
        names = points.keys["id"].to_list()
        columns = {"id": names, "opening": names, "embedding": flat, "truncated": points.truncated}
        columns["excerpt"] = points.excerpts
        paths.append(tmp_path / f"{name}.parquet")
        pq.write_table(pa.table(columns), paths[-1])
    learn_shared(paths, options=OPTIONS, seed=1, output=tmp_path / "shared")
    values = []
    for system in ("a", "b"):
        table = compare_latents(
            paths[0],
            tmp_path / f"{system}.parquet",
            tmp_path / "shared",
            options=OPTIONS,
            resampling=RESAMPLING,
            evidence=tmp_path / system,
        ).set_index("statistic")
        assert table.loc["clusters", "value"] == 3
        values.append(table.loc["jensen_shannon", "value"])
    assert values[0] > values[1]


# ---- more vectors than memory ----------------------------------------------------------------------------------------


def test_unique_rows_are_counted_exactly(monkeypatch):
    monkeypatch.setattr(kmeans, "ROWS", 7)
    rng = np.random.default_rng(0)
    sides = [rng.integers(-1, 2, (size, 3)).astype(np.float32) for size in (20, 1, 15)]
    sides[0][sides[0] == 0] = -0.0
    assert kmeans.count_unique_rows(sides) == len(np.unique(np.concatenate(sides), axis=0)) > 10
    monkeypatch.setattr(kmeans, "_hashes", lambda vectors: np.zeros(len(vectors), np.uint64))  # all equal
    assert kmeans.count_unique_rows(sides) == len(np.unique(np.concatenate(sides), axis=0))
    assert kmeans.count_unique_rows([sides[0][:0]]) == 0


@pytest.mark.slow
def test_blocks_and_files_change_nothing(monkeypatch):
    sides = blobs((30, 20, 10)), blobs((10, 20, 30), seed=1)
    options = OPTIONS.model_copy(update={"normalise": True})
    whole, rows = rows_of(*sides, options)
    monkeypatch.setattr(kmeans, "ROWS", 7)
    monkeypatch.setattr(arrays, "_MOST_IN_MEMORY", 0)
    again, same = rows_of(*sides, options)
    pd.testing.assert_frame_equal(rows, same)
    np.testing.assert_array_equal(whole.labels[0], again.labels[0])


@pytest.mark.slow
def test_clusters_fitted_to_a_subset_are_almost_as_good(monkeypatch):
    rng = np.random.default_rng(0)
    centres = 2 * rng.standard_normal((30, 8))
    sides = [(centres[rng.integers(0, 30, n)] + rng.standard_normal((n, 8))).astype(np.float32) for n in (9000, 7000)]
    errors = []
    options = OPTIONS.model_copy(update={"explained_variance": 1.0, "restarts": 10})
    for most in (16_000, 8000):
        monkeypatch.setattr(clustering, "MOST_FITTED", most)
        monkeypatch.setattr(clustering, "FITTED_PER_CLUSTER", 250)
        fitted = fit(sides, 30, options, seed=1)
        assert fitted.learnt_on == most
        together = np.concatenate(sides)
        nearest_centroids = fitted.centroids[0][fitted.assign(together)[:, 0]]
        errors.append(((fitted.project(together) - nearest_centroids) ** 2).sum())
    assert errors[0] != errors[1]
    assert errors[1] <= 1.01 * errors[0]
