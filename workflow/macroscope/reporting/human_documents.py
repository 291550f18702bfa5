"""Correlation of critics' per-document scores with human ratings, and its tables."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.attributions import read_scores
from macroscope.critics.declaration import Critic
from macroscope.critics.features import feature_extractor
from macroscope.critics.latents import read_numbers
from macroscope.critics.two_sample_test import CriticFiles
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL, Resampling
from macroscope.registry import Plugin
from macroscope.reporting.formats import format_two_decimals
from macroscope.reporting.human_systems import HumanScores, read_human_scores, read_lengths
from macroscope.reporting.statistic_names import readable_name
from macroscope.runs.results import Results
from macroscope.statistics.classifier_two_sample_test import cross_fit_log_odds
from macroscope.statistics.document_classifier import label_documents
from macroscope.statistics.document_groups import group_labels
from macroscope.statistics.document_ratings import COLUMNS, RATINGS, correlate_ratings, read_ratings, rename_systems
from macroscope.statistics.judgements import has_document_ratings
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_if_any

LOG_ODDS = "log_odds_unlike_real"
"""Name of the log odds that the document is the system's and not real, from the classifier of the detectability, which
is not trained on the document."""
ATTRIBUTION_SCORE = "attribution_score"
"""Name of the attribution score of a critic without a prior (`attribution` in its declaration). Larger scores are less
like real text."""
POSITION = "block"
"""Column of latents that locates a document and does not describe it."""
VALUES = ("critic", "statistic", "system", "document", "value")


def document_values(
    critic: Plugin[Critic], files: Mapping[str, CriticFiles], attributions: Mapping[str, Path], seed: int
) -> pd.DataFrame:
    """Return the finite values of every document that a critic judges, with columns `VALUES`.

    The values are T(x) per unit and the number of units (critics with a prior) or `ATTRIBUTION_SCORE` (critics without
    one), every numeric column of the latents, and `LOG_ODDS`.

    Parameters
    ----------
    files
        System -> output files of the critic; the control is included.
    attributions
        System -> path of its attributions; empty if the critic has no stage `attribute`.
    """
    tables = []
    for system, paths in files.items():
        numbers = _read_numbers(paths)
        if paths.scores is None and system in attributions:
            numbers = pd.concat([numbers, _read_attribution_scores(attributions[system])])
        if system != CONTROL:
            numbers = pd.concat([numbers, _compute_log_odds(critic, files[CONTROL], paths, seed)])
        tables.append(numbers.assign(system=system))
    values = pd.concat(tables, ignore_index=True).assign(critic=critic.name)
    return values[np.isfinite(values["value"])][list(VALUES)]


def _read_numbers(paths: CriticFiles) -> pd.DataFrame:
    keys, columns = read_numbers(paths.latents)
    tables = [_to_long(keys["id"], columns.drop(columns=POSITION, errors="ignore"))]
    if paths.scores is not None:
        scores = pd.read_parquet(paths.scores, columns=["id", "nll", "units"])
        per_unit = pd.DataFrame({"nll_per_unit": scores["nll"] / scores["units"], "units": scores["units"]})
        tables.insert(0, _to_long(scores["id"], per_unit))
    return pd.concat(tables)


def _read_attribution_scores(path: Path) -> pd.DataFrame:
    names, scores, _ = read_scores(path)
    return _to_long(pd.Series(names), pd.DataFrame({ATTRIBUTION_SCORE: scores}))


def _compute_log_odds(critic: Plugin[Critic], control: CriticFiles, system: CriticFiles, seed: int) -> pd.DataFrame:
    features = feature_extractor(critic)
    reference, candidate = features(control.latents, control.scores), features(system.latents, system.scores)
    documents = label_documents(reference, candidate, group_labels(reference.keys, candidate.keys))
    odds = cross_fit_log_odds(documents, seed).log_odds[len(reference) :]
    is_judged = np.isfinite(odds)
    mean = np.where(is_judged, odds, 0).sum(axis=1) / np.where(is_judged.any(axis=1), is_judged.sum(axis=1), np.nan)
    return _to_long(candidate.keys["id"], pd.DataFrame({LOG_ODDS: mean}))


def _to_long(names: pd.Series, columns: pd.DataFrame) -> pd.DataFrame:
    """Return one row per document and column; the mean over its texts if the critic judges sections or lines."""
    document = pd.Series(names.astype(str).to_numpy(), name="document")
    means = columns.astype(float).reset_index(drop=True).groupby(document, sort=False).mean()
    return means.reset_index().melt("document", var_name="statistic", value_name="value")


log = logging.getLogger(__name__)

FILE = "human_documents.csv"
_SHOWN = {
    "pearson": "Pearson",
    "partial_pearson": "Pearson given length",
    "spearman": "Spearman",
    "disattenuated": "corrected for annotators' error",
}


def documents_table(results: Results) -> pd.DataFrame:
    """Compute the correlations of documents with every table of ratings in the config: corpus, table, `COLUMNS`."""
    tables = [
        correlate_run(
            results, human_scores.options.corpus, human_scores.options.table, map_systems(human_scores)
        ).assign(corpus=human_scores.options.corpus, table=human_scores.options.table)
        for human_scores in read_human_scores(results)
        if has_document_ratings(human_scores.options.table)
    ]
    columns = ["corpus", "table", *COLUMNS]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def map_systems(human_scores: HumanScores) -> dict[str, str]:
    """Return system -> name in the table; the control is the table's real text, or has its own name there."""
    real = human_scores.options.real_text or CONTROL
    return human_scores.mapping | ({CONTROL: real} if real in human_scores.judgements.systems else {})


