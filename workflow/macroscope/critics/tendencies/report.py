"""Items of the critic `tendencies` in the report of one corpus."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from macroscope.critics.findings import MAX_SYSTEMS, Findings, ReportItem
from macroscope.critics.numeric_latents import STATISTICS as NUMERIC_STATISTICS
from macroscope.critics.report_tables import format_cell
from macroscope.critics.tendencies.comparison import STATISTICS as OWN_STATISTICS
from macroscope.critics.tendencies.latents import align_types, read_token_counts
from macroscope.options import CONTROL
from macroscope.phrases import number
from macroscope.statistics.declaration import match_declaration
from macroscope.statistics.divergences import largest_difference, permuted_distances
from macroscope.statistics.document_features import Array
from macroscope.statistics.permutation_groups import Permutation

# ---- training --------------------------------------------------------------------------------------------------------
# Variation of real text between samples of the training texts (meister2021 Table 4, Figure 9a).

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


# ---- report ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Layout of a table with one row per quantity and system, and one column per statistic.

    Attributes
    ----------
    title
        Heading of the table.
    quantities
        Prefix of the statistics' names -> (label of the quantity, factor to its unit).
    columns
        Suffix of the statistics' names -> (label, whether the value has the quantity's unit).
    """

    title: str
    quantities: dict[str, tuple[str, float]]
    columns: dict[str, tuple[str, bool]]


_COLUMNS_OF_NUMBERS = {
    "mean": ("mean", True),
    "mean_difference": ("difference to real text", True),
    "ks": ("D to real text", False),
    "hedges_g": ("Hedges' g", False),
    "minimum_detectable_difference": ("minimum detectable difference", True),
}
TABLES = {
    "rank_frequency": Layout(
        "Rank and frequency of words",
        {"zipf": ("", 1)},
        {
            "s": ("Zipf s", False),
            "s_difference": ("difference to real text", False),
            "s_ranked": ("s of the ranked counts", False),
            "d_own": ("D to own law", False),
            "d_reference": ("D to real text's law", False),
            "d_empirical": ("D to real text", False),
        },
    ),
    "unigrams": Layout(
        "Shares of words and vocabulary",
        {"": ("", 1)},
        {
            "tvd_sup": ("TVD, largest difference", False),
            "tvd_sup_common": ("the same of the 1,000 most common words", False),
            "tvd_half_l1": ("TVD, ½ L1", False),
            "vocabulary_size": ("vocabulary, all tokens", False),
            "vocabulary_tokens_compared": ("tokens compared", False),
            "vocabulary_size_compared": ("vocabulary at these tokens", False),
            "vocabulary_size_difference": ("difference to real text at these tokens", False),
        },
    ),
    "type_token": Layout(
        "Vocabulary growth within a text",
        {"heaps": ("words", 1), "heaps_bigram": ("word pairs", 1)},
        {
            "alpha": ("Heaps α", False),
            "beta": ("Heaps β", False),
            "d_own": ("D to own law", False),
            "d_reference": ("D to real text's law", False),
            "d_empirical": ("D to real text", False),
        },
    ),
    "texts": Layout(
        "Length, stop words and symbols",
        {
            "length": ("length, tokens", 1),
            "stop_word_share": ("stop words, %", 100),
            "symbol_share": ("symbols, %", 100),
        },
        _COLUMNS_OF_NUMBERS,
    ),
    "repetition": Layout(
        "Repetition within a text",
        {
            "duplicate_2grams": ("repeated 2-grams, %", 100),
            "duplicate_4grams": ("repeated 4-grams, %", 100),
            "compression_ratio": ("compression ratio", 1),
            "longest_repeat": ("longest repeat, tokens", 1),
        },
        _COLUMNS_OF_NUMBERS,
    ),
}
FIGURES = {
    "rank_frequency": {"rank_frequency": "Rank and frequency of words"},
    "unigrams": {"vocabulary": "Sizes of the vocabularies"},
    "type_token": {
        "type_token": "Distinct words and word pairs by length of the text",
        "heaps_distances": "Distances of distinct words per text, by length",
        "heaps_bigram_distances": "Distances of distinct word pairs per text, by length",
    },
    "texts": {
        "boxes": "Length, stop words, symbols and repetition of the texts",
        "length_distribution": "Distribution of the lengths",
    },
}
"""Name of a table -> figures placed before it: name -> heading."""
VERY_SIGNIFICANT = 0.005
WORDS = 8


