"""Adjustment of all p-values of a run for their number."""

import pandas as pd

from macroscope.critics import critics
from macroscope.critics.declaration import difference_tests
from macroscope.statistics.multiplicity import benjamini_hochberg


def with_adjusted_p_values(statistics: pd.DataFrame) -> pd.DataFrame:
    """Add `p_adjusted`: Benjamini-Hochberg over the tests of one family in the run.

    A family is all tests of one statistic; of a critic with a comparison of its own, which tests many, all tests of a
    difference between one system and real text on one corpus. So a system that differs in nothing keeps that verdict,
    however many tendencies are tested, and however much the other systems differ.
    """
    family = statistics["critic"] + " " + statistics["statistic"]
    for name, critic in critics().items():
        if critic.data.compares:
            tests = difference_tests(critic.data, statistics[statistics["critic"] == name])
            family[tests.index] = name + " " + tests["corpus"] + " " + tests["system"]
    adjusted = statistics["p_value"].groupby(family, sort=False).transform(benjamini_hochberg)
    at = statistics.columns.get_loc("p_value")
    assert isinstance(at, int)
    table = statistics.copy()
    table.insert(at + 1, "p_adjusted", adjusted)
    return table