def correlate_run(
    results: Results, corpus: str, table: str, mapping: Mapping[str, str] | None = None, resamples: int | None = None
) -> pd.DataFrame:
    """Correlate the per-document scores of every critic of a run with ratings.

    Parameters
    ----------
    results
        Results of the run.
    corpus
        Name of the corpus.
    table
        Ratings: a CSV file, or a folder written by `macroscope human collect`.
    mapping
        System -> name in the ratings; default: equal names.
    resamples
        Number of resamples; default: that of the run's config.

    Raises
    ------
    MacroscopeError
        If no rating is about a system of the run.
    """
    config, ratings = results.config, read_ratings(table)
    systems = results.systems(corpus)
    chapters = results.contents.chapters
    if mapping is None:
        names = {*ratings["system"], *ratings["against"]}
        mapping = {system: system for system in systems if system in names}
    matched = rename_systems(ratings, mapping) if mapping else pd.DataFrame(columns=list(RATINGS))
    if matched.empty:
        raise MacroscopeError(
            f"{table}: no ratings of the systems that the run evaluates on '{corpus}' ({', '.join(systems)}); check the"
            " names in the table"
        )
    if len(matched) < len(ratings):
        elsewhere = f"{len(ratings) - len(matched):,} of {len(ratings):,}"
        log.warning("%s: ignore %s ratings of systems that the run does not evaluate", table, elsewhere)
    critics = [critic for (critic, name), evaluated in chapters.items() if name == corpus and evaluated]
    values = pd.concat([read_document_values(results, critic, corpus) for critic in critics], ignore_index=True)
    statistics = config.statistics
    return correlate_ratings(
        matched,
        values,
        Resampling(resamples=resamples or statistics.resamples, confidence=statistics.confidence, seed=config.seed),
        read_lengths(results, corpus),
    )


def read_document_values(results: Results, critic: str, corpus: str) -> pd.DataFrame:
    """Read a critic's values of every document of a corpus; see `critics.document_values`."""
    latents, scores, attributions = (results.outputs(name) for name in ("latents", "scores", "attributions"))
    keys = {system: (critic, corpus, system) for system in results.contents.chapters[critic, corpus]}
    files = {system: CriticFiles(latents[key], scores.get(key)) for system, key in keys.items()}
    attributed = {system: attributions[key] for system, key in keys.items() if key in attributions}
    return document_values(get_critic(critic), files, attributed, results.config.seed)


def read_documents_table(tables: Path) -> pd.DataFrame:
    """Read the correlations of documents from the folder of the tables; empty if the config names no ratings."""
    texts = ("corpus", "table", "question", "critic", "statistic", "documents_of", "interval_over", "reason")
    return read_if_any(tables / FILE, ["corpus", "table", *COLUMNS], texts)


def display_documents(table: pd.DataFrame) -> pd.DataFrame:
    """Format the rows with a correlation, sorted by p-value; a star for adjusted p < 5 %."""
    defined = table[table["pearson"].notna()].sort_values("pearson_p_value", kind="stable")
    rows = [
        {"question": row["question"], "critic": row["critic"], "score": _readable_score(row)}
        | {"documents": row["documents_of"], "n": str(row["documents"])}
        | {title: _cell(row, name) for name, title in _SHOWN.items()}
        | {"reliability": "–" if pd.isna(row["reliability"]) else f"{row['reliability']:.2f}"}
        for row in defined.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _readable_score(row: Mapping[str, Any]) -> str:
    critic = get_critic(row["critic"]).data
    if row["statistic"] == ATTRIBUTION_SCORE and critic.attribution is not None:
        return f"{critic.attribution.score} ({critic.attribution.unit})"
    return readable_name(row["statistic"], critic.quantities)


def _cell(row: Mapping[str, float], name: str) -> str:
    cell = format_two_decimals(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))
    return cell + (" *" if f"{name}_p_adjusted" in row and row[f"{name}_p_adjusted"] < SIGNIFICANT else "")