def items(findings: Findings) -> list[ReportItem]:
    """Return the tables, each preceded by its figures."""
    report_items = []
    for name, layout in TABLES.items():
        report_items += [_figure(findings, figure, title) for figure, title in FIGURES.get(name, {}).items()]
        report_items.append(ReportItem(name, layout.title, _table(findings.statistics, layout)))
    report_items.append(ReportItem("words", "Words whose share differs most", _words(findings), shows_texts=True))
    report_items.append(
        ReportItem(
            "first_texts",
            "The first texts of each system",
            findings.stack("first_texts.csv", lambda table: table, control=True, keep_default_na=False),
            shows_texts=True,
        )
    )
    report_items.append(_figure(findings, "null", "Observed differences and their null distributions"))
    if (spread := spread_table(findings)) is not None:
        report_items.append(ReportItem("spread", "Variation between samples of real text", spread))
        report_items.append(_figure(findings, "training_null", "Permutation of the texts of two training samples"))
    return report_items


def _figure(findings: Findings, name: str, title: str) -> ReportItem:
    return ReportItem(f"{name}_figure", title, figure=findings.svg(name))


def _table(statistics: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """Tabulate values with their intervals; see `_format_cell_with_test` for the marks."""
    rows = []
    for prefix, (quantity, factor) in layout.quantities.items():
        for system, group in statistics.groupby("system", sort=False):
            indexed = group.set_index("statistic")
            row = {"quantity": quantity, "system": system}
            for suffix, (label, has_unit) in layout.columns.items():
                statistic = f"{prefix}_{suffix}" if prefix else suffix
                if statistic in indexed.index:
                    unit_factor = factor if has_unit else 1
                    row[label] = _format_cell_with_test(indexed.loc[statistic], statistic, unit_factor)
                else:
                    row[label] = "–"
            rows.append(row)
    table = pd.DataFrame(rows)
    return table if table["quantity"].any() else table.drop(columns="quantity")


def _format_cell_with_test(row: pd.Series, statistic: str, factor: float) -> str:
    """Format a value with its interval and the result of its test.

    One star marks a difference to real text with an adjusted p-value below 5 %, two stars one below 0.5 % (Table 6).
    Distances to laws, which real text does not follow either, show their p-value and no star.
    """
    shown = format_cell(row, factor)
    if match_declaration((*OWN_STATISTICS, *NUMERIC_STATISTICS), statistic).difference:
        return f"{shown}*" if row["p_adjusted"] < VERY_SIGNIFICANT else shown
    return shown if pd.isna(row["p_value"]) else f"{shown}, p = {number(row['p_value'], 2)}"


def _words(findings: Findings) -> pd.DataFrame:
    """Tabulate the words whose shares differ most; each system's row with the largest difference comes first."""
    rows = []
    for system, table in findings.tables("words.csv", MAX_SYSTEMS):
        top = table.head(WORDS)
        signs = {1: "more often than in real text", -1: "less often"}
        for sign in sorted(signs, key=lambda sign: -(top["difference"] * sign).max()):
            selected = top[top["difference"] * sign > 0]
            shown = [f"{w} ({100 * c:.2f} %, not {100 * r:.2f} %)" for w, c, r, _ in selected.itertuples(index=False)]
            rows.append({"system": system, "how often": signs[sign], "words": ", ".join(shown)})
    return pd.DataFrame(rows)
