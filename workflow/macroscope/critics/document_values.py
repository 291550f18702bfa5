"""What critics have of single documents, as named numbers: what people's ratings of documents are held against."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import read_scores
from macroscope.critics.declaration import Critic
from macroscope.critics.features import feature_extractor
from macroscope.critics.two_sample_test import Files
from macroscope.options import CONTROL
from macroscope.registry import Plugin
from macroscope.statistics.classifier_two_sample_test import judge
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.permutation_groups import group_labels

LOG_ODDS = "log_odds_unlike_real"
"""Log odds that the document is the system's and not real, by the judge of the picture; it never saw the document."""
ATTRIBUTION_SCORE = "attribution_score"
"""What a critic without a prior blames the document for, see its declaration's `attribution`; larger is less like real."""
NOT_OF_THE_TEXT = (*KEYS, "block")
"""Columns of latents that say where a document stands, not what it is like."""
COLUMNS = ("critic", "statistic", "system", "document", "value")


def document_values(
    critic: Plugin[Critic], files: Mapping[str, Files], attribute: Mapping[str, Path], seed: int
) -> pd.DataFrame:
    """Numbers of every document that a critic judges: `COLUMNS`, undefined and infinite ones left out.

    T(x) a unit and the units of a critic with a prior, `ATTRIBUTION_SCORE` of one without, every column of numbers in its latents,
    and `LOG_ODDS`.

    Parameters
    ----------
    files
        System -> what the critic made of it; the control among them.
    blame
        System -> what the critic has against its documents; none of a critic that does not tell.
    """
    tables = []
    for system, made in files.items():
        numbers = _numbers(made)
        if made.scores is None and system in attribute:
            numbers = pd.concat([numbers, _attributed(attribute[system])])
        if system != CONTROL:
            numbers = pd.concat([numbers, _log_odds(critic, files[CONTROL], made, seed)])
        tables.append(numbers.assign(system=system))
    found = pd.concat(tables, ignore_index=True).assign(critic=critic.name)
    return found[np.isfinite(found["value"])][list(COLUMNS)]


def _numbers(made: Files) -> pd.DataFrame:
    latents = pd.read_parquet(made.latents)
    columns = latents.drop(columns=list(NOT_OF_THE_TEXT), errors="ignore").select_dtypes(["number", "bool"])
    found = [_long(latents["id"], columns)]
    if made.scores is not None:
        scores = pd.read_parquet(made.scores, columns=["id", "nll", "units"])
        a_unit = pd.DataFrame({"nll_per_unit": scores["nll"] / scores["units"], "units": scores["units"]})
        found.insert(0, _long(scores["id"], a_unit))
    return pd.concat(found)


def _attributed(attribute: Path) -> pd.DataFrame:
    names, scores, _ = read_scores(attribute)
    return _long(pd.Series(names), pd.DataFrame({ATTRIBUTION_SCORE: scores}))


def _log_odds(critic: Plugin[Critic], control: Files, made: Files, seed: int) -> pd.DataFrame:
    features = feature_extractor(critic)
    real, ours = features(control.latents, control.scores), features(made.latents, made.scores)
    odds = judge(real, ours, group_labels(real.keys, ours.keys), seed).log_odds[len(real) :]
    judged = np.isfinite(odds)
    mean = np.where(judged, odds, 0).sum(axis=1) / np.where(judged.any(axis=1), judged.sum(axis=1), np.nan)
    return _long(ours.keys["id"], pd.DataFrame({LOG_ODDS: mean}))


def _long(names: pd.Series, columns: pd.DataFrame) -> pd.DataFrame:
    """A row a document and number: the mean over its texts, where a critic judges sections or lines."""
    document = pd.Series(names.astype(str).to_numpy(), name="document")
    means = columns.astype(float).reset_index(drop=True).groupby(document, sort=False).mean()
    return means.reset_index().melt("document", var_name="statistic", value_name="value")
