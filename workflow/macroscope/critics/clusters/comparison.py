"""Stage `compare` of the clusters critic: statistics of a candidate and a reference, and the evidence.

The evidence has texts, contributing clusters, and divergences by number of clusters.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.clusters.clustering import Clustering, choose_number_of_clusters, fit, prepare
from macroscope.critics.clusters.kmeans import Labels, blocks, count_unique_rows
from macroscope.critics.clusters.latents import Embeddings, read_embeddings
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.clusters.scoring import Scores, latent_nll_rows, score
from macroscope.critics.split_half import compare_with_control
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.phrases import format_count
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import Frontier, contributions, divergences, smooth_counts
from macroscope.statistics.permutation_groups import Permutation, build_permutation
from macroscope.statistics.sampled_divergences import published_divergences
from macroscope.statistics.tidy import UNDEFINED, Estimate, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors
from macroscope.tables import write_csv

_GIVEN = "under the distribution over clusters that is estimated from these real texts"
_NULL = "system and real text have the same distribution over clusters"
STATISTICS = (
    Statistic("*_share", "share of the system's texts"),
    Statistic("clusters"),
    Statistic("learnt_on"),
    Statistic("latent_nll", f"mean latent NLL of the system {_GIVEN}"),
    Statistic("latent_ppl", f"latent PPL of the system {_GIVEN}"),
    Statistic("reference_latent_ppl", f"latent PPL of real text {_GIVEN}"),
    Statistic("latent_nll_difference", f"mean latent NLL of the system minus that of real text, {_GIVEN}", _NULL),
    Statistic(
        "latent_ppl_ratio", f"latent PPL of the system over that of real text, {_GIVEN}", _NULL, difference=False
    ),
)


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison under one clustering.

    Attributes
    ----------
    rows
        Statistics, with the columns `statistics.tidy.ROWS`.
    sides
        Embeddings of reference and candidate; texts without embedding are left out.
    labels
        Clusters of reference and candidate (texts x seeds).
    clustering
        Clustering that assigns the labels.
    scores
        Log-probabilities of all texts.
    divergences
        Results of `divergence_rows`.
    """

    rows: pd.DataFrame
    sides: tuple[Embeddings, Embeddings]
    labels: tuple[Labels, Labels]
    clustering: Clustering
    scores: Scores
    divergences: list[Estimate]


def describe(texts: Embeddings, confidence: float) -> pd.DataFrame:
    """Compute the shares of texts that are cut, are empty, repeat an earlier one, and have no finite embedding."""
    has_embedding = texts.has_embedding()
    with_embedding = texts.select(has_embedding)
    counts = {
        "truncated_share": int(texts.truncated.sum()),
        "empty_share": sum(not excerpt for excerpt in texts.excerpts),
        "duplicate_share": len(with_embedding) - count_unique_rows([with_embedding.vectors]),
        "not_embedded_share": int((~has_embedding).sum()),
    }
    return shares_table(counts, len(texts), confidence)


def compare(
    reference: Embeddings,
    candidate: Embeddings,
    shared: Clustering | None,
    options: ClustersOptions,
    resampling: Resampling,
) -> Comparison:
    """Cluster reference and candidate together, and compare them.

    Parameters
    ----------
    shared
        Clustering that all systems share; None: fit one to reference and candidate.

    Returns
    -------
    Comparison
        Rows: `clusters` (K); `learnt_on` (number of embeddings that the clustering is fitted to); the divergences of
        `statistics.categorical`; `latent_nll`, `latent_ppl` of the candidate's clusters under the reference's
        distribution (nats per text), `reference_latent_ppl` of the reference, with the difference and the ratio of the
        two; and on the embeddings `mmd_squared`, `energy_distance`, `precision`, `recall`.

    Raises
    ------
    MacroscopeError
        If reference or candidate has fewer than two texts with an embedding.
    """
    sides = [collection.select(collection.has_embedding()) for collection in (reference, candidate)]
    for name, collection in zip(("the control", "the system"), sides, strict=True):
        if len(collection) < 2:
            raise MacroscopeError(
                f"{name} has {format_count(len(collection), 'text')} with an embedding, and the clusters critic needs"
                " two; give more texts"
            )
    vectors = [prepare(collection.vectors, options) for collection in sides]
    clustering = shared or _fit_jointly(vectors, options.number_of_clusters, options, resampling.seed)
    labels = clustering.assign(vectors[0]), clustering.assign(vectors[1])
    scores = score(labels[0], labels[1], clustering.clusters, options.smoothing)
    permutation = build_permutation(sides[0].keys, sides[1].keys)
    estimates = [
        Estimate("clusters", float(clustering.clusters)),
        Estimate("learnt_on", float(clustering.learnt_on)),
    ]
    divergence_estimates = divergence_rows(labels, clustering.clusters, scores, options, resampling, permutation)
    estimates += divergence_estimates
    estimates += latent_nll_rows(labels, clustering.clusters, scores, options, resampling, permutation)
    rng = np.random.default_rng(resampling.seed)
    selections = [_sample_indices(len(collection), options.most_vectors, rng) for collection in vectors]
    sampled = [collection[selection] for collection, selection in zip(vectors, selections, strict=True)]
    sampled_permutation = build_permutation(
        *(collection.keys.iloc[selection] for collection, selection in zip(sides, selections, strict=True))
    )
    of_vectors = compare_vectors(
        sampled[0], sampled[1], options.neighbours, options.permutations, resampling, sampled_permutation
    )
    sizes = (len(sides[0]), len(sides[1]))
    sampled_sizes = (len(sampled[0]), len(sampled[1]))
    tables = [rows_table(estimates, sizes, _reason), rows_table(of_vectors, sampled_sizes, _reason)]
    table = pd.concat(tables, ignore_index=True)
    return Comparison(table, (sides[0], sides[1]), labels, clustering, scores, divergence_estimates)


