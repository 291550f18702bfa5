"""Detectability by label: unequally many texts of 2 and of 8 labels, texts of shared prompts, labels that differ."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from macroscope.document_keys import number_sample
from macroscope.statistics.by_label import AUC, CONTRAST, DIFFER, MIX, WITHIN, compare_by_label
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.tidy import Estimate

from ..setting import MEAN, Case, Run, Setting

NUMBERS = 3
ANY = f"{CONTRAST}any"
"""Name of an interval that holds 0 if, and only if, all intervals of contrasts do."""


def simulate(
    rng: np.random.Generator,
    real: Sequence[int],
    prompts: Sequence[int],
    shifts: Sequence[float],
    texts: int = 1,
    is_paired: bool = False,
    is_mixed: bool = False,
) -> Run:
    """Compare normal numbers, which differ between labels, with those of texts of prompts.

    Parameters
    ----------
    real, prompts
        Numbers of real texts and of the system's prompts of each label.
    shifts
        Shift of the system's first number in each label.
    texts
        Texts of each prompt, which share half of their variance.
    is_paired
        Whether the real texts answer the same prompts.
    is_mixed
        Whether the numbers of each label are random, of both sides in the proportions of the real texts.
    """
    if is_mixed:
        shares = np.asarray(real) / sum(real)
        real, prompts = (rng.multinomial(sum(sizes), shares).tolist() for sizes in (real, prompts))
    values: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    ids: tuple[list[str], list[str]] = ([], [])
    labels: tuple[list[str], list[str]] = ([], [])
    for label, (n, m, shift) in enumerate(zip(real, prompts, shifts, strict=True)):
        level = rng.normal(size=NUMBERS)
        of_prompts = rng.normal(size=(max(n, m), NUMBERS))
        first, second = of_prompts[:n], np.repeat(of_prompts[:m], texts, axis=0)
        if not is_paired:
            first = rng.normal(size=(n, NUMBERS))
        if is_paired or texts > 1:
            second = 0.7 * second + 0.51**0.5 * rng.normal(size=second.shape)
        second[:, 0] += shift
        names = [f"{label} prompt {i}" for i in range(max(n, m))]
        texts_of = [number_sample(name, k + 1) for name in names[:m] for k in range(texts)]
        for number, (sample, named) in enumerate(((first, names[:n]), (second, texts_of))):
            values[number].append(sample + level)
            ids[number].extend(named if is_paired or number else [f"real {name}" for name in named])
            labels[number].extend([str(label)] * len(sample))
    features = [DocumentFeatures(pd.DataFrame({"id": i}), np.concatenate(v)) for i, v in zip(ids, values, strict=True)]
    rows = compare_by_label((features[0], features[1]), labels, 0.95, 199, int(rng.integers(1 << 30)))
    estimates = [row.estimate for row in rows]
    contrasts = [each for each in estimates if each.statistic.startswith(CONTRAST)]
    low, high = max(each.ci_low for each in contrasts), min(each.ci_high for each in contrasts)
    joint = Estimate(ANY, 0.0, low, high, min(each.p_value for each in contrasts))
    kept = [each for each in estimates if not each.statistic.startswith(CONTRAST)]
    means = {each.statistic: MEAN for each in kept if np.isfinite(each.ci_low)}
    return [*kept, joint], means | ({ANY: 0.0} if len(set(shifts)) == 1 else {})


def _setting(
    name: str,
    real: Sequence[int],
    prompts: Sequence[int],
    shifts: Sequence[float] = (),
    *,
    null: tuple[str, ...] = (f"{AUC}*", ANY, DIFFER),
    power: Mapping[str, float] | None = None,
    runs: int = 1000,
    texts: int = 1,
    is_paired: bool = False,
    is_mixed: bool = False,
) -> Setting:
    of_texts = {"texts": texts, "is_paired": is_paired, "is_mixed": is_mixed}
    given = partial(simulate, real=real, prompts=prompts, shifts=shifts or [0.0] * len(real), **of_texts)
    return Setting(name, given, null, power or {}, runs)


EIGHT = (60, 45, 35, 30, 25, 20, 15, 10)
CASE = Case(
    "macroscope.statistics.by_label:STATISTICS",
    (
        _setting("2 labels, 60 and 20 real texts, 40 and 30 others", (60, 20), (40, 30)),
        _setting("8 labels, 60 to 10 texts on each side", EIGHT, EIGHT),
        _setting(
            "2 labels, 120 real texts, 3 texts of each of 60 prompts, in random numbers of the same shares",
            (80, 40),
            (40, 20),
            null=(f"{AUC}*", ANY, DIFFER, MIX),
            texts=3,
            is_mixed=True,
        ),
        _setting("2 labels, 80 and 40 real texts, 5 texts of each of 16 and 12 prompts", (80, 40), (16, 12), texts=5),
        _setting(
            "8 labels, 60 to 10 real texts, 3 texts of each of 20 to 10 prompts",
            EIGHT,
            (20, 18, 16, 14, 13, 12, 11, 10),
            texts=3,
            runs=500,
        ),
        _setting("2 labels, 60 and 30 shared prompts", (60, 30), (60, 30), is_paired=True),
        _setting(
            "2 labels that differ alike, 90 and 80 texts on each side",
            (90, 80),
            (90, 80),
            (1.0, 1.0),
            null=(ANY, DIFFER),
            power={f"{AUC}*": 0.9},
        ),
        _setting(
            "2 labels of which one differs, 90 and 80 texts on each side",
            (90, 80),
            (90, 80),
            (1.5, 0.0),
            null=(f"{AUC}2",),
            power={f"{AUC}1": 0.95, DIFFER: 0.9},
            runs=500,
        ),
        _setting(
            "8 labels of which one differs, 60 to 30 texts on each side",
            (60, 55, 50, 45, 42, 38, 34, 30),
            (60, 55, 50, 45, 42, 38, 34, 30),
            (2.0, *[0.0] * 7),
            null=(f"{AUC}[2-8]",),
            power={f"{AUC}1": 0.95, DIFFER: 0.8},
            runs=300,
        ),
        _setting(
            "2 labels that differ in opposite directions, 90 and 80 texts on each side",
            (90, 80),
            (90, 80),
            (1.0, -1.0),
            null=(),
            power={f"{AUC}*": 0.8},
            runs=500,
        ),
        _setting("2 labels, 80 and 40 real texts, 40 and 80 others", (80, 40), (40, 80), power={MIX: 0.9}, runs=300),
    ),
    {
        f"{AUC}*": "means over several orders of the folds vary less than their variances say",
        WITHIN: "variances of means over several orders of the folds are taken to be larger than they are",
        ANY: "as within labels",
        DIFFER: "as within labels",
    },
)
