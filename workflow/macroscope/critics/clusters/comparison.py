"""Every number of the clusters critic: what was embedded, and a candidate against a reference."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.clusters.blocks import different
from macroscope.critics.clusters.clustering import Clustering, fit, number_of_clusters, prepared
from macroscope.critics.clusters.kmeans import Labels
from macroscope.critics.clusters.latents import Embeddings
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.clusters.scores import Scores, latent_nll_rows, score
from macroscope.errors import MacroscopeError
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import Frontier, divergences
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import Permutation, permutation_of
from macroscope.statistics.sampled_divergences import published
from macroscope.statistics.tidy import UNDEFINED, Row, rows_table, shares_table, value_only
from macroscope.statistics.vectors import compare_vectors

_GIVEN = "under the distribution over clusters that these texts of real text give"
_NULL = "the same distribution over clusters on both sides"
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
    """Two sides under one clustering.

    Attributes
    ----------
    rows
        Columns `statistics.tidy.ROWS`.
    sides
        Embeddings of reference and candidate, without texts that have none.
    labels
        Clusters of either side: texts x seeds.
    clustering
        What they are clusters of.
    scores
        Log-probabilities of every text.
    diverging
        What `divergence_rows` gave.
    """

    rows: pd.DataFrame
    sides: tuple[Embeddings, Embeddings]
    labels: tuple[Labels, Labels]
    clustering: Clustering
    scores: Scores
    diverging: list[Row]


def describe(texts: Embeddings, confidence: float) -> pd.DataFrame:
    """Shares of texts that were cut, that are empty, that equal an earlier one, and that have no finite embedding."""
    known = texts.known()
    embedded = texts.some(known)
    counts = {
        "truncated_share": int(texts.truncated.sum()),
        "empty_share": sum(not excerpt for excerpt in texts.excerpts),
        "duplicate_share": len(embedded) - different([embedded.vectors]),
        "not_embedded_share": int((~known).sum()),
    }
    return shares_table(counts, len(texts), confidence)


def compare(
    reference: Embeddings,
    candidate: Embeddings,
    shared: Clustering | None,
    options: ClustersOptions,
    resampling: Resampling,
) -> Comparison:
    """Cluster both sides together and compare them.

    Parameters
    ----------
    shared
        A clustering that all systems share; None: one of these two sides.

    Returns
    -------
    Comparison
        Rows: `clusters` (K); `learnt_on` (the embeddings that they are learnt on); the divergences of
        `statistics.categorical`; `latent_nll`, `latent_ppl` of the candidate's clusters under the reference's
        distribution (nats a text), `reference_latent_ppl` of the reference's own, with the difference and the ratio of
        the two; and
        on the embeddings `mmd_squared`, `energy_distance`, `precision`, `recall`.

    Raises
    ------
    MacroscopeError
        Where a side has fewer than two texts that can be embedded.
    """
    sides = [side.some(side.known()) for side in (reference, candidate)]
    for name, side in zip(("the control", "the system"), sides, strict=True):
        if len(side) < 2:
            raise MacroscopeError(
                f"{name} has {len(side)} texts with an embedding; the clusters critic needs two or more"
            )
    vectors = [prepared(side.vectors, options) for side in sides]
    clustering = shared or _joint(vectors, options.number_of_clusters, options, resampling.seed)
    labels = clustering.assign(vectors[0]), clustering.assign(vectors[1])
    scores = score(labels[0], labels[1], clustering.clusters, options.smoothing)
    permutation = permutation_of(sides[0].keys, sides[1].keys)
    found: list[Row] = [
        value_only("clusters", clustering.clusters),
        value_only("learnt_on", clustering.learnt_on),
    ]
    diverging = divergence_rows(labels, clustering.clusters, scores, options, resampling, permutation)
    found += diverging
    found += latent_nll_rows(labels, clustering.clusters, scores, options, resampling, permutation)
    rng = np.random.default_rng(resampling.seed)
    which = [_subset(len(side), options.most_vectors, rng) for side in vectors]
    chosen = [side[some] for side, some in zip(vectors, which, strict=True)]
    of_vectors = permutation_of(*(side.keys.iloc[some] for side, some in zip(sides, which, strict=True)))
    on_vectors = compare_vectors(chosen[0], chosen[1], options.neighbours, options.permutations, resampling, of_vectors)
    sizes = (len(sides[0]), len(sides[1]))
    of_chosen = (len(chosen[0]), len(chosen[1]))
    tables = [rows_table(found, sizes, _reason), rows_table(on_vectors, of_chosen, _reason)]
    table = pd.concat(tables, ignore_index=True)
    return Comparison(table, (sides[0], sides[1]), labels, clustering, scores, diverging)


def divergence_rows(
    labels: tuple[Labels, Labels],
    clusters: int,
    scores: Scores,
    options: ClustersOptions,
    resampling: Resampling,
    permutation: Permutation,
) -> list[Row]:
    """Divergences between the cluster distributions, under the convention that is asked for."""
    frontier = Frontier(options.scale, options.weights)
    if options.convention == "published":
        ratios = [log_p - log_q for log_p, log_q in zip(scores.log_p, scores.log_q, strict=True)]
        each = [published(ratios[0][:, s], ratios[1][:, s], frontier) for s in range(labels[0].shape[1])]
        values = {rows[0][0]: [row[1] for row in rows] for rows in zip(*each, strict=True)}
        means = [value_only(name, np.mean(some)) for name, some in values.items()]
        spreads = [
            value_only(f"{name}_seed_sd", np.std(some, ddof=1) if len(some) > 1 else UNDEFINED)
            for name, some in values.items()
        ]
        return means + spreads
    counts = [[one_hot(side[:, s], clusters) for s in range(side.shape[1])] for side in labels]
    wanted = DivergenceOptions(options.smoothing, frontier, options.permutations)
    return compare_categories(counts[0], counts[1], wanted, resampling, permutation)


def by_number_of_clusters(found: Comparison, options: ClustersOptions, resampling: Resampling) -> pd.DataFrame:
    """Divergences under other numbers of clusters (Figures 4, 8, 9), as `divergence_rows` gives them.

    Returns
    -------
    data frame
        clusters, divergence, value, ci_low, ci_high, p_value, seed_sd; corrected, corrected_low, corrected_high:
        without small-sample bias. What the convention does not give is nan; a number that there are not enough
        embeddings for is left out.
    """
    of_each = {found.clustering.clusters: found.diverging}
    if others := {*options.cluster_counts} - {*of_each}:
        vectors = [prepared(side.vectors, options) for side in found.sides]
        permutation = permutation_of(found.sides[0].keys, found.sides[1].keys)
        for asked in others:
            clustering = _joint(vectors, asked, options, resampling.seed)
            if clustering.clusters != asked:
                continue
            labels = clustering.assign(vectors[0]), clustering.assign(vectors[1])
            scores = score(labels[0], labels[1], asked, options.smoothing)
            of_each[asked] = divergence_rows(labels, asked, scores, options, resampling, permutation)
    tables = []
    for asked, diverging in sorted(of_each.items()):
        rows = {row[0]: row[1:] for row in diverging}
        names = [name for name in divergences(Frontier(options.scale, options.weights)) if name in rows]
        tables.append(pd.DataFrame([_curve_row(asked, name, rows) for name in names]))
    return pd.concat(tables, ignore_index=True)


def _curve_row(clusters: int, name: str, rows: dict[str, tuple[float, float, float, float]]) -> dict[str, object]:
    unknown = (UNDEFINED,) * 4
    value, low, high, p = rows[name]
    corrected = rows.get(f"{name}_corrected", unknown)
    return {
        "clusters": clusters,
        "divergence": name,
        "value": value,
        "ci_low": low,
        "ci_high": high,
        "p_value": p,
        "seed_sd": rows.get(f"{name}_seed_sd", unknown)[0],
        "corrected": corrected[0],
        "corrected_low": corrected[1],
        "corrected_high": corrected[2],
    }


def _joint(vectors: list[np.ndarray], asked: int | None, options: ClustersOptions, seed: int) -> Clustering:
    """Cluster two sides together."""
    clusters = number_of_clusters(asked, (len(vectors[0]), len(vectors[1])), different(vectors))
    return fit(vectors, clusters, options, seed)


def _subset(size: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(size) if size <= most else np.sort(rng.choice(size, most, replace=False))


def _reason(_: str) -> str:
    return "too few texts, or infinite without smoothing"
