"""Features that decided the verdicts *unlike*: what tells the texts apart, and the detectability without it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.findings import ReportItem
from macroscope.critics.topic_shares import TOPIC, label_topics
from macroscope.critics.two_sample_test import FEATURE
from macroscope.options import SPLIT_HALF, matched_system
from macroscope.reporting.formats import format_percent, format_percent_inline, look_up_estimate
from macroscope.reporting.headline import ChapterKey
from macroscope.reporting.matched_length import MATCHED
from macroscope.reporting.scorecard import UNLIKE
from macroscope.reporting.scorecard_text import AT_MATCHED_LENGTH
from macroscope.reporting.statistic_names import readable_name
from macroscope.statistics.decisive_features import SHARE, WITHOUT
from macroscope.tables import read_if_any

FILE = "reasons.csv"
MOST_SHOWN = 12
"""Largest number of cells whose reasons are shown on a terminal."""
HEADING = "What decided each verdict ≠ (shares add up to 100 %), and the detectability by the rest alone:"
_CELL = ["corpus", "system", "critic"]
_REMAINING = ("without", "without_low", "without_high")
COLUMNS = (*_CELL, "feature", "share", *_REMAINING)
"""Columns of the table: a row per decisive feature of a cell, the largest share first. `share`: of the detectability;
`without`: the detectability without all of the cell's features, the same in their rows, with its interval."""
Cell = tuple[str, str, str]
"""Corpus, system and critic."""


def reasons_table(
    scorecard: pd.DataFrame, statistics: pd.DataFrame, items: Mapping[ChapterKey, Sequence[ReportItem]]
) -> pd.DataFrame:
    """Build the table of what decided each verdict *unlike*, `COLUMNS`; the report items have the words of topics."""
    unlike = dict(_unlike_cells(scorecard))
    indexed = statistics.set_index([*_CELL, "statistic"])
    rows = []
    for row in statistics[statistics["statistic"].str.startswith(SHARE)].to_dict("records"):
        corpus, critic = row["corpus"], row["critic"]
        cell = corpus, row["system"], critic
        if cell in unlike:
            feature = _name_feature(row[FEATURE], critic, items.get((critic, corpus), ()))
            remaining = look_up_estimate(indexed, (*cell, WITHOUT), "without")
            rows.append((corpus, unlike[cell], critic, feature, row["value"], *remaining.values()))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _unlike_cells(scorecard: pd.DataFrame) -> Iterator[tuple[Cell, str]]:
    """Yield the cells of systems with the verdict *unlike*, and names of the systems for readers."""
    for row in scorecard[scorecard["system"] != SPLIT_HALF].to_dict("records"):
        corpus, system, critic = row["corpus"], row["system"], row["critic"]
        if row["verdict"] == UNLIKE:
            yield (corpus, system, critic), system
        if row[f"{MATCHED}_verdict"] == UNLIKE:
            yield (corpus, matched_system(system), critic), f"{system}, {AT_MATCHED_LENGTH}"


def _name_feature(feature: str, critic: str, items: Sequence[ReportItem]) -> str:
    """Return the name of a feature for readers.

    Words and the like, which are in quotation marks, are their own, but for classes of a quantity, as in "“missing 0”".
    """
    quantities = get_critic(critic).data.quantities
    if feature.startswith("“"):
        quantity, _, number = feature.strip("“”").partition(" ")
        return f"{quantities[quantity]}: class {number}" if quantity in quantities and number.isdigit() else feature
    if feature.startswith(TOPIC):
        tables = [item.table for item in items if item.table is not None and {"topic", "words"} <= {*item.table}]
        for topics in tables:  # none if the critic's items of the report failed
            words = topics.loc[topics["topic"].astype(str) == feature.removeprefix(TOPIC), "words"]
            return f"topic “{label_topics(words)[0]}”"
    return readable_name(feature, quantities)


def read_reasons(tables: Path) -> pd.DataFrame:
    """Read the table of what decided verdicts from the folder of the tables; empty if no verdict is *unlike*."""
    return read_if_any(tables / FILE, COLUMNS)


def describe_reasons(table: pd.DataFrame) -> dict[Cell, str]:
    """Return what decided each cell in words: "“</s>” (83 %), length (5 %), the rest (12 %); 55 % [45, 65] …".

    The rest speaks against the verdict if the named features have more than the whole.
    """
    sentences = {}
    for cell, rows in table.groupby(_CELL, sort=False):
        names = [
            f"{name if name.startswith('“') else name.partition(' (')[0]} ({format_percent(share)} %)"
            for name, share in zip(rows["feature"], rows["share"], strict=True)
        ]
        if rest := 100 - sum(round(100 * share) for share in rows["share"]):
            names.append(f"the rest ({rest} %)" if rest > 0 else f"against the rest (−{-rest} %)")
        value, low, high = rows[list(_REMAINING)].iloc[0]
        remaining = f"{format_percent_inline(value)} [{format_percent(low)}, {format_percent(high)}]"
        sentences[cell] = f"{', '.join(names)}; {remaining} by the rest alone"
    return sentences


def render_reasons(table: pd.DataFrame) -> str:
    """Render what decided the verdicts as text for a terminal, a line per cell; "" without any."""
    of_one_corpus = table["corpus"].nunique() == 1
    lines = [f"  {', '.join(cell[of_one_corpus:])}: {text}" for cell, text in describe_reasons(table).items()]
    more = [f"  and {len(lines) - MOST_SHOWN} more in tables/{FILE}"] if len(lines) > MOST_SHOWN else []
    return "\n".join([HEADING, *lines[:MOST_SHOWN], *more]) if lines else ""
