"""Pairwise comparison of systems: the table of all pairs with adjusted p-values, and its verdicts in the report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import statistics_of
from macroscope.critics.pairs import BETWEEN_SYSTEMS, COLUMNS
from macroscope.reporting.formats import format_number, format_p_value, format_percent
from macroscope.reporting.scorecard import Scorecard
from macroscope.reporting.statistic_names import readable_name
from macroscope.runs.results import Results
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.declaration import match_declaration
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.pairs import AUC, DIFFERENCE, RATIO
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv, read_if_any

FILE = "pairs.csv"
LATENT_PPL = "latent_ppl"
FIRST = (BETWEEN_SYSTEMS, C2ST_AUC, LATENT_PPL)
"""Statistics at the top of a pair's table, significant or not."""
MOST_ROWS = 12
"""Maximum number of rows per critic in a pair's table; pairs.csv has all."""
SIGNS = {RATIO: "×", AUC: ""}
NO_DIFFERENCE = "no difference detected"
CHANCE = 0.5
ESTIMATE = ("value", "ci_low", "ci_high")
ADJUSTED = "p is adjusted over all pairs of this corpus and critic, and the interval is not"


@dataclass(frozen=True)
class Number:
    """A number beside a verdict on two systems.

    Attributes
    ----------
    text
        Number in words, with its interval and p-value.
    explanation
        Compared systems and test.
    """

    text: str
    explanation: str


@dataclass(frozen=True)
class PairVerdict:
    """Verdict of a critic on which of two systems is closer to real text.

    Attributes
    ----------
    system
        Name of the closer system; "" if neither is shown to be closer.
    verdict
        Verdict in words.
    numbers
        Numbers behind the verdict, and the difference in detectability.
    """

    system: str
    verdict: str
    numbers: list[Number]

    @property
    def is_different(self) -> bool:
        return self.verdict != NO_DIFFERENCE


