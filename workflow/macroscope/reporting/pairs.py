"""System against system: the table of all pairs, adjusted for their number, and what the report shows of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.declaration import statistics_of
from macroscope.critics.pairs import COLUMNS, FROM_EACH_OTHER
from macroscope.reporting.formats import format_number, format_p_value
from macroscope.reporting.results import Results
from macroscope.reporting.statistic_names import readable
from macroscope.statistics.declaration import declared
from macroscope.statistics.multiplicity import benjamini_hochberg
from macroscope.statistics.pairs import AUC, RATIO
from macroscope.statistics.telling_apart import TOLD_APART
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

FILE = "pairs.csv"
LATENT_PPL = "latent_ppl"
FIRST = (FROM_EACH_OTHER, TOLD_APART, LATENT_PPL)
"""Numbers that a pair's table begins with, whatever they say."""
MOST_ROWS = 12
"""Of a critic in a pair's table; pairs.csv has them all."""
SIGNS = {RATIO: "×", AUC: ""}


@dataclass(frozen=True)
class Nearer:
    """Which of two systems single documents are told from real ones less often.

    Attributes
    ----------
    verdict
        "first", "second", or "" where the difference may be none.
    text
        The difference in points with its interval.
    p_value
        Unadjusted, as a person reads it.
    structure
        The ratio of their latent PPL, of a density the difference in latent NLL, where it differs (adjusted p below
        5 %), "" elsewhere: systems that are both told from real text without fail can differ all the same.
    """

    verdict: str
    text: str
    p_value: str
    structure: str


@dataclass(frozen=True)
class Pair:
    """Two systems on a corpus.

    Attributes
    ----------
    corpus, system, other
        Names.
    rows
        Of the table of pairs.
    """

    corpus: str
    system: str
    other: str
    rows: pd.DataFrame

    def nearer(self, critic: str) -> Nearer | None:
        """Which one is nearer to real text, to a critic; None where the critic does not judge both."""
        own = self.rows[self.rows["critic"] == critic]
        found = own[own["statistic"] == TOLD_APART]
        if found.empty:
            return None
        ratio = own[(own["statistic"] == LATENT_PPL) & (own["measure"] == RATIO) & (own["p_adjusted"] < SIGNIFICANT)]
        name = "latent NLL" if _is_of_a_density(critic) else "latent PPL"
        structure = [f"{name} {_value(row)}, p {format_p_value(row['p_adjusted'])}" for row in ratio.to_dict("records")]
        value, low, high, p = found.iloc[0][["value", "ci_low", "ci_high", "p_value"]]
        verdict = "first" if high < 0 else "second" if low > 0 else ""
        points, *interval = ("–" if pd.isna(some) else f"{round(100 * some):+d}" for some in (value, low, high))
        return Nearer(verdict, f"{points} [{', '.join(interval)}]", format_p_value(p), "".join(structure))


def pairs_table(results: Results) -> pd.DataFrame:
    """Every number of every pair, with `p_adjusted`: columns of `critics.pairs`; empty where no pair is asked for.

    One family a critic and corpus: all pairs there, in all numbers that make up the critic's verdict on a system.
    """
    tables = [
        read_csv(path, keep_default_na=False, na_values=[""])
        for path in results.plan.critics.side_by_side.pairs_files()
    ]
    if not tables:
        return pd.DataFrame(columns=[*COLUMNS, "p_adjusted"])
    table = pd.concat(tables, ignore_index=True)
    in_family = pd.Series(
        [_in_family(critic, name) for critic, name in zip(table["critic"], table["statistic"], strict=True)],
        index=table.index,
    )
    tests = table[in_family & table["p_value"].notna()]
    families = tests.groupby(["corpus", "critic"], sort=False)["p_value"]
    adjusted = pd.Series(float("nan"), index=table.index)
    adjusted.update(families.transform(benjamini_hochberg))
    at = list(table.columns).index("p_value") + 1
    table.insert(at, "p_adjusted", adjusted)
    return table


def read_pairs(tables: Path) -> pd.DataFrame:
    """The pairs, from the folder of the tables; empty where there are none."""
    path = tables / FILE
    return read_csv(path) if path.exists() else pd.DataFrame(columns=[*COLUMNS, "p_adjusted"])


def pairs_of(table: pd.DataFrame, corpus: str) -> Iterator[Pair]:
    """Pairs of a corpus."""
    own = table[table["corpus"] == corpus]
    for (system, other), rows in own.groupby(["system", "other"], sort=False):
        yield Pair(corpus, str(system), str(other), rows)


def judging_pairs(critics: Sequence[str], pairs: Sequence[Pair]) -> list[str]:
    """Those critics that say which system of any pair is nearer to real text."""
    return [critic for critic in critics if any(pair.nearer(critic) for pair in pairs)]


def display_pair(pair: Pair) -> pd.DataFrame:
    """The numbers of a pair as a person reads them: the first ones of every critic, then what differs, surest first."""
    shown = []
    for critic, rows in pair.rows.groupby("critic", sort=False):
        first = rows[rows["statistic"].isin(FIRST)]
        first = first.sort_values("statistic", key=lambda names: names.map(FIRST.index))
        others = rows[~rows["statistic"].isin(FIRST) & (rows["p_adjusted"] < SIGNIFICANT)].sort_values("p_adjusted")
        for row in pd.concat([first, others]).head(MOST_ROWS).to_dict("records"):
            shown.append(
                {
                    "critic": critic,
                    "number": _title(row, pair),
                    "value": _value(row),
                    "p": format_p_value(row["p_value"]),
                    "p, adjusted": format_p_value(row["p_adjusted"]),
                    "n": f"{row['n_system']:,.0f} and {row['n_other']:,.0f}",
                    "how": row["method"],
                }
            )
    return pd.DataFrame(shown)


def _in_family(critic: str, statistic: str) -> bool:
    """Whether a number's difference between systems is a test of its own, as that to real text is."""
    if statistic == FROM_EACH_OTHER:
        return False
    found = declared(statistics_of(critic_named(critic)), statistic)
    return bool(found.null) and found.difference


def _title(row: dict[str, object], pair: Pair) -> str:
    name = readable(str(row["statistic"]), critic_named(str(row["critic"])).data.quantities)
    if row["measure"] == AUC:
        return f"{name}: share of pairs told rightly"
    if _is_logarithmic(row):
        name = "latent NLL, nats a dimension"
    sign = "÷" if row["measure"] == RATIO and not _is_logarithmic(row) else "−"
    return f"{name}: {pair.system} {sign} {pair.other}"


def _value(row: dict[str, object]) -> str:
    numbers = [float(str(row[name])) for name in ("value", "ci_low", "ci_high")]
    if _is_logarithmic(row):
        with np.errstate(divide="ignore"):
            numbers, sign = np.log(numbers).tolist(), ""
    else:
        sign = SIGNS.get(str(row["measure"]), "")
    value, low, high = map(format_number, numbers)
    return f"{sign}{value} [{low}, {high}]"


def _is_logarithmic(row: dict[str, object]) -> bool:
    """Whether a ratio is shown as a difference in logarithms: perplexities of a density may be any positive number."""
    return row["statistic"] == LATENT_PPL and row["measure"] == RATIO and _is_of_a_density(str(row["critic"]))


def _is_of_a_density(critic: str) -> bool:
    return critic_named(critic).data.density
