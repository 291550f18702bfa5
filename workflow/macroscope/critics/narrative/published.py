"""The published numbers of cai2020, quoted: Tables 3 and 4, with the human rows."""

from collections.abc import Sequence

import pandas as pd

from macroscope.paths import RESOURCES

DETECTION, GENERATION = "narrative_published.csv", "narrative_published_generation.csv"


def published_detection() -> pd.DataFrame:
    """Table 3: corpus, task, model, accuracy, precision, recall, f1, auc (all in %; no AUC of people)."""
    return pd.read_csv(RESOURCES / DETECTION)


def published_generation() -> pd.DataFrame:
    """Table 4: task, corpus, model, and the metrics as `generation.METRICS_SHOWN` names them."""
    return pd.read_csv(RESOURCES / GENERATION)


def published_rows(tasks: Sequence[str]) -> pd.DataFrame:
    """Table 3 of these tasks, for a reader."""
    table = published_detection()
    shown = table[table["task"].isin(tasks)]
    return shown.rename(columns={"f1": "F1", "auc": "AUC"}).astype(object).fillna("–")
