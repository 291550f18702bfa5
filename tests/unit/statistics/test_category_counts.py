"""Categories of scores as counts, against plain Python."""

from collections import Counter

import numpy as np
import pandas as pd

from macroscope.statistics.category_counts import read_category_counts


def test_counts_are_those_of_the_lists_and_null_is_left_out(tmp_path):
    rng = np.random.default_rng(0)
    sides = []
    for number in range(2):
        lists = [rng.choice(list("abcdef"), rng.integers(0, 6)).tolist() for _ in range(50)]
        lists[3] = None
        table = pd.DataFrame({"id": [f"{number}.{i}" for i in range(50)], "nll": 1.0, "categories": lists})
        table.to_parquet(tmp_path / f"{number}.parquet", row_group_size=7)
        sides.append(table)
    found = read_category_counts(tmp_path / "0.parquet", tmp_path / "1.parquet")
    known = [table[table["categories"].notna()] for table in sides]
    names = list(dict.fromkeys(name for table in known for some in table["categories"] for name in some))
    for side, table in zip(found, known, strict=True):
        assert side.keys["id"].tolist() == table["id"].tolist()
        expected = [[Counter(some)[name] for name in names] for some in table["categories"]]
        assert side.counts.toarray().tolist() == expected
        assert side.counts.has_canonical_format
