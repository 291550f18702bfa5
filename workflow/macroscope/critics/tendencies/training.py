"""How much real text varies from one sample of the training texts to another (meister2021 Table 4, Figure 9a)."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from macroscope.critics.findings import Findings
from macroscope.critics.tendencies.latents import on_common_types, read_counted
from macroscope.options import CONTROL
from macroscope.statistics.document_sums import Array
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.total_variation import largest_difference, permuted_distances
from macroscope.tables import number

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
"""Statistic of one collection -> what a reader sees (Table 4)."""


def samples_of(findings: Findings) -> list[str]:
    """Samples of training texts that were judged on the corpus."""
    return [system for system in findings.options.training_samples if system in findings.systems]


def spread_table(findings: Findings) -> pd.DataFrame | None:
    """Table 4: each statistic of real text, its standard error, and its spread over samples of training texts.

    The standard error is that of the interval over documents, were it normal. It says how the statistic would vary from
    sample to sample, so the two should agree. None with fewer than two samples.
    """
    samples = samples_of(findings)
    if len(samples) < 2:
        return None
    found = findings.statistics.set_index(["system", "statistic"])
    rows = []
    for statistic, label in VARYING.items():
        control = found.loc[(CONTROL, statistic)]
        values = np.array([found.at[(sample, statistic), "value"] for sample in samples])
        error = (control["ci_high"] - control["ci_low"]) / (2 * ndtri(0.5 + findings.confidence / 2))
        rows.append((label, control["value"], error, values.mean(), values.std(ddof=1)))
    names = ["real text", "standard error over documents", "mean of training samples", "their standard deviation"]
    table = pd.DataFrame(rows, columns=["statistic", *names])
    return table.assign(samples=len(samples), **{name: table[name].map(lambda v: number(v, 4)) for name in names})


def exchanged_training_texts(findings: Findings) -> tuple[float, Array] | None:
    """Figure 9a: tvd of the first two samples of training texts, and what exchanging their texts gives."""
    samples = samples_of(findings)[:2]
    if len(samples) < 2:
        return None
    sides = [read_counted(findings.latents(sample)) for sample in samples]
    size = max(side.documents_per_block for side in sides)
    first, second = on_common_types(*(side.merged(size) for side in sides))
    rng = np.random.default_rng(int(findings.statistics["seed"].iloc[0]))
    permutation = Permutation((first.shape[0], second.shape[0]))
    null = permuted_distances(first, second, permutation, findings.options.count_permutations, rng)["tvd_sup"]
    totals = (np.asarray(side.sum(axis=0)).ravel() for side in (first, second))
    return float(largest_difference(*totals)), null
