"""Detectability by label, such as a genre: its table, sentences about labels that differ, and how both are shown."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from macroscope.critics.two_sample_test import FEATURE
from macroscope.gaps import TOO_FEW, UNUSABLE
from macroscope.phrases import format_count, list_names, shorten
from macroscope.reporting.formats import format_percent, format_percent_inline
from macroscope.reporting.scorecard import SIGNS, decide_verdict
from macroscope.runs.results import Results
from macroscope.statistics.by_label import AUC, CONTRAST, DIFFER, FEWEST, MIX, UNLABELLED, WITHIN
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.p_values import benjamini_hochberg, holm
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_if_any

_CELL = ["corpus", "system", "critic"]
_INTERVAL = ("ci_low", "ci_high")
_ESTIMATE, _MEAN = ("value", *_INTERVAL), ("mean", "mean_low", "mean_high")
COLUMNS = (
    *(*_CELL, "label", "verdict", C2ST_AUC, *_INTERVAL, "p_value", "p_adjusted"),
    *("contrast", "contrast_low", "contrast_high", "contrast_p_adjusted", "n_reference", "n_candidate", "reason"),
    *_MEAN,
)
"""Columns of the table. `p_adjusted`: for all labels and critics of the system (Benjamini-Hochberg). `contrast`: minus
the mean of the other labels; its interval and p-value hold for all labels, and the p-value for all critics (Holm).
`mean`: mean detectability of the labels, the same in the rows of a system and critic."""
FILE = "by_label.csv"
ALL, MEAN = "all texts", "mean of the labels"
_LONGEST, MOST_SHOWN = 30, 3
"""Largest number of characters of a label, and of systems whose labels are shown on a terminal."""


def label_table(statistics: pd.DataFrame, scorecard: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Return a row for each label, system and critic: `COLUMNS`; empty if nothing is compared by label.

    Parameters
    ----------
    scorecard
        Table of the scorecard: critics that it calls unusable are left out.
    margin
        Largest detectability above chance at which a text is like real text.
    """
    unusable = set(scorecard.loc[scorecard["verdict"] == UNUSABLE, _CELL].itertuples(index=False, name=None))
    is_usable = [cell not in unusable for cell in statistics[_CELL].itertuples(index=False, name=None)]
    statistics = statistics[is_usable]
    rows = statistics[statistics["statistic"].str.startswith(AUC)]
    rows = rows.assign(number=rows["statistic"].str.removeprefix(AUC), label=rows.get(FEATURE))
    adjusted = rows.groupby(["corpus", "system"], sort=False)["p_value"].transform(benjamini_hochberg)
    table = rows.assign(p_adjusted=adjusted.astype(float))
    differ = statistics[statistics["statistic"] == DIFFER]
    factors = differ.groupby(["corpus", "system"], sort=False)["p_value"].transform(holm) / differ["p_value"]
    contrasts = statistics[statistics["statistic"].str.startswith(CONTRAST)]
    names = {"value": "contrast", "ci_low": "contrast_low", "ci_high": "contrast_high", "p_value": "p_of_contrast"}
    contrasts = contrasts.assign(number=contrasts["statistic"].str.removeprefix(CONTRAST)).rename(columns=names)
    contrasts = contrasts[[*_CELL, "number", *names.values()]]
    table = table.merge(contrasts, how="left", on=[*_CELL, "number"])
    means = statistics[statistics["statistic"] == WITHIN].rename(columns=dict(zip(_ESTIMATE, _MEAN, strict=True)))
    table = table.merge(means[[*_CELL, *_MEAN]], how="left", on=_CELL)
    table = table.merge(differ[_CELL].assign(factor=factors.astype(float)), how="left", on=_CELL)
    table["contrast_p_adjusted"] = (table["p_of_contrast"] * table["factor"]).clip(upper=1)
    table["verdict"] = [
        decide_verdict(row.value, row.ci_low, row.ci_high, margin, int(row.p_adjusted < SIGNIFICANT))
        for row in table.itertuples()
    ]
    return table.rename(columns={"value": C2ST_AUC})[list(COLUMNS)]


def read_label_table(tables: Path) -> pd.DataFrame:
    """Read the table from the folder of the tables; empty if nothing is compared by label."""
    return read_if_any(tables / FILE, COLUMNS)


class LabelView(NamedTuple):
    """Comparison of a system with real text by label, for readers.

    Attributes
    ----------
    by
        What the labels are, such as "genre".
    table
        A row per label, and of all texts; a column per critic.
    sentences
        What differs between labels, other mixes, and labels with too few texts.
    """

    by: str
    table: pd.DataFrame
    sentences: list[str]

    def render(self) -> str:
        """Render the comparison as text for a terminal."""
        with pd.option_context("display.unicode.east_asian_width", True):
            named = self.table.reset_index(names=self.by, allow_duplicates=True)  # a system may be called as the labels
            return named.to_string(index=False)


def show_labels(results: Results, statistics: pd.DataFrame, tables: Path) -> dict[tuple[str, str], LabelView]:
    """Return (corpus, system) -> its comparison by label, in the order of the run."""
    table, views = read_label_table(tables), {}
    for (corpus, system), rows in table.groupby(["corpus", "system"], sort=False):
        here = statistics[(statistics["corpus"] == corpus) & (statistics["system"] == system)]
        values = here.set_index(["critic", "statistic"])
        by = next(str(each.by) for each in results.config.comparisons if each.by and each.corpus == corpus)
        sentences = [*_describe_contrasts(rows, system, by), *_describe_mix(values, by), *_describe_few(rows, values)]
        views[str(corpus), str(system)] = LabelView(by, _lay_out(rows, values, str(system)), sentences)
    return views


