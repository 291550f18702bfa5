"""Shares of n-grams that stand in searched texts: of a system's texts, and less those of held-out real texts."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from macroscope.copies.search import LENGTHS
from macroscope.natural_language.ngrams import HALF, WHOLE
from macroscope.options import CONTROL, Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_groups import KEYS, OPENING
from macroscope.statistics.p_values import agree_with_test, holm
from macroscope.statistics.permutation_groups import build_units
from macroscope.statistics.ratio import Sample, difference_interval, ratio_test
from macroscope.statistics.tidy import UNDEFINED, Estimate, sized_row

LONGEST = "longest"
EXCESS = "_excess"
STATISTICS = (
    Statistic(
        "copied_*_excess",
        "share of the system's n-grams that stand in the searched texts, minus that of held-out real text",
        "the same share in documents of the system and in held-out real text, whatever their spread",
    ),
    Statistic(
        "longest_excess",
        "mean longest span of the system's texts, minus that of held-out real text",
        "the same mean in documents of the system and in held-out real text, whatever their spread",
    ),
    Statistic("copied_*"),
    Statistic(LONGEST),
)
MEASURES = (*(f"copied_{length}" for length in LENGTHS), LONGEST)
COLUMNS = (
    *("system", "statistic", "value", "ci_low", "ci_high", "p_value", "p_adjusted"),
    *("n_reference", "n_candidate", "signature"),
)


def compare_copies(held_out: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> list[Estimate]:
    """Compute the shares of a system's n-grams, the mean longest span, and their differences from held-out real text.

    Parameters
    ----------
    held_out, candidate
        Tables of `search.Search.table`, with `opening`, the key of the prompt alone: a copy shares the first words, and
        often the id, with its source. Texts of a prompt are one unit; texts of one prompt on both sides are permuted
        with each other.
    """
    units, permutation = build_units(held_out[list(KEYS)], candidate[list(KEYS)], (OPENING,))
    estimates = describe_copies(candidate)
    for name in MEASURES:
        samples = units.sums(sample_measure(held_out, name), sample_measure(candidate, name))
        rng = np.random.default_rng(resampling.seed)
        if not all(np.sum(x) for _, x in samples):  # texts without an n-gram of this length
            estimates.append(Estimate(name + EXCESS, UNDEFINED))
            continue
        interval = difference_interval(*samples, permutation, resampling.confidence, resampling.resamples, rng)
        p_value = ratio_test(*samples, permutation, resampling.permutations, rng)
        estimates.append(agree_with_test(Estimate(name + EXCESS, *interval, p_value), resampling.confidence))
    return estimates


def describe_copies(texts: pd.DataFrame) -> list[Estimate]:
    """Compute the shares of a collection's n-grams that were found, and the mean longest span."""
    sums = {name: [float(np.sum(numbers)) for numbers in sample_measure(texts, name)] for name in MEASURES}
    return [Estimate(name, y / x if x else UNDEFINED) for name, (y, x) in sums.items()]


def make_table(
    held_out: pd.DataFrame, candidates: Mapping[str, pd.DataFrame], resampling: Resampling, signature: str
) -> pd.DataFrame:
    """Return the estimates of held-out real text, called as the control, and of each candidate: `COLUMNS`."""
    rows = [{"system": CONTROL, **sized_row(each, (0, len(held_out)))} for each in describe_copies(held_out)]
    for name, texts in candidates.items():
        sizes = len(held_out), len(texts)
        rows += [{"system": name, **sized_row(each, sizes)} for each in compare_copies(held_out, texts, resampling)]
    table = pd.DataFrame(rows)
    return table.assign(p_adjusted=holm(table["p_value"]), signature=signature)[list(COLUMNS)]


def name_copies(texts: pd.DataFrame) -> list[str]:
    """Return "whole" or "half" for each text that is such a copy of searched texts, and "" for the others."""
    shares = texts["covered"] / texts["words"].clip(lower=1)
    return list(np.select([shares >= WHOLE, shares >= HALF], ["whole", "half"], ""))


def sample_measure(texts: pd.DataFrame, name: str) -> Sample:
    """Return the numerator and the denominator of a measure in each text."""
    if name == LONGEST:
        return texts[LONGEST].to_numpy(float), np.ones(len(texts))
    length = name.removeprefix("copied_")
    return texts[f"found_{length}"].to_numpy(float), texts[f"ngrams_{length}"].to_numpy(float)
