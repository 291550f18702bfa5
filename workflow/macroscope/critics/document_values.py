"""Per-document values of each critic, to correlate with human ratings."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import read_scores
from macroscope.critics.declaration import Critic
from macroscope.critics.features import feature_extractor
from macroscope.critics.latents import read_numbers
from macroscope.critics.two_sample_test import CriticFiles
from macroscope.options import CONTROL
from macroscope.registry import Plugin
from macroscope.statistics.classifier_two_sample_test import cross_fit_log_odds
from macroscope.statistics.document_groups import group_labels

LOG_ODDS = "log_odds_unlike_real"
"""Name of the log odds that the document is the system's and not real, from the classifier of the detectability, which
is not trained on the document."""
ATTRIBUTION_SCORE = "attribution_score"
"""Name of the attribution score of a critic without a prior (`attribution` in its declaration). Larger scores are less
like real text."""
POSITION = "block"
"""Column of latents that locates a document and does not describe it."""
COLUMNS = ("critic", "statistic", "system", "document", "value")


def document_values(
    critic: Plugin[Critic], files: Mapping[str, CriticFiles], attributions: Mapping[str, Path], seed: int
) -> pd.DataFrame:
    """Return the finite values of every document that a critic judges, with columns `COLUMNS`.

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
    return values[np.isfinite(values["value"])][list(COLUMNS)]


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
    odds = cross_fit_log_odds(reference, candidate, group_labels(reference.keys, candidate.keys), seed).log_odds[
        len(reference) :
    ]
    is_judged = np.isfinite(odds)
    mean = np.where(is_judged, odds, 0).sum(axis=1) / np.where(is_judged.any(axis=1), is_judged.sum(axis=1), np.nan)
    return _to_long(candidate.keys["id"], pd.DataFrame({LOG_ODDS: mean}))


def _to_long(names: pd.Series, columns: pd.DataFrame) -> pd.DataFrame:
    """Return one row per document and column; the mean over its texts if the critic judges sections or lines."""
    document = pd.Series(names.astype(str).to_numpy(), name="document")
    means = columns.astype(float).reset_index(drop=True).groupby(document, sort=False).mean()
    return means.reset_index().melt("document", var_name="statistic", value_name="value")
