"""Flags of texts: scores of two critics of real texts and of a system's texts, a share of which is unlike real text.

The p-value of a run is 0.01 or 0.05 with a probability of the share of false flags at that level, and 1 otherwise. So
the rate at which it reaches a level is the false discovery rate.
"""

from functools import partial

import numpy as np

from macroscope.statistics.conformal import Scores, conformal_p_values, flag
from macroscope.statistics.tidy import Estimate

from ..running import LEVELS
from ..setting import Case, Run, Setting

UNLIKE = 4.0
"""Shift of the scores of a text that is unlike real text, in standard deviations."""
CRITICS = (True, False)
"""True for each critic whose score is a distance."""


def simulate(
    rng: np.random.Generator,
    real: int,
    texts: int,
    unlike: float,
    per_prompt: int = 1,
    paired: bool = False,
    detect: bool = False,
) -> Run:
    """Flag the texts of a system by two critics whose scores are correlated.

    Parameters
    ----------
    real, texts
        Number of prompts of real texts and of the system.
    unlike
        Share of the texts that are unlike real text.
    per_prompt
        Texts per prompt, on both sides.
    paired
        Whether the prompts are those of real texts.
    detect
        Whether the p-value is that of the detection of a text: 0.01 with the probability of the share of the unlike
        texts that are flagged at 5 %.
    """
    prompts = rng.normal(size=real + texts)
    groups = (np.repeat(np.arange(real), per_prompt), np.repeat(np.arange(texts) + (0 if paired else real), per_prompt))
    shared = [rng.normal(size=len(labels)) for labels in groups]
    is_unlike = rng.random(len(groups[1])) < unlike
    sides = np.where(rng.random(len(groups[1])) < 0.7, UNLIKE, -UNLIKE)
    p_values = []
    for one_sided in CRITICS:
        noise = [common + rng.normal(size=len(common)) for common in shared]
        values = [prompts[labels] + added for labels, added in zip(groups, noise, strict=True)]
        values[1] = values[1] + np.where(is_unlike, np.abs(sides) if one_sided else sides, 0) * np.sqrt(3)
        samples = [Scores(*sample) for sample in zip(values, groups, strict=True)]
        p_values.append(conformal_p_values(samples[1], samples[0], one_sided=one_sided))
    is_unlike = np.tile(is_unlike, len(CRITICS))
    flags = {level: np.concatenate(flag(p_values, level)) for level in LEVELS}
    if detect:
        hits = flags[0.05] & is_unlike
        return [_estimate(rng, {0.01: hits.sum() / max(1, is_unlike.sum())})], {}
    return [_estimate(rng, {k: (v & ~is_unlike).sum() / max(1, v.sum()) for k, v in flags.items()})], {}


def _estimate(rng: np.random.Generator, shares: dict[float, float]) -> Estimate:
    point = rng.random()
    reached = [level for level, share in sorted(shares.items()) if point < share]
    return Estimate("flag", np.nan, np.nan, np.nan, reached[0] if reached else 1.0)


CASE = Case(
    "macroscope.statistics.conformal:STATISTICS",
    (
        Setting("2,000 real texts, 10 alike", partial(simulate, real=2000, texts=10, unlike=0.0), ("flag",)),
        Setting("400 real texts, 40 of 100 unlike", partial(simulate, real=400, texts=100, unlike=0.4), ("flag",)),
        Setting(
            "4 texts of 100 prompts, real and alike",
            partial(simulate, real=100, texts=100, unlike=0.0, per_prompt=4, paired=True),
            ("flag",),
        ),
        Setting(
            "4 texts of 300 prompts, real and 40 % unlike",
            partial(simulate, real=300, texts=300, unlike=0.4, per_prompt=4, paired=True),
            ("flag",),
        ),
        Setting(
            "400 real texts, 40 of 100 found",
            partial(simulate, real=400, texts=100, unlike=0.4, detect=True),
            power={"flag": 0.7},
            runs=500,
        ),
    ),
    {"flag": "ties and both sides count against a flag, and of unlike texts none is false"},
)
