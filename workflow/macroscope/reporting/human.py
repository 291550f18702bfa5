"""Correlation of a run's statistics with human judgements: numbers, and what the report shows of them."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from macroscope.config.human_judgements import HumanJudgements
from macroscope.critics import critic_named, is_critic
from macroscope.critics.declaration import difference_tests
from macroscope.critics.divergence_report import DIVERGENCES
from macroscope.options import CONTROL
from macroscope.reporting.results import Results
from macroscope.statistics.human import COLUMNS, correlate_statistics
from macroscope.statistics.judgements import FEWEST_SYSTEMS, Judgements, read_judgements, short_name
from macroscope.statistics.latent import Resampling
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

FILE = "human_correlations.csv"


@dataclass(frozen=True)
class HumanScores:
    """An entry of the config's human judgements with what it speaks about.

    Attributes
    ----------
    options
        The entry.
    judgements
        Its table.
    mapping
        System -> name in the table.
    others
        Systems of the corpus that the table does not speak about.
    """

    options: HumanJudgements
    judgements: Judgements
    mapping: dict[str, str]
    others: list[str]

    @property
    def stem(self) -> str:
        """Beginning of the names of its files."""
        return f"human_{self.options.corpus}_{short_name(self.options.table)}"

    @property
    def has_enough_systems(self) -> bool:
        """Whether systems can be correlated; a table of single documents may have fewer."""
        return len(set(self.mapping.values())) + (self.options.real_text is not None) >= FEWEST_SYSTEMS

    @property
    def title(self) -> str:
        """What a reader knows it by."""
        return f"{Path(self.options.table).name} on {self.options.corpus}"


def judged_by_people(results: Results) -> list[HumanScores]:
    """All entries of the config's human judgements."""
    config = results.plan.config
    found = []
    for number, entry in enumerate(config.human_judgements):
        mapping = config.matched_systems(number)
        others = [system for system in config.judged_systems(entry.corpus) if system not in mapping]
        found.append(HumanScores(entry, read_judgements(entry.table), mapping, others))
    return found


def correlations_table(results: Results, statistics: pd.DataFrame) -> pd.DataFrame:
    """Correlations of every statistic with every table of human judgements: columns of `statistics.human`.

    Parameters
    ----------
    statistics
        All numbers of the run.
    """
    config = results.plan.config
    resampling = Resampling(
        permutations=config.statistics.permutations, confidence=config.statistics.confidence, seed=config.seed
    )
    tables = [
        correlate_statistics(
            statistics[statistics["corpus"] == judged.options.corpus],
            judged.judgements,
            judged.mapping,
            resampling,
            corpus=judged.options.corpus,
            real_text=judged.options.real_text,
        )
        for judged in judged_by_people(results)
        if judged.has_enough_systems
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(COLUMNS))


def read_correlations(tables: Path) -> pd.DataFrame:
    """Correlations from the folder of the tables; empty where the config has no human judgements."""
    path = tables / FILE
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    texts = dict.fromkeys(("corpus", "table", "question", "critic", "statistic", "signature", "reason"), str)
    return read_csv(path, dtype=texts).fillna(dict.fromkeys(texts, ""))


def correlations_of(correlations: pd.DataFrame, judged: HumanScores) -> pd.DataFrame:
    """Rows of one entry."""
    ours = (correlations["corpus"] == judged.options.corpus) & (correlations["table"] == judged.options.table)
    return correlations[ours]


_NO_MEASURES = ("_ratio", "_minimum_detectable")
"""Ends of statistics that say again what another says, or something of the sample."""


def quality_measures(statistics: pd.DataFrame) -> set[tuple[str, str]]:
    """(critic, statistic) of what says how far a system is from real text, and so may agree with people (eq. 3).

    Divergences, distances and shares that test a difference to real text, latent PPL, and word PPL. Not a signed
    difference, since texts may be too long as well as too short, nor what describes a system alone or the sample.
    """
    found: set[tuple[str, str]] = set()
    for critic, some in statistics.groupby("critic", sort=False):
        names = set(some["statistic"])
        chosen = {n for n in names if n.startswith("latent_ppl") and not n.endswith(_NO_MEASURES)} | names & {
            "word_ppl"
        }
        chosen |= names & set(DIVERGENCES)
        if is_critic(str(critic)) and (declared := critic_named(str(critic))).data.compares:
            tests = set(difference_tests(declared, some)["statistic"])
            chosen |= {n for n in tests if not n.endswith("_difference")}
        found |= {(str(critic), name) for name in chosen}
    return found


def only(correlations: pd.DataFrame, measures: set[tuple[str, str]]) -> pd.DataFrame:
    """Rows of some (critic, statistic) that have a Spearman correlation."""
    chosen = [pair in measures for pair in zip(correlations["critic"], correlations["statistic"], strict=True)]
    return correlations[pd.Series(chosen, index=correlations.index, dtype=bool) & correlations["spearman"].notna()]


def display_correlations(correlations: pd.DataFrame) -> pd.DataFrame:
    """A row a statistic, both coefficients of each question with intervals; a star: adjusted p-value below 5 %."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in correlations.to_dict("records"):
        shown = rows.setdefault((row["critic"], row["statistic"]), {})
        for coefficient in ("spearman", "pearson"):
            shown[f"{row['question']}: {coefficient.capitalize()}"] = _cell(row, coefficient)
    table = pd.DataFrame([{"critic": c, "statistic": s, **shown} for (c, s), shown in rows.items()])
    return table.fillna("–")


def display_undefined(correlations: pd.DataFrame) -> pd.DataFrame:
    """What has no correlation, and why: a row a critic and reason."""
    undefined = correlations[correlations["spearman"].isna() | correlations["pearson"].isna()]
    rows = []
    for (critic, reason), some in undefined.groupby(["critic", "reason"], sort=False):
        names = list(dict.fromkeys(some["statistic"]))
        rows.append(
            {"critic": critic, "reason": reason, "statistics": f"{len(names)}", "which": ", ".join(names)}
            | {"questions": ", ".join(dict.fromkeys(some["question"]))}
        )
    return pd.DataFrame(rows)


def display_scores(judged: HumanScores) -> pd.DataFrame:
    """Who stands for whom, with the scores; names without a partner are there, too."""
    questions = judged.judgements.scores
    rows = []
    for name in judged.judgements.systems:
        here = [system for system, to in judged.mapping.items() if to == name]
        if name == judged.options.real_text:
            here = [CONTROL]
        scores = {q: f"{scores[name]:.3g}" if name in scores else "–" for q, scores in questions.items()}
        rows.append({"in the table": name, "here": ", ".join(here) or "–", **scores})
    rows += [{"in the table": "–", "here": system, **dict.fromkeys(questions, "–")} for system in judged.others]
    return pd.DataFrame(rows)


def _cell(row: dict[str, float], coefficient: str) -> str:
    value = row[coefficient]
    if pd.isna(value):
        return "undefined"
    low, high = row[f"{coefficient}_low"], row[f"{coefficient}_high"]
    interval = "" if pd.isna(low) else f" [{low:.2f}, {high:.2f}]"
    spread = row[f"{coefficient}_seed_sd"]
    over_seeds = "" if pd.isna(spread) else f", sd {spread:.2f}"
    return f"{value:.2f}{interval}{over_seeds}" + (" *" if row[f"{coefficient}_p_adjusted"] < SIGNIFICANT else "")
