"""Prepare HelloBench's stories for `macroscope sameness`, and test whether models of a family are nearest.

    python examples/sameness/hellobench.py prepare DATA texts
    macroscope sameness --reference texts/real.jsonl --candidate texts/gpt4o_0806.jsonl ... --output sameness
    python examples/sameness/hellobench.py families sameness/similarity.csv

DATA has text_completion/<model>.jsonl.gz (fields id, text) and text_completion/_human_source.jsonl.gz, the stories by
people that the prompts quote.
"""

import gzip
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.tables import read_csv

RESAMPLES = 2000
FAMILIES = ("glm4", "internlm25", "llama31", "mistral", "qwen", "yi")
"""Beginnings of the names of the models of a family: those that two or more of HelloBench's models have."""


def prepare(data: Path, output: Path) -> None:
    """Write a file per model, and real.jsonl with the stories by people."""
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted((data / "text_completion").glob("*.jsonl.gz")):
        name = "real" if path.name.startswith("_human") else path.name.removesuffix(".jsonl.gz")
        (output / f"{name}.jsonl").write_bytes(gzip.decompress(path.read_bytes()))


def families(table: Path) -> None:
    """Print, for each view, how often two models of a family are nearer than two others.

    The interval is by resampling models, the p-value by permuting families over models. The last number says for how
    many models with a family the nearest other model is of it.
    """
    means = read_csv(table).query("statistic == 'other_prompts' and system != 'reference' and other != 'reference'")
    for view, rows in means.groupby("view", sort=False):
        names = list(dict.fromkeys(rows["system"]))
        distances = _distances(rows, names)
        family = np.array([next((f for f in FAMILIES if name.startswith(f)), name) for name in names])
        rng = np.random.default_rng(1)
        resampled = [_auc(distances, family, rng.integers(0, len(names), len(names))) for _ in range(RESAMPLES)]
        low, high = np.nanquantile(resampled, [0.025, 0.975])
        auc = _auc(distances, family, np.arange(len(names)))
        permuted = [_auc(distances, rng.permutation(family), np.arange(len(names))) for _ in range(RESAMPLES)]
        p = (1 + np.sum(np.array(permuted) >= auc)) / (1 + RESAMPLES)
        print(f"{view}: {auc:.2f} [{low:.2f}, {high:.2f}], p {p:.4f}, {_nearest(distances, family)}")


def _distances(rows: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Return the squared distances of the mean vectors of models: own similarities minus twice the common one."""
    similar = rows.pivot_table(index="system", columns="other", values="value").reindex(index=names, columns=names)
    similar = similar.fillna(similar.T).to_numpy()
    return np.diag(similar)[:, None] + np.diag(similar)[None, :] - 2 * similar


def _auc(distances: np.ndarray, family: np.ndarray, models: np.ndarray) -> float:
    """Return how often two models of a family are nearer than two others; a model and its copy are not a pair."""
    pairs = np.array([(a, b) for a, b in combinations(models, 2) if a != b])
    is_same = family[pairs[:, 0]] == family[pairs[:, 1]]
    values = distances[pairs[:, 0], pairs[:, 1]]
    near, far = values[is_same], values[~is_same]
    if not len(near):
        return float("nan")
    return float((near[:, None] < far[None, :]).mean() + 0.5 * (near[:, None] == far[None, :]).mean())


def _nearest(distances: np.ndarray, family: np.ndarray) -> str:
    """Return of how many models with a family the nearest other model is of the family."""
    others = distances + np.where(np.eye(len(distances)), np.inf, 0)
    has_family = np.array([(family == each).sum() > 1 for each in family])
    hits = family[others.argmin(axis=1)] == family
    return f"{hits[has_family].sum()} of {has_family.sum()}"


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        families(Path(sys.argv[2]))
