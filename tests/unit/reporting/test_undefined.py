"""The table of undefined statistics includes every statistic without a value."""

import numpy as np
import pandas as pd

from macroscope.options import SPLIT_HALF
from macroscope.reporting.chapters import undefined_table


def test_every_statistic_without_a_value_is_named_with_its_systems():
    rows = [
        ("a", "heaps_d_own", np.nan, "too few texts"),
        (SPLIT_HALF, "heaps_d_own", np.nan, "too few texts"),
        ("b", "heaps_d_own", np.nan, "no text"),
        ("a", "zipf_s", np.nan, np.nan),
        ("b", "zipf_s", 1.0, np.nan),
    ]
    statistics = pd.DataFrame(rows, columns=["system", "statistic", "value", "reason"])
    table = undefined_table(statistics, {"heaps": "growth of the vocabulary", "zipf_s": "Zipf s"})
    assert table.to_numpy().tolist() == [
        ["growth of the vocabulary: D to its own law", "too few texts", "a, real text against itself"],
        ["growth of the vocabulary: D to its own law", "no text", "b"],
        ["Zipf s", "not stated", "a"],
    ]
    assert undefined_table(statistics[statistics["value"].notna()], {}).empty
