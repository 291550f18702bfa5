"""Cross-fitted critics: real texts are judged by what other real texts taught, and texts of a system are as well.

The critic is a normal density, fitted to few texts in many dimensions, so that it overfits: its T(x) of texts that it
learned from are far too small, and two fits differ much. Folds are those of `critics.cross_fitting`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.cross_fitting import assign_folds, place_texts, teaching_folds
from macroscope.document_keys import number_sample
from macroscope.options import Resampling
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.latent import compare_scores

from .setting import MEAN, Run, Setting, list_estimates

DIMENSIONS, RIDGE = 10, 0.05
UNITS = 10.0
"""Latent states of a text."""
RATIO = "latent_ppl_ratio"
FEW = Resampling(resamples=200, permutations=199)
Samples = tuple[tuple[pd.DataFrame, np.ndarray], tuple[pd.DataFrame, np.ndarray]]
"""Keys and points of the texts of both samples."""


def judge(samples: Samples, folds: int) -> list[pd.DataFrame]:
    """Return keys, T(x) and the distance to the nearest text that the critic learned from, of both samples."""
    (real_keys, real), (keys, candidate) = samples
    of_real, _ = assign_folds(real_keys, folds)
    of_candidate = place_texts(keys, real_keys, of_real, folds)
    tables = [real_keys.assign(units=UNITS), keys.assign(units=UNITS)]
    for fold in range(folds):
        learned = real[np.isin(of_real, list(teaching_folds(fold, folds)))]
        covariance = np.cov(learned.T) + RIDGE * np.eye(real.shape[1])
        for table, points, placed in zip(tables, (real, candidate), (of_real, of_candidate), strict=True):
            inside = np.flatnonzero(placed == fold)
            centred = points[inside] - learned.mean(axis=0)
            energy = (centred @ np.linalg.inv(covariance) * centred).sum(axis=1)
            table.loc[inside, "nll"] = (energy + np.linalg.slogdet(covariance)[1]) / 2
            distances = ((points[inside][:, None] - learned[None]) ** 2).sum(axis=2)
            table.loc[inside, "nearest"] = np.sqrt(distances.min(axis=1))
    return tables


def sample(rng: np.random.Generator, n: int, m: int, shift: float = 0.0) -> Samples:
    """Sample n real texts and m others, which may be shifted."""
    points = [rng.normal(size=(size, DIMENSIONS)) for size in (n, m)]
    points[1][:, :3] += shift
    keys = [pd.DataFrame({"id": [f"{name}{i}" for i in range(size)]}) for name, size in (("a", n), ("b", m))]
    return (keys[0], points[0]), (keys[1], points[1])


def sample_prompts(rng: np.random.Generator, prompts: int, texts: tuple[int, int], is_paired: bool = False) -> Samples:
    """Sample numbers of texts of each of some prompts, which share half of their variance; prompts may be the same."""
    effects = [rng.normal(size=(prompts, DIMENSIONS)) for _ in texts]
    if is_paired:
        effects[1] = effects[0]
    sides = []
    for name, number, effect in zip("aa" if is_paired else "ab", texts, effects, strict=True):
        ids = [number_sample(f"{name}{i}", k + 1) for i in range(prompts) for k in range(number)]
        noise = rng.normal(size=(prompts * number, DIMENSIONS))
        sides.append((pd.DataFrame({"id": ids}), 0.7 * np.repeat(effect, number, axis=0) + 0.51**0.5 * noise))
    return sides[0], sides[1]


def detect(rng: np.random.Generator, samples: Callable[..., Samples], folds: int) -> Run:
    """Compute the detectability of the second sample by T(x) and the distance."""
    tables = judge(samples(rng), folds)
    features = [DocumentFeatures(table[["id"]], table[["nll", "nearest"]].to_numpy()) for table in tables]
    estimates = two_sample_test(*features, confidence=0.95, seed=int(rng.integers(1 << 30)))
    return [estimate for estimate in estimates if estimate.statistic == C2ST_AUC], {C2ST_AUC: MEAN}


def compare(rng: np.random.Generator, samples: Callable[..., Samples], folds: int) -> Run:
    """Compare the T(x) of two samples between which nothing differs."""
    tables = [table.drop(columns="nearest") for table in judge(samples(rng), folds)]
    resampling = Resampling(FEW.resamples, FEW.permutations, FEW.confidence, int(rng.integers(1 << 30)))
    wanted = ("latent_nll", "latent_ppl", RATIO)
    estimates = [each for each in list_estimates(compare_scores(*tables, resampling)) if each.statistic in wanted]
    return estimates, {RATIO: 1.0}


EQUAL = {
    "60 against 60": partial(sample, n=60, m=60),
    "60 against 600": partial(sample, n=60, m=600),
    "300 against 60": partial(sample, n=300, m=60),
    "60 pairs": partial(sample_prompts, prompts=60, texts=(1, 1), is_paired=True),
    "2 texts of each of 40 prompts against 3 of the same": partial(
        sample_prompts, prompts=40, texts=(2, 3), is_paired=True
    ),
    "2 texts of each of 40 prompts against 3 of 40 others": partial(sample_prompts, prompts=40, texts=(2, 3)),
}
"""Samples between which nothing differs."""
FOLDS = {"60 against 600": (3, 5, 7)}
"""Numbers of folds, where not only three."""


def _settings(run: Callable[..., Run], null: tuple[str, ...]) -> tuple[Setting, ...]:
    return tuple(
        Setting(f"cross-fitted in {folds} folds: {name}", partial(run, samples=samples, folds=folds), null)
        for name, samples in EQUAL.items()
        for folds in FOLDS.get(name, (3,))
    )


DETECTED = (
    *_settings(detect, (C2ST_AUC,)),
    Setting(
        "cross-fitted in 3 folds: 150 against 150, shifted",
        partial(detect, samples=partial(sample, n=150, m=150, shift=1.0), folds=3),
        power={C2ST_AUC: 0.85},
        runs=500,
    ),
)
COMPARED = _settings(compare, ("latent_nll", "latent_ppl"))
