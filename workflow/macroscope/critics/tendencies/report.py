"""What the tendencies critic contributes to the report of one corpus."""

from dataclasses import dataclass

import pandas as pd

from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem
from macroscope.critics.numeric_latents import STATISTICS as OF_TEXTS
from macroscope.critics.table_cells import REAL_TEXT_HALVES, cell
from macroscope.critics.tendencies.comparison import STATISTICS as OF_COLLECTIONS
from macroscope.critics.tendencies.training import spread_table
from macroscope.statistics.declaration import declared
from macroscope.tables import number


@dataclass(frozen=True)
class Layout:
    """A table: a row a quantity and system, a column a statistic.

    Attributes
    ----------
    title
        Heading.
    quantities
        Beginning of the statistics' names -> what it is, factor to its unit.
    columns
        End of the statistics' names -> label, and whether the value has the quantity's unit.
    """

    title: str
    quantities: dict[str, tuple[str, float]]
    columns: dict[str, tuple[str, bool]]


_OF_TEXTS = {
    "mean": ("mean", True),
    "mean_difference": ("difference to real text", True),
    "ks": ("D to real text", False),
    "hedges_g": ("Hedges' g", False),
    "minimum_detectable_difference": ("smallest difference to be seen", True),
}
TABLES = {
    "rank_frequency": Layout(
        "Words: rank and frequency",
        {"zipf": ("", 1)},
        {
            "s": ("Zipf s", False),
            "s_difference": ("difference to real text", False),
            "s_ranked": ("s of the ranks", False),
            "d_own": ("D to own law", False),
            "d_reference": ("D to real text's law", False),
            "d_empirical": ("D to real text", False),
        },
    ),
    "unigrams": Layout(
        "Words: shares and vocabulary",
        {"": ("", 1)},
        {
            "tvd_sup": ("TVD, largest difference", False),
            "tvd_half_l1": ("TVD, ½ L1", False),
            "vocabulary_size": ("vocabulary, all tokens", False),
            "vocabulary_tokens_compared": ("tokens compared", False),
            "vocabulary_size_compared": ("vocabulary in as many tokens", False),
            "vocabulary_size_difference": ("difference to real text in as many", False),
        },
    ),
    "type_token": Layout(
        "Growth of the vocabulary within a text",
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
        _OF_TEXTS,
    ),
    "repetition": Layout(
        "Repetition within a text",
        {
            "duplicate_2grams": ("repeated 2-grams, %", 100),
            "duplicate_4grams": ("repeated 4-grams, %", 100),
            "compression_ratio": ("compression ratio", 1),
            "longest_repeat": ("longest repeat, tokens", 1),
        },
        _OF_TEXTS,
    ),
}
FIGURES = {
    "rank_frequency": {"rank_frequency": "Rank and frequency of words"},
    "unigrams": {"vocabulary": "Sizes of the vocabularies"},
    "type_token": {
        "type_token": "How many different words and word pairs a text of some length has",
        "heaps_distances": "Distances of words per text, length by length",
        "heaps_bigram_distances": "Distances of word pairs per text, length by length",
    },
    "texts": {
        "boxes": "Length, stop words, symbols and repetition of the texts",
        "length_distribution": "Distribution of the lengths",
    },
}
"""Table -> the figures that stand before it: name -> heading."""
VERY_SIGNIFICANT = 0.005
WORDS = 8


def items(findings: Findings) -> list[ReportItem]:
    """List tables, each with its figures before it."""
    found = []
    for name, layout in TABLES.items():
        found += [_figure(findings, figure, title) for figure, title in FIGURES.get(name, {}).items()]
        found.append(ReportItem(name, layout.title, _table(findings.statistics, layout)))
    found.append(ReportItem("words", "Words whose share differs most", _words(findings), shows_texts=True))
    found.append(_figure(findings, "null", "Chance and what was found"))
    if (spread := spread_table(findings)) is not None:
        found.append(ReportItem("spread", "From one sample of real text to another", spread))
        found.append(_figure(findings, "training_null", "Exchanging the texts of two training samples"))
    return found


def _figure(findings: Findings, name: str, title: str) -> ReportItem:
    return ReportItem(f"{name}_figure", title, figure=findings.figure(name).with_suffix(".svg"))


def _table(statistics: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """Values with their intervals; see `_cell` for what is marked."""
    rows = []
    for prefix, (what, factor) in layout.quantities.items():
        for system, some in statistics.groupby("system", sort=False):
            indexed = some.set_index("statistic")
            row = {"quantity": what, "system": REAL_TEXT_HALVES.get(str(system), system)}
            for suffix, (label, has_unit) in layout.columns.items():
                statistic = f"{prefix}_{suffix}" if prefix else suffix
                known = statistic in indexed.index
                row[label] = _cell(indexed.loc[statistic], statistic, factor if has_unit else 1) if known else "–"
            rows.append(row)
    table = pd.DataFrame(rows)
    return table if table["quantity"].any() else table.drop(columns="quantity")


def _cell(row: pd.Series, statistic: str, factor: float) -> str:
    """A value with its interval, and what its test says.

    One star for a difference to real text with an adjusted p-value below 5 %, two for one below 0.5 % (Table 6). Laws,
    which real text does not keep either, have their p in words, and no star.
    """
    shown = cell(row, factor)
    if declared((*OF_COLLECTIONS, *OF_TEXTS), statistic).difference:
        return f"{shown}*" if row["p_adjusted"] < VERY_SIGNIFICANT else shown
    return shown if pd.isna(row["p_value"]) else f"{shown}, p = {number(row['p_value'], 2)}"


def _words(findings: Findings) -> pd.DataFrame:
    """Words whose shares differ most; of a system the row with the largest difference comes first."""
    rows = []
    for system, table in findings.tables("words.csv", MOST_SYSTEMS):
        some = table.head(WORDS)
        signs = {1: "more often than in real text", -1: "less often"}
        for sign in sorted(signs, key=lambda sign: -(some["difference"] * sign).max()):
            there = some[some["difference"] * sign > 0]
            shown = [f"{w} ({100 * c:.2f} %, not {100 * r:.2f} %)" for w, c, r, _ in there.itertuples(index=False)]
            rows.append({"system": system, "how often": signs[sign], "words": ", ".join(shown)})
    return pd.DataFrame(rows)
