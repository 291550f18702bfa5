"""Adjustment of all p-values of a run for their number."""

import pandas as pd

from macroscope.critics import critic_named, is_critic
from macroscope.critics.declaration import difference_tests
from macroscope.statistics.multiplicity import benjamini_hochberg


def with_adjusted_p_values(statistics: pd.DataFrame) -> pd.DataFrame:
    """Add `p_adjusted`: Benjamini-Hochberg over the tests of one family in the run.

    A family is all tests of a difference between one system and real text by one critic on one corpus. So a system that
    differs in nothing keeps that verdict, however many numbers are tested, and however much the other systems differ.
    Other p-values (a distance to a law that real text does not keep either; the same difference again) are not
    adjusted: they are NaN here.
    """
    adjusted = pd.Series(float("nan"), index=statistics.index)
    for name, rows in statistics.groupby("critic", sort=False):
        if not is_critic(str(name)):  # such as the perplexity of the models
            continue
        tests = difference_tests(critic_named(str(name)), rows)
        families = tests["p_value"].groupby([tests["corpus"], tests["system"]], sort=False)
        adjusted.update(families.transform(benjamini_hochberg))
    at = statistics.columns.get_loc("p_value")
    assert isinstance(at, int)
    table = statistics.copy()
    table.insert(at + 1, "p_adjusted", adjusted)
    return table
