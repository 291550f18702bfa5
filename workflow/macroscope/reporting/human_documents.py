"""What critics have of single documents against what people said of them: tables of a run."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.document_values import ATTRIBUTION_SCORE, document_values
from macroscope.critics.two_sample_test import Files
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL, require_name
from macroscope.reporting.human import HumanScores, judged_by_people
from macroscope.reporting.results import Results
from macroscope.reporting.statistic_names import readable
from macroscope.statistics.judgements import holds_documents
from macroscope.statistics.latent import Resampling
from macroscope.statistics.ratings import COLUMNS, RATINGS, correlate_ratings, named, read_ratings
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

log = logging.getLogger(__name__)

FILE = "human_documents.csv"
_SHOWN = {"pearson": "Pearson", "spearman": "Spearman", "disattenuated": "free of annotators' error"}


def documents_table(results: Results) -> pd.DataFrame:
    """Correlations of documents with every table of ratings that the config names: corpus, table, `COLUMNS`."""
    tables = [
        correlate_run(results, judged.options.corpus, judged.options.table, with_real_text(judged)).assign(
            corpus=judged.options.corpus, table=judged.options.table
        )
        for judged in judged_by_people(results)
        if holds_documents(judged.options.table)
    ]
    columns = ["corpus", "table", *COLUMNS]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def with_real_text(judged: HumanScores) -> dict[str, str]:
    """System -> name in the table; the control is the table's real text, or has the same name there."""
    real = judged.options.real_text or CONTROL
    return judged.mapping | ({CONTROL: real} if real in judged.judgements.systems else {})


def correlate_run(
    results: Results, corpus: str, table: str, mapping: Mapping[str, str] | None = None, resamples: int | None = None
) -> pd.DataFrame:
    """Correlate what every critic of a run has of single documents with ratings.

    Parameters
    ----------
    mapping
        System -> name in the ratings; default: those of the same name.
    resamples
        Default: those of the run's config.
    """
    config, ratings = results.plan.config, read_ratings(table)
    systems = results.systems(corpus)
    chapters = results.plan.critics.chapters
    if mapping is None:
        names = {*ratings["system"], *ratings["against"]}
        mapping = {system: system for system in systems if system in names}
    ours = named(ratings, mapping) if mapping else pd.DataFrame(columns=list(RATINGS))
    if ours.empty:
        raise MacroscopeError(
            f"{table}: no rating is of a system that the run judges on '{corpus}' ({', '.join(systems)})"
        )
    if len(ours) < len(ratings):
        elsewhere = f"{len(ratings) - len(ours):,} of {len(ratings):,}"
        log.warning("%s: %s ratings are of systems that the run does not judge, and do not count", table, elsewhere)
    judging = [critic for (critic, where), some in chapters.items() if where == corpus and some]
    values = pd.concat([values_of(results, critic, corpus) for critic in judging], ignore_index=True)
    statistics = config.statistics
    return correlate_ratings(
        ours,
        values,
        Resampling(resamples=resamples or statistics.resamples, confidence=statistics.confidence, seed=config.seed),
    )


def values_of(results: Results, critic: str, corpus: str) -> pd.DataFrame:
    """What a critic has of every document of a corpus: `critics.document_values`."""
    plan = results.plan.critics
    declared = plan.found[critic]
    files = {
        system: Files(
            results.place("latents", critic, corpus=corpus, system=system),
            results.place("scores", critic, corpus=corpus, system=system) if declared.data.scores else None,
        )
        for system in plan.chapters[critic, corpus]
    }
    attribution = {
        system: results.place("attributions", critic, corpus=corpus, system=system)
        for system in files
        if declared.data.attribution
    }
    return document_values(declared, files, attribution, results.plan.config.seed)


def corpus_of(results: Results, corpus: str | None, run: Path) -> str:
    """The corpus that is asked for, or the only one."""
    found = results.corpora()
    if corpus is None:
        if len(found) > 1:
            raise MacroscopeError(f"{run}: several corpora ({', '.join(found)}); choose one with --corpus")
        return found[0]
    try:
        require_name(corpus, dict.fromkeys(found), str(run), "corpus")
    except ValueError as error:
        raise MacroscopeError(str(error)) from None
    return corpus


def read_documents_table(tables: Path) -> pd.DataFrame:
    """Correlations of documents from the folder of the tables; empty where the config names no ratings."""
    path = tables / FILE
    if not path.exists():
        return pd.DataFrame(columns=["corpus", "table", *COLUMNS])
    texts = ("corpus", "table", "question", "critic", "statistic", "documents_of", "interval_over", "reason")
    return read_csv(path, dtype=dict.fromkeys(texts, str)).fillna(dict.fromkeys(texts, ""))


def display_documents(table: pd.DataFrame) -> pd.DataFrame:
    """Rows that have a correlation, the surest first; a star: adjusted p-value below 5 %."""
    found = table[table["pearson"].notna()].sort_values("pearson_p_value", kind="stable")
    rows = [
        {"question": row["question"], "critic": row["critic"], "number": _number(row)}
        | {"documents": row["documents_of"], "n": str(row["documents"])}
        | {title: _cell(row, name) for name, title in _SHOWN.items()}
        | {"reliability": "–" if pd.isna(row["reliability"]) else f"{row['reliability']:.2f}"}
        for row in found.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _number(row: Mapping[str, Any]) -> str:
    critic = critic_named(row["critic"]).data
    if row["statistic"] == ATTRIBUTION_SCORE and critic.attribution is not None:
        return f"{critic.attribution.score} ({critic.attribution.unit})"
    return readable(row["statistic"], critic.quantities)


def _cell(row: Mapping[str, float], name: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if pd.isna(value):
        return "–"
    interval = "" if pd.isna(low) else f" [{low:.2f}, {high:.2f}]"
    star = " *" if f"{name}_p_adjusted" in row and row[f"{name}_p_adjusted"] < SIGNIFICANT else ""
    return f"{value:.2f}{interval}{star}"