def render_labels(views: Mapping[tuple[str, str], LabelView], tables: Path) -> list[str]:
    """Render the comparisons of the first systems as text for a terminal."""
    shown = [f"{system}, by {view.by}:\n{view.render()}" for (_, system), view in [*views.items()][:MOST_SHOWN]]
    more = [f"Labels of {format_count(len(views) - MOST_SHOWN, 'more system')}: {tables / FILE}"]
    return shown + (more if len(views) > MOST_SHOWN else [])


def _lay_out(rows: pd.DataFrame, values: pd.DataFrame, system: str) -> pd.DataFrame:
    """Return the cells: detectability by label and critic, that of all texts, and the mean of the labels.

    Labels that no critic compares have no row; a sentence counts them. Labels, systems, critics may have equal names.
    """
    critics = list(dict.fromkeys(rows["critic"]))
    names, cells = [], []
    for label, of_label in rows[rows[C2ST_AUC].notna()].groupby("label", sort=False):
        by_critic = {row["critic"]: row for row in of_label.to_dict("records")}
        first = of_label.iloc[0]
        names.append(shorten(str(label), _LONGEST))
        cells.append([f"{first['n_reference']:,.0f}", f"{first['n_candidate']:,.0f}"])
        cells[-1] += [_format_cell(by_critic[critic]) if critic in by_critic else TOO_FEW for critic in critics]
    for name, statistic in ((ALL, C2ST_AUC), (MEAN, WITHIN)):
        is_there = [(critic, statistic) in values.index for critic in critics]
        if any(is_there):
            names.append(name)
            intervals = [
                _format_interval(*values.loc[(critic, statistic), list(_ESTIMATE)]) if has_row else ""
                for critic, has_row in zip(critics, is_there, strict=True)
            ]
            cells.append(["", "", *intervals])
    return pd.DataFrame(cells, index=names, columns=["real texts", system, *critics])


def _format_cell(row: Mapping[str, Any]) -> str:
    return f"{SIGNS[row['verdict']]} {_format_interval(row[C2ST_AUC], row['ci_low'], row['ci_high'])}"


def _format_interval(value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return TOO_FEW
    return f"{format_percent_inline(value)} [{format_percent(low)}, {format_percent(high)}]"


def _describe_contrasts(rows: pd.DataFrame, system: str, by: str) -> Iterator[str]:
    """Yield a sentence per critic about the label that differs most clearly from the others, the clearest first."""
    compared = rows[rows["contrast"].notna()]
    if compared.empty:
        yield f"Fewer than two labels have {FEWEST} texts on each side: nothing can be said about differences by {by}."
        return
    differs = compared[compared["contrast_p_adjusted"] < SIGNIFICANT]
    clearness = differs["contrast"].abs() / (differs["contrast_high"] - differs["contrast"])
    ranked = differs.assign(clearness=clearness.round(6)).sort_values(["clearness", "contrast"], ascending=False)
    for row in ranked.drop_duplicates("critic").to_dict("records"):
        others = compared.loc[(compared["critic"] == row["critic"]) & (compared["label"] != row["label"]), "label"]
        rest = f"in “{others.iloc[0]}”" if len(others) == 1 else "in the others on average"
        auc, degree = row[C2ST_AUC], "more" if row["contrast"] > 0 else "less"
        yield (
            f"By {row['critic']}, the texts of {system} differ from real text {degree} in “{row['label']}”"
            f" ({_format_interval(auc, row['ci_low'], row['ci_high'])}) than {rest}"
            f" ({format_percent_inline(auc - row['contrast'])})."
        )
    if differs.empty:
        yield (
            f"As far as this number of texts can tell, how much {system} differs from real text does not depend on"
            f" {by}."
        )


def _describe_mix(values: pd.DataFrame, by: str) -> Iterator[str]:
    """Yield a sentence about another mix of labels, and what it does to the detectability of all texts."""
    mixes = values[(values.index.get_level_values("statistic") == MIX) & (values["p_value"] < SIGNIFICANT)]
    for (critic, _), row in mixes.head(1).iterrows():
        both = [(critic, each) for each in (C2ST_AUC, WITHIN) if (critic, each) in values.index]
        means = [format_percent_inline(values.loc[key, "value"]) for key in both]
        example = f" (by {critic}: {means[0]}, {MEAN} {means[1]})" if len(means) == 2 else ""
        yield (
            f"The two sides have other shares of {by} ({format_percent_inline(row['value'])} of the texts would need"
            " another label), which alone may give texts away: trust the labels' numbers more than those of all texts"
            f"{example}."
        )


def _describe_few(rows: pd.DataFrame, values: pd.DataFrame) -> Iterator[str]:
    """Yield sentences about labels with too few texts, and about texts without a label, by the first critic."""
    few = rows[(rows["critic"] == rows["critic"].iloc[0]) & rows[C2ST_AUC].isna()].to_dict("records")
    named = [
        f"“{shorten(row['label'], _LONGEST)}” ({row['n_reference']:.0f} and {row['n_candidate']:.0f})" for row in few
    ]
    if named:
        yield f"Too few texts: {list_names(named)}. A label needs {FEWEST} real ones and {FEWEST} others, or prompts."
    unlabelled = values[values.index.get_level_values("statistic") == UNLABELLED]
    for row in unlabelled.head(1).to_dict("records"):
        yield (
            f"{row['reason'].capitalize()}: {row['n_reference']:,.0f} real texts and {row['n_candidate']:,.0f} others."
            " They count among all texts alone."
        )