@dataclass(frozen=True)
class Pair:
    """A pair of systems on a corpus.

    Attributes
    ----------
    corpus, system, second
        Names of the corpus, the first and the second system.
    rows
        Rows of the table of pairs.
    """

    corpus: str
    system: str
    second: str
    rows: pd.DataFrame

    def row(self, critic: str, statistic: str, measure: str) -> pd.Series | None:
        """Return the row of a critic's statistic in a measure; None if there is none."""
        rows = self.rows
        matches = rows[(rows["critic"] == critic) & (rows["statistic"] == statistic) & (rows["measure"] == measure)]
        return None if matches.empty else matches.iloc[0]

    def compare(self, critic: str, ratios: Mapping[str, float]) -> PairVerdict | None:
        """Return a critic's verdict on which system is closer to real text; None if the critic did not evaluate both.

        A difference counts if its adjusted p is below 5 %, as on the pair's page. The system with the lower
        detectability is closer. Systems at the ceiling of detectability can differ all the same. If their latent PPLs
        differ, the system whose own ratio to real text is nearer to 1 is closer, provided that both ratios are on the
        same side of 1; otherwise the sizes do not decide. If detectability and structure contradict each other, neither
        is closer.

        Parameters
        ----------
        critic
            Name of the critic.
        ratios
            System -> ratio of its latent PPL to real text's.
        """
        difference = self.row(critic, C2ST_AUC, DIFFERENCE)
        if difference is None:
            return None
        by_detectability = ""
        if _is_significant(difference):
            by_detectability = self.system if difference["value"] < 0 else self.second
        ratio = self.row(critic, LATENT_PPL, RATIO)
        if ratio is None or not _is_significant(ratio):
            return self._compare_detectability(critic, by_detectability, difference)
        by_structure = self._closer_in_structure(ratio["value"], ratios)
        closer = by_detectability or by_structure
        points, structure = self._describe_points(difference, closer), self._describe_structure(ratio, closer)
        numbers = [points, structure] if by_detectability else [structure, points]
        if by_structure not in ("", closer):
            return PairVerdict("", "contradictory: one closer by detectability, the other by structure", numbers)
        verdict = f"{closer} closer" if closer else "different structure, neither shown to be closer"
        return PairVerdict(closer, verdict, numbers)

    def _compare_detectability(self, critic: str, closer: str, difference: pd.Series) -> PairVerdict:
        numbers = [self._describe_points(difference, closer)]
        if closer:
            return PairVerdict(closer, f"{closer} closer", numbers)
        between = self.row(critic, BETWEEN_SYSTEMS, AUC)
        if between is None or not (between["value"] > CHANCE and _is_significant(between)):
            return PairVerdict("", NO_DIFFERENCE, numbers)
        share, low, high = (format_percent(between[name]) for name in ESTIMATE)
        text = f"distinguishable from each other in {share} % of pairs [{low}, {high}]"
        text += f", {_format_adjusted(between)}"
        explanation = (
            f"how often a classifier tells a document of {self.system} from one of {self.second}; 50 % is chance;"
            f" {ADJUSTED}"
        )
        return PairVerdict("", "different, neither shown to be closer", [Number(text, explanation), *numbers])

    def _closer_in_structure(self, ratio: float, ratios: Mapping[str, float]) -> str:
        first, second = (ratios.get(name, float("nan")) for name in (self.system, self.second))
        if first > 1 and second > 1:
            return self.system if ratio < 1 else self.second
        if first < 1 and second < 1:
            return self.system if ratio > 1 else self.second
        return ""

    def _order(self, closer: str) -> tuple[str, str]:
        """Return the system whose number is shown and its reference: the closer system first, or else the first."""
        return (self.second, self.system) if closer == self.second else (self.system, self.second)

    def _describe_points(self, row: pd.Series, closer: str) -> Number:
        shown, reference = self._order(closer)
        points = [100 * row[name] for name in ESTIMATE]
        if shown != self.system:
            points = _negated(*points)
        direction = "lower" if points[0] < 0 else "higher"
        value, low, high = map(_format_points, _negated(*points) if direction == "lower" else points)
        interval = f"[{low}, {high}], {_format_adjusted(row)}"
        size = "equal: 0 points" if value == "0" else f"{value} points {direction}"
        return Number(f"detectability {size} {interval}", f"{shown}, compared with {reference}; {ADJUSTED}")

    def _describe_structure(self, row: pd.Series, closer: str) -> Number:
        shown, reference = self._order(closer)
        numbers = row.to_dict()
        if shown != self.system:
            numbers |= {"value": 1 / row["value"], "ci_low": 1 / row["ci_high"], "ci_high": 1 / row["ci_low"]}
        name, unit, sign = (
            ("latent NLL per dimension", "", "minus") if _is_logarithmic(numbers) else ("latent PPL", " times", "over")
        )
        value, interval = _format_value(numbers).removeprefix(SIGNS[RATIO]).split(" ", 1)
        text = f"{name} {value}{unit} {interval}, {_format_adjusted(row)}"
        return Number(text, f"{shown} {sign} {reference}; {ADJUSTED}")


def pairs_table(results: Results) -> pd.DataFrame:
    """Build the table of all pairs: columns of `critics.pairs` and `p_adjusted`; empty if the config requests no pairs.

    See `with_adjusted_p_values`.
    """
    tables = [read_csv(path) for path in results.tables("pairs_files")]
    if not tables:
        return pd.DataFrame(columns=[*COLUMNS, "p_adjusted"])
    return with_adjusted_p_values(pd.concat(tables, ignore_index=True))


def with_adjusted_p_values(table: pd.DataFrame) -> pd.DataFrame:
    """Add `p_adjusted` to a table of pairs (Benjamini-Hochberg).

    A family of tests consists of all pairs of a critic and corpus: whether a classifier tells the two systems apart,
    and the difference in every statistic that tests one to real text.
    """
    in_family = pd.Series(
        [_in_family(critic, name) for critic, name in zip(table["critic"], table["statistic"], strict=True)],
        index=table.index,
    )
    tests = table[in_family & table["p_value"].notna()]
    families = tests.groupby(["corpus", "critic"], sort=False)["p_value"]
    adjusted = pd.Series(float("nan"), index=table.index)
    adjusted.update(families.transform(benjamini_hochberg))
    at = list(table.columns).index("p_value") + 1
    with_adjusted = table.copy()
    with_adjusted.insert(at, "p_adjusted", adjusted)
    return with_adjusted


