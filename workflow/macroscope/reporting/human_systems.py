"""Correlation of a run's statistics with human judgements: computation, selection, and display."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from macroscope.config.human_judgements import HumanJudgements
from macroscope.critics import get_critic, is_critic
from macroscope.critics.declaration import difference_tests
from macroscope.critics.report_tables import DIVERGENCES
from macroscope.documents import read_documents
from macroscope.natural_language.words import count_words
from macroscope.options import CONTROL, Resampling
from macroscope.reporting.formats import format_two_decimals
from macroscope.runs.results import Results
from macroscope.statistics.judgements import FEWEST_SYSTEMS, Judgements, read_judgements, short_name
from macroscope.statistics.system_ratings import COLUMNS, correlate_statistics
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_if_any

FILE = "human_correlations.csv"


@dataclass(frozen=True)
class HumanScores:
    """An entry of the config's human judgements, with its table and the systems that it scores.

    Attributes
    ----------
    options
        Entry of the config.
    judgements
        Table of the judgements.
    mapping
        System -> name in the table.
    others
        Systems of the corpus that are not in the table.
    """

    options: HumanJudgements
    judgements: Judgements
    mapping: dict[str, str]
    others: list[str]

    @property
    def stem(self) -> str:
        """Return the stem of the names of the entry's files."""
        return f"human_{self.options.corpus}_{short_name(self.options.table)}"

    @property
    def has_enough_systems(self) -> bool:
        """Return whether there are enough systems to correlate; a table of documents may have fewer."""
        return len(set(self.mapping.values())) + (self.options.real_text is not None) >= FEWEST_SYSTEMS

    @property
    def title(self) -> str:
        """Return the title of the entry: file name and corpus."""
        return f"{Path(self.options.table).name} on {self.options.corpus}"


def read_human_scores(results: Results) -> list[HumanScores]:
    """Read all entries of the config's human judgements, without what failed."""
    config = results.config
    scores = []
    for number, entry in enumerate(config.human_judgements):
        if config.lacks(entry.corpus):
            continue
        judged = [name for name in config.judged_systems(entry.corpus) if not config.lacks(entry.corpus, name)]
        mapping = {name: there for name, there in config.matched_systems(number).items() if name in judged}
        others = [system for system in judged if system not in mapping]
        scores.append(HumanScores(entry, read_judgements(entry.table), mapping, others))
    return scores


def correlations_table(results: Results, statistics: pd.DataFrame) -> pd.DataFrame:
    """Compute the correlations of every statistic with every table of human judgements (`system_ratings.COLUMNS`).

    Parameters
    ----------
    results
        Results of the run.
    statistics
        All statistics of the run.
    """
    config = results.config
    resampling = Resampling(
        permutations=config.statistics.permutations, confidence=config.statistics.confidence, seed=config.seed
    )
    tables = [
        correlate_statistics(
            statistics[statistics["corpus"] == human_scores.options.corpus],
            human_scores.judgements,
            human_scores.mapping,
            resampling,
            corpus=human_scores.options.corpus,
            real_text=human_scores.options.real_text,
            lengths=read_lengths(results, human_scores.options.corpus).groupby("system")["words"].mean().to_dict(),
        )
        for human_scores in read_human_scores(results)
        if human_scores.has_enough_systems
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(COLUMNS))


def read_lengths(results: Results, corpus: str) -> pd.DataFrame:
    """Read the number of words of every text of a corpus's systems: columns system, document, words."""
    is_whole = results.config.system(CONTROL).is_whole_corpus()
    rows = []
    for system in results.systems(corpus):
        is_corpus = is_whole and system == CONTROL
        path = results.documents_of(corpus) if is_corpus else results.samples_of(corpus, system)
        rows += [(system, text.id, count_words(text.text)) for text in read_documents(path)]
    return pd.DataFrame(rows, columns=["system", "document", "words"])


def read_correlations(tables: Path) -> pd.DataFrame:
    """Read the correlations from the folder of the tables; empty if the config has no human judgements."""
    texts = ("corpus", "table", "question", "critic", "statistic", "signature", "reason")
    return read_if_any(tables / FILE, COLUMNS, texts)


def select_correlations(correlations: pd.DataFrame, human_scores: HumanScores) -> pd.DataFrame:
    """Return the rows of one entry of the config."""
    selected = (correlations["corpus"] == human_scores.options.corpus) & (
        correlations["table"] == human_scores.options.table
    )
    return correlations[selected]


