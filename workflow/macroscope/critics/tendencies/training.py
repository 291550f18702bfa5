"""Variation of real text between samples of the training texts (meister2021 Table 4, Figure 9a)."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from macroscope.critics.findings import Findings
from macroscope.critics.tendencies.latents import align_types, read_token_counts
from macroscope.options import CONTROL
from macroscope.phrases import number
from macroscope.statistics.divergences import largest_difference, permuted_distances
from macroscope.statistics.document_features import Array
from macroscope.statistics.permutation_groups import Permutation

VARYING = {
    "zipf_s_ranked": "Zipf s of the ranks",
    "zipf_s": "Zipf s",
    "heaps_beta": "Heaps β, words",
    "heaps_alpha": "Heaps α, words",
    "heaps_bigram_beta": "Heaps β, word pairs",
    "heaps_bigram_alpha": "Heaps α, word pairs",
    "length_mean": "mean length",
    "stop_word_share_mean": "mean share of stop words",
    "symbol_share_mean": "mean share of symbols",
}
"""Statistic of one collection -> label for readers (Table 4)."""


def select_training_samples(findings: Findings) -> list[str]:
    """Return the samples of training texts among the systems judged on the corpus."""
    return [system for system in findings.options.training_samples if system in findings.systems]


def spread_table(findings: Findings) -> pd.DataFrame | None:
    """Return each statistic of real text, its standard error, and its spread over samples of training texts (Table 4).

    The standard error is computed from the interval over documents under normality. It estimates the variation from
    sample to sample, so it should agree with the spread. None with fewer than two samples.
    """
    samples = select_training_samples(findings)
    if len(samples) < 2:
        return None
    indexed = findings.statistics.set_index(["system", "statistic"])
    rows = []
    for statistic, label in VARYING.items():
        control = indexed.loc[(CONTROL, statistic)]
        values = np.array([indexed.at[(sample, statistic), "value"] for sample in samples])
        error = (control["ci_high"] - control["ci_low"]) / (2 * ndtri(0.5 + findings.confidence / 2))
        rows.append((label, control["value"], error, values.mean(), values.std(ddof=1)))
    names = ["real text", "standard error over documents", "mean of training samples", "their standard deviation"]
    table = pd.DataFrame(rows, columns=["statistic", *names])
    return table.assign(samples=len(samples), **{name: table[name].map(lambda v: number(v, 4)) for name in names})


def permute_training_texts(findings: Findings) -> tuple[float, Array] | None:
    """Compute the tvd of the first two samples of training texts, and its null distribution (Figure 9a).

    The null distribution comes from permuting the texts of the two samples. None with fewer than two samples.
    """
    samples = select_training_samples(findings)[:2]
    if len(samples) < 2:
        return None
    collections = [read_token_counts(findings.latents(sample)) for sample in samples]
    size = max(collection.documents_per_block for collection in collections)
    first, second = align_types(*(collection.merged(size) for collection in collections))
    rng = np.random.default_rng(int(findings.statistics["seed"].iloc[0]))
    permutation = Permutation((first.shape[0], second.shape[0]))
    null = permuted_distances(first, second, permutation, findings.options.count_permutations, rng)["tvd_sup"]
    totals = (np.asarray(counts.sum(axis=0)).ravel() for counts in (first, second))
    return float(largest_difference(*totals)), null