def divergence_rows(
    labels: tuple[Labels, Labels],
    clusters: int,
    scores: Scores,
    options: ClustersOptions,
    resampling: Resampling,
    permutation: Permutation,
) -> list[Estimate]:
    """Compute the divergences between the cluster distributions, under the convention of the options."""
    frontier = Frontier(options.scale, options.weights)
    if options.convention == "published":
        ratios = [log_p - log_q for log_p, log_q in zip(scores.log_p, scores.log_q, strict=True)]
        by_seed = [published_divergences(ratios[0][:, s], ratios[1][:, s], frontier) for s in range(labels[0].shape[1])]
        values = {same[0].statistic: [estimate.value for estimate in same] for same in zip(*by_seed, strict=True)}
        means = [Estimate(name, float(np.mean(seed_values))) for name, seed_values in values.items()]
        spreads = [
            Estimate(f"{name}_seed_sd", float(np.std(seed_values, ddof=1)) if len(seed_values) > 1 else UNDEFINED)
            for name, seed_values in values.items()
        ]
        return means + spreads
    counts = [[one_hot(side_labels[:, s], clusters) for s in range(side_labels.shape[1])] for side_labels in labels]
    divergence_options = DivergenceOptions(options.smoothing, frontier, options.permutations)
    return compare_categories(counts[0], counts[1], divergence_options, resampling, permutation)


def compute_curve(comparison: Comparison, options: ClustersOptions, resampling: Resampling) -> pd.DataFrame:
    """Compute divergences under further numbers of clusters (Figures 4, 8, 9); see `divergence_rows`.

    Returns
    -------
    data frame
        clusters, divergence, value, ci_low, ci_high, p_value, seed_sd; corrected, corrected_low, corrected_high:
        without small-sample bias. Values that the convention does not have are nan; numbers of clusters that exceed
        the number of unique embeddings are left out.
    """
    estimates_by_clusters = {comparison.clustering.clusters: comparison.divergences}
    if further := {*options.cluster_counts} - {*estimates_by_clusters}:
        vectors = [prepare(embeddings.vectors, options) for embeddings in comparison.sides]
        permutation = build_permutation(comparison.sides[0].keys, comparison.sides[1].keys)
        for clusters in further:
            clustering = _fit_jointly(vectors, clusters, options, resampling.seed)
            if clustering.clusters != clusters:
                continue
            labels = clustering.assign(vectors[0]), clustering.assign(vectors[1])
            scores = score(labels[0], labels[1], clusters, options.smoothing)
            estimates_by_clusters[clusters] = divergence_rows(
                labels, clusters, scores, options, resampling, permutation
            )
    tables = []
    for clusters, estimates in sorted(estimates_by_clusters.items()):
        by_name = {estimate.statistic: estimate for estimate in estimates}
        names = [name for name in divergences(Frontier(options.scale, options.weights)) if name in by_name]
        tables.append(pd.DataFrame([_curve_row(clusters, name, by_name) for name in names]))
    return pd.concat(tables, ignore_index=True)


def _curve_row(clusters: int, name: str, estimates: dict[str, Estimate]) -> dict[str, object]:
    plug_in = estimates[name]
    corrected, spread = (
        estimates.get(f"{name}_{suffix}", Estimate(f"{name}_{suffix}", UNDEFINED))
        for suffix in ("corrected", "seed_sd")
    )
    return {
        "clusters": clusters,
        "divergence": name,
        "value": plug_in.value,
        "ci_low": plug_in.ci_low,
        "ci_high": plug_in.ci_high,
        "p_value": plug_in.p_value,
        "seed_sd": spread.value,
        "corrected": corrected.value,
        "corrected_low": corrected.ci_low,
        "corrected_high": corrected.ci_high,
    }


