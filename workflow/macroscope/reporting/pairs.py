"""System against system: the table of all pairs, adjusted for their number, and what the report shows of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.declaration import statistics_of
from macroscope.critics.pairs import COLUMNS, FROM_EACH_OTHER
from macroscope.reporting.formats import format_number, format_p_value
from macroscope.reporting.results import Results
from macroscope.reporting.scorecard import Scorecard, percent
from macroscope.reporting.statistic_names import readable
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.declaration import declared
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.pairs import AUC, DIFFERENCE, RATIO
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

FILE = "pairs.csv"
LATENT_PPL = "latent_ppl"
FIRST = (FROM_EACH_OTHER, C2ST_AUC, LATENT_PPL)
"""Numbers that a pair's table begins with, whatever they say."""
MOST_ROWS = 12
"""Of a critic in a pair's table; pairs.csv has them all."""
SIGNS = {RATIO: "×", AUC: ""}
NO_DIFFERENCE = "no difference seen"
CHANCE = 0.5
ESTIMATE = ("value", "ci_low", "ci_high")


@dataclass(frozen=True)
class Number:
    """A number beside a verdict on two systems.

    Attributes
    ----------
    text
        The number in words, with its interval and p-value.
    about
        What it is of, and how it was tested.
    """

    text: str
    about: str


@dataclass(frozen=True)
class Nearer:
    """Which of two systems is nearer to real text, to a critic.

    Attributes
    ----------
    system
        Name of the nearer one; "" where neither is shown to be.
    verdict
        As a person reads it.
    numbers
        What it rests on, and how often each is told from real text.
    """

    system: str
    verdict: str
    numbers: list[Number]

    @property
    def is_different(self) -> bool:
        """Whether the critic sees any difference between the two."""
        return self.verdict != NO_DIFFERENCE


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

    def row(self, critic: str, statistic: str, measure: str) -> pd.Series | None:
        """A number of a critic; None where it has none."""
        rows = self.rows
        found = rows[(rows["critic"] == critic) & (rows["statistic"] == statistic) & (rows["measure"] == measure)]
        return None if found.empty else found.iloc[0]

    def nearer(self, critic: str, ratios: Mapping[str, float]) -> Nearer | None:
        """Which one is nearer to real text, to a critic; None where the critic does not judge both.

        The one that single documents are told from real ones less often. Systems that are both told from real text
        without fail can differ all the same: where the ratio of their latent PPL differs (adjusted p below 5 %), the
        nearer one is that whose own ratio to real text is nearer to 1, but only where both lie on the same side of 1:
        else the size of their ratio does not say which one is. Where the two ways contradict each other, neither is.

        Parameters
        ----------
        ratios
            System -> latent PPL over real text's.
        """
        apart = self.row(critic, C2ST_AUC, DIFFERENCE)
        if apart is None:
            return None
        by_texts = self.system if apart["ci_high"] < 0 else self.other if apart["ci_low"] > 0 else ""
        ratio = self.row(critic, LATENT_PPL, RATIO)
        if ratio is None or not ratio["p_adjusted"] < SIGNIFICANT:
            return self._by_texts(critic, by_texts, apart)
        by_structure = self._nearer_in_structure(ratio["value"], ratios)
        found = by_texts or by_structure
        points, structure = self._points(apart, found), self._structure(ratio, found)
        numbers = [points, structure] if by_texts else [structure, points]
        if by_structure not in ("", found):
            return Nearer("", "differ: one nearer by its texts, the other by its structure", numbers)
        return Nearer(found, f"{found} nearer" if found else "differ in structure, neither shown to be nearer", numbers)

    def _by_texts(self, critic: str, nearer: str, apart: pd.Series) -> Nearer:
        numbers = [self._points(apart, nearer)]
        if nearer:
            return Nearer(nearer, f"{nearer} nearer", numbers)
        each_other = self.row(critic, FROM_EACH_OTHER, AUC)
        if each_other is None or not each_other["ci_low"] > CHANCE:
            return Nearer("", NO_DIFFERENCE, numbers)
        share, low, high = (percent(each_other[name]) for name in ESTIMATE)
        text = f"told from each other in {share} % of pairs [{low}, {high}]"
        about = f"shown a document of either, how often a judge picks that of {self.system}; 50 % is chance"
        return Nearer("", "neither shown to be nearer, but different", [Number(text, about), *numbers])

    def _nearer_in_structure(self, ratio: float, ratios: Mapping[str, float]) -> str:
        own, others = (ratios.get(name, float("nan")) for name in (self.system, self.other))
        if own > 1 and others > 1:
            return self.system if ratio < 1 else self.other
        if own < 1 and others < 1:
            return self.system if ratio > 1 else self.other
        return ""

    def _sides(self, nearer: str) -> tuple[str, str]:
        """Whose number is told and over whose: the nearer system's, or the first's."""
        return (self.other, self.system) if nearer == self.other else (self.system, self.other)

    def _points(self, row: pd.Series, nearer: str) -> Number:
        one, another = self._sides(nearer)
        more = [100 * row[name] for name in ESTIMATE]
        if one != self.system:
            more = _negated(*more)
        often = "less" if more[0] < 0 else "more"
        points, low, high = map(_whole, _negated(*more) if often == "less" else more)
        interval = f"[{low}, {high}], p {format_p_value(row['p_value'])}"
        how = "as often: 0 points" if points == "0" else f"{points} points {often} often"
        text = f"told from real text {how} {interval}"
        return Number(text, f"{one}, compared with {another}")

    def _structure(self, row: pd.Series, nearer: str) -> Number:
        one, another = self._sides(nearer)
        told = row.to_dict()
        if one != self.system:
            told |= {"value": 1 / row["value"], "ci_low": 1 / row["ci_high"], "ci_high": 1 / row["ci_low"]}
        name, unit, sign = (
            ("latent NLL a dimension", "", "minus") if _is_logarithmic(told) else ("latent PPL", " times", "over")
        )
        value, interval = _value(told).removeprefix(SIGNS[RATIO]).split(" ", 1)
        text = f"{name} {value}{unit} {interval}, p {format_p_value(row['p_adjusted'])}"
        return Number(text, f"{one} {sign} {another}; p adjusted over all pairs of this corpus and critic")


def pairs_table(results: Results) -> pd.DataFrame:
    """Every number of every pair, with `p_adjusted`: columns of `critics.pairs`; empty where no pair is asked for.

    One family a critic and corpus: all pairs there, in all numbers that make up the critic's verdict on a system.
    """
    tables = [read_csv(path) for path in results.plan.critics.side_by_side.pairs_files()]
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
    return [critic for critic in critics if any(pair.row(critic, C2ST_AUC, DIFFERENCE) is not None for pair in pairs)]


def nearer_systems(system: str, pairs: Sequence[Pair], matrix: Scorecard) -> set[str]:
    """Systems that some critic calls nearer to real text than this one."""
    own = [pair for pair in pairs if system in (pair.system, pair.other)]
    found = [pair.nearer(critic, matrix.ratios(critic)) for pair in own for critic in matrix.usable]
    return {some.system for some in found if some is not None} - {"", system}


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


def _negated(value: float, low: float, high: float) -> list[float]:
    return [-value, -high, -low]


def _whole(points: float) -> str:
    return "–" if pd.isna(points) else str(round(points))


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
    numbers = [float(str(row[name])) for name in ESTIMATE]
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