def read_pairs(tables: Path) -> pd.DataFrame:
    """Read the pairs from the folder of the tables; empty if there are none."""
    return read_if_any(tables / FILE, [*COLUMNS, "p_adjusted"])


def pairs_of(table: pd.DataFrame, corpus: str) -> Iterator[Pair]:
    """Yield the pairs of a corpus."""
    corpus_rows = table[table["corpus"] == corpus]
    for (system, second), rows in corpus_rows.groupby(["system", "other"], sort=False):
        yield Pair(corpus, str(system), str(second), rows)


def comparing_critics(critics: Sequence[str], pairs: Sequence[Pair]) -> list[str]:
    return [critic for critic in critics if any(pair.row(critic, C2ST_AUC, DIFFERENCE) is not None for pair in pairs)]


def closer_systems(system: str, pairs: Sequence[Pair], scorecard: Scorecard) -> set[str]:
    """Return the systems that any usable critic finds closer to real text than this one."""
    pairs_of_system = [pair for pair in pairs if system in (pair.system, pair.second)]
    verdicts = [
        pair.compare(critic, scorecard.ratios(critic)) for pair in pairs_of_system for critic in scorecard.usable
    ]
    return {verdict.system for verdict in verdicts if verdict is not None} - {"", system}


def display_pair(pair: Pair) -> pd.DataFrame:
    """Format the numbers of a pair for readers: `FIRST` of every critic, then significant differences by p-value."""
    shown = []
    for critic, rows in pair.rows.groupby("critic", sort=False):
        first = rows[rows["statistic"].isin(FIRST)]
        first = first.sort_values("statistic", key=lambda names: names.map(FIRST.index))
        others = rows[~rows["statistic"].isin(FIRST) & (rows["p_adjusted"] < SIGNIFICANT)].sort_values("p_adjusted")
        for row in pd.concat([first, others]).head(MOST_ROWS).to_dict("records"):
            shown.append(
                {
                    "critic": critic,
                    "statistic": _title(row, pair),
                    "value": _format_value(row),
                    "p": format_p_value(row["p_value"]),
                    "p, adjusted": format_p_value(row["p_adjusted"]),
                    "n": f"{row['n_system']:,.0f} and {row['n_other']:,.0f}",
                    "method": row["method"],
                }
            )
    return pd.DataFrame(shown)


def _negated(value: float, low: float, high: float) -> list[float]:
    return [-value, -high, -low]


def _is_significant(row: pd.Series) -> bool:
    return bool(row["p_adjusted"] < SIGNIFICANT)


def _format_adjusted(row: pd.Series) -> str:
    return f"adjusted p {format_p_value(row['p_adjusted'])}"


def _format_points(points: float) -> str:
    return "–" if pd.isna(points) else str(round(points))


def _in_family(critic: str, statistic: str) -> bool:
    if statistic == BETWEEN_SYSTEMS:
        return True
    declaration = match_declaration(statistics_of(get_critic(critic)), statistic)
    return bool(declaration.null) and declaration.difference


def _title(row: dict[str, object], pair: Pair) -> str:
    name = readable_name(str(row["statistic"]), get_critic(str(row["critic"])).data.quantities)
    if row["measure"] == AUC:
        return f"{name}: share of pairs classified correctly"
    if _is_logarithmic(row):
        name = "latent NLL, nats per dimension"
    sign = "÷" if row["measure"] == RATIO and not _is_logarithmic(row) else "−"
    return f"{name}: {pair.system} {sign} {pair.second}"


def _format_value(row: dict[str, object]) -> str:
    numbers = [float(str(row[name])) for name in ESTIMATE]
    if _is_logarithmic(row):
        with np.errstate(divide="ignore"):
            numbers, sign = np.log(numbers).tolist(), ""
    else:
        sign = SIGNS.get(str(row["measure"]), "")
    value, low, high = map(format_number, numbers)
    return f"{sign}{value} [{low}, {high}]"


def _is_logarithmic(row: dict[str, object]) -> bool:
    """Return whether a ratio is shown as a difference of logarithms, because its perplexities come from a density."""
    return row["statistic"] == LATENT_PPL and row["measure"] == RATIO and _is_of_a_density(str(row["critic"]))


def _is_of_a_density(critic: str) -> bool:
    return get_critic(critic).data.density