def _fit_jointly(vectors: list[np.ndarray], requested: int | None, options: ClustersOptions, seed: int) -> Clustering:
    """Fit one clustering to reference and candidate."""
    clusters = choose_number_of_clusters(requested, (len(vectors[0]), len(vectors[1])), count_unique_rows(vectors))
    return fit(vectors, clusters, options, seed)


def _sample_indices(size: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(size) if size <= most else np.sort(rng.choice(size, most, replace=False))


def _reason(_: str) -> str:
    return "too few texts, or infinite without smoothing"


# ---- evidence --------------------------------------------------------------------------------------------------------

SIDES = ("reference", "candidate")
CLUSTERS_SHOWN = 10


def write_evidence(output: Path, comparison: Comparison, curve: pd.DataFrame, options: ClustersOptions) -> None:
    """Write the evidence of a system into the folder `output`.

    texts.parquet
        id, side, nll (T(x)), log_p, log_q (nats; means over the seeds), and cluster_<seed>.
    contributions.csv
        Clusters that contribute most to each divergence, with an example of the reference and of the candidate; first
        seed only.
    by_clusters.csv
        Divergences by number of clusters.
    """
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        texts_table(comparison).to_parquet(folder / "texts.parquet", index=False)
        write_csv(list_contributing_clusters(comparison, options), folder / "contributions.csv")
        write_csv(curve, folder / "by_clusters.csv")


def texts_table(comparison: Comparison) -> pd.DataFrame:
    """Return clusters and log-probabilities of all texts of reference and candidate."""
    tables = []
    for number, collection in enumerate(SIDES):
        table = pd.DataFrame({"id": comparison.sides[number].keys["id"].to_numpy(), "side": collection})
        for name in ("nll", "log_p", "log_q"):
            table[name] = getattr(comparison.scores, name)[number].mean(axis=1)
        for seed, column in enumerate(comparison.labels[number].T):
            table[f"cluster_{seed}"] = column
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def list_contributing_clusters(comparison: Comparison, options: ClustersOptions) -> pd.DataFrame:
    """Return the clusters that contribute most to each divergence, under the first seed.

    Returns
    -------
    data frame
        divergence, cluster, contribution (nats, or the divergence's unit), share (of the positive contributions),
        reference_texts, candidate_texts (counts), reference_example, candidate_example: the texts nearest to the
        cluster's centroid; empty if there is none.
    """
    counts = [np.bincount(labels[:, 0], minlength=comparison.clustering.clusters) for labels in comparison.labels]
    p, q = (smooth_counts(side_counts, options.smoothing) for side_counts in counts)
    examples = [_examples(comparison, number, options) for number in range(2)]
    rows = []
    for name, values in contributions(p, q, Frontier(options.scale, options.weights)).items():
        total = np.maximum(values, 0).sum()
        for cluster in np.argsort(-values, kind="stable")[:CLUSTERS_SHOWN]:
            if not values[cluster] > 0:
                break
            texts = (counts[0][cluster], counts[1][cluster])
            cluster_examples = [side_counts.get(int(cluster), "") for side_counts in examples]
            rows.append((name, int(cluster), values[cluster], values[cluster] / total, *texts, *cluster_examples))
    names = ["divergence", "cluster", "contribution", "share", "reference_texts", "candidate_texts"]
    return pd.DataFrame(rows, columns=[*names, "reference_example", "candidate_example"])


def _examples(comparison: Comparison, number: int, options: ClustersOptions) -> dict[int, str]:
    """Return, by cluster, the text of the reference (0) or candidate (1) nearest to the cluster's centroid."""
    texts, labels, clustering = comparison.sides[number], comparison.labels[number][:, 0], comparison.clustering
    distances = np.empty(len(texts), np.float32)
    for block in blocks(len(texts)):
        projected = clustering.project(prepare(texts.vectors[block], options))
        distances[block] = ((projected - clustering.centroids[0][labels[block]]) ** 2).sum(axis=1)
    best = pd.DataFrame({"cluster": labels, "distance": distances}).groupby("cluster")["distance"].idxmin()
    return {int(cluster): texts.excerpts[text] for cluster, text in best.items()}


# ---- the stage -------------------------------------------------------------------------------------------------------


def compare_latents(
    control_latents: Path,
    latents: Path,
    shared: Path | None = None,
    *,
    options: ClustersOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the embeddings of a system with the control's, and write the evidence; see `critics.split_half`.

    Parameters
    ----------
    shared
        Folder of a clustering that all systems share; None: each comparison has its own clustering.
    """
    clustering = Clustering.load(shared) if shared is not None else None
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_embeddings,
        describe=lambda texts: describe(texts, resampling.confidence),
        compare=lambda reference, candidate: compare(reference, candidate, clustering, options, resampling),
        halves=lambda texts: (texts.every_other(0), texts.every_other(1)),
    )
    curve = compute_curve(compared.result, options, resampling)
    write_evidence(evidence, compared.result, curve, options)
    return compared.table