_NOT_MEASURES = ("_ratio", "_minimum_detectable")
"""Suffixes of statistics that repeat another one, or describe the sample."""


def quality_measures(statistics: pd.DataFrame) -> set[tuple[str, str]]:
    """Return (critic, statistic) for measures of the distance to real text, which may agree with people (eq. 3).

    Divergences, distances and shares that test a difference to real text, latent PPL, and word PPL. Excluded are signed
    differences, because texts may be too long as well as too short, and descriptions of a system alone or the sample.
    """
    measures: set[tuple[str, str]] = set()
    for critic, rows in statistics.groupby("critic", sort=False):
        names = set(rows["statistic"])
        chosen = {n for n in names if n.startswith("latent_ppl") and not n.endswith(_NOT_MEASURES)} | names & {
            "word_ppl"
        }
        chosen |= names & set(DIVERGENCES)
        if is_critic(str(critic)) and (declared := get_critic(str(critic))).data.compares:
            tests = set(difference_tests(declared, rows)["statistic"])
            chosen |= {n for n in tests if not n.endswith("_difference")}
        measures |= {(str(critic), name) for name in chosen}
    return measures


def select_measures(correlations: pd.DataFrame, measures: set[tuple[str, str]]) -> pd.DataFrame:
    """Return the rows of the given (critic, statistic) that have a Spearman correlation."""
    chosen = [pair in measures for pair in zip(correlations["critic"], correlations["statistic"], strict=True)]
    return correlations[pd.Series(chosen, index=correlations.index, dtype=bool) & correlations["spearman"].notna()]


def display_correlations(correlations: pd.DataFrame) -> pd.DataFrame:
    """Format a row per statistic: both coefficients per question with intervals; a star for adjusted p < 5 %."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in correlations.to_dict("records"):
        shown = rows.setdefault((row["critic"], row["statistic"]), {})
        for coefficient in ("spearman", "pearson"):
            shown[f"{row['question']}: {coefficient.capitalize()}"] = _cell(row, coefficient)
            shown[f"{row['question']}: {coefficient.capitalize()} given length"] = _given_length(row, coefficient)
    table = pd.DataFrame([{"critic": c, "statistic": s, **shown} for (c, s), shown in rows.items()])
    is_given = [not str(column).endswith("given length") or (table[column] != "–").any() for column in table]
    return table.loc[:, is_given].fillna("–")


def display_undefined(correlations: pd.DataFrame) -> pd.DataFrame:
    """Format the undefined correlations: a row per critic and reason."""
    undefined = correlations[correlations["spearman"].isna() | correlations["pearson"].isna()]
    rows = []
    for (critic, reason), group in undefined.groupby(["critic", "reason"], sort=False):
        names = list(dict.fromkeys(group["statistic"]))
        rows.append(
            {"critic": critic, "reason": reason, "count": f"{len(names)}", "statistics": ", ".join(names)}
            | {"questions": ", ".join(dict.fromkeys(group["question"]))}
        )
    return pd.DataFrame(rows)


def display_scores(human_scores: HumanScores) -> pd.DataFrame:
    """Format the scores with the matched systems, including unmatched names on both sides."""
    questions = human_scores.judgements.scores
    rows = []
    for name in human_scores.judgements.systems:
        matches = [system for system, target in human_scores.mapping.items() if target == name]
        if name == human_scores.options.real_text:
            matches = [CONTROL]
        scores = {q: f"{scores[name]:.3g}" if name in scores else "–" for q, scores in questions.items()}
        rows.append({"in the table": name, "in this run": ", ".join(matches) or "–", **scores})
    rows += [
        {"in the table": "–", "in this run": system, **dict.fromkeys(questions, "–")} for system in human_scores.others
    ]
    return pd.DataFrame(rows)


def _given_length(row: dict[str, float], coefficient: str) -> str:
    cell = format_two_decimals(*(row[f"{coefficient}_partial{end}"] for end in ("", "_low", "_high")))
    return cell + (" *" if row[f"{coefficient}_partial_p_value"] < SIGNIFICANT else "")


def _cell(row: dict[str, float], coefficient: str) -> str:
    if pd.isna(row[coefficient]):
        return "undefined"
    cell = format_two_decimals(*(row[f"{coefficient}{end}"] for end in ("", "_low", "_high")))
    spread = row[f"{coefficient}_seed_sd"]
    over_seeds = "" if pd.isna(spread) else f", sd {spread:.2f}"
    return cell + over_seeds + (" *" if row[f"{coefficient}_p_adjusted"] < SIGNIFICANT else "")
